"""What sinks have in common whose results lie in a folder: it is theirs alone, and known to be before rows come."""

from __future__ import annotations

from pathlib import Path

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import EXACTLY_ONCE, Lists, delivering
from eddyline.runtime.spark.sinks.columns import OutputColumns
from eddyline.runtime.spark.sinks.owner import check_owner, take_possession
from eddyline.runtime.spark.sinks.storage import OutputFolder, storage_of
from eddyline.runtime.spark.sinks.typed import TypedList
from eddyline.storage.ownership import UNOWNED


class FolderSink:
    """A folder that belongs to one pipeline."""

    guarantee = EXACTLY_ONCE

    def __init__(self, settings: SinkSettings, folder: Path) -> None:
        self.name = settings.name
        self._settings = settings
        self._folder = folder
        self._opened: OutputFolder | None = None
        self._owner = UNOWNED
        self._columns: OutputColumns | None = None

    def typed_for(self, lists: Lists, batch: Batch) -> TypedList | None:
        """The columns that the folder has, or will have with its first rows."""
        with delivering(self._settings, batch):
            return self._output_columns.for_lists(lists)

    @property
    def _output_columns(self) -> OutputColumns:
        if self._columns is None:
            self._columns = OutputColumns(self._storage, self._settings)
        return self._columns

    @property
    def _storage(self) -> OutputFolder:
        """Where results lie, of a sink that is open."""
        assert self._opened is not None, "a sink is opened before it gets rows"
        return self._opened

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse a folder of another pipeline, of another layout, or with content that nobody owns."""
        storage = self._found()
        check_owner(storage, self._settings, pipeline, adopt=self._may_adopt(storage))

    def open(self, pipeline: PipelineIdentity) -> None:
        """Make the folder ours."""
        storage = self._found()
        try:
            take_possession(storage, self._settings, pipeline, adopt=self._may_adopt(storage))
        except OSError as error:
            raise SinkError(
                f'the folder {storage.address} of sink "{self.name}" cannot be written: {error.strerror or error}'
            ) from None
        self._opened, self._owner = storage, pipeline.owner

    def close(self) -> None:
        """Nothing is held open."""
        self._opened = self._columns = None

    def _may_adopt(self, storage: OutputFolder) -> bool:
        """Whether what somebody else has put there may be used."""
        return False

    def _found(self) -> OutputFolder:
        if not self._settings.path:
            raise SinkError(
                f'sink "{self.name}" of format {self._settings.format} has no path', hint='path = "out"'
            )
        return storage_of(self._settings.path, self._folder)

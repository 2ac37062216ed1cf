"""Folders of files: each batch is there whole or not at all, and once, whatever is killed when.

    out/_eddyline.json                              who owns the folder
    out/_columns.json                               typed columns or text
    out/_staging/source=<source>/                   where Spark writes; readers do not look there
    out/source=<source>/batch=<id>/[date=<date>/][query=<id>/]part-...

Spark writes a batch into `_staging`; one rename puts it in its place. A batch that is there already is left as it is:
a replayed batch has the same rows, so it is the same. Where renaming is not one step, a record says what is whole.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.errors import DeliveryError
from eddyline.runtime.spark.base.secrets import revealed_all
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sessions.shared_folders import write_and_look
from eddyline.runtime.spark.sinks.base import delivering
from eddyline.runtime.spark.sinks.batch_folders import batch_folder, new_attempt, remove_leftovers
from eddyline.runtime.spark.sinks.folder import FolderSink
from eddyline.runtime.spark.sinks.shape import TIMESTAMPS, WALL_CLOCKS, columns, selected_names, with_parts
from eddyline.runtime.spark.sinks.storage import LocalOutput, OutputFolder
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS: Final = frozenset({"parquet", "json", "csv", "orc", "avro"})
KEPT: Final = ("query_id", "query_revision", "version", "tuple_key", "event_time")
FOLDERS: Final = ("source", "batch")  # columns that readers get from the names of folders

NO_OPTIONS: Final[Mapping[str, str]] = {}
_MOMENTS: Final = {"timestampFormat": TIMESTAMPS, "timestampNTZFormat": WALL_CLOCKS, "timeZone": "UTC"}
DEFAULTS: Final[dict[str, dict[str, str]]] = {
    "json": {**_MOMENTS, "ignoreNullFields": "false"},
    "csv": {
        **_MOMENTS,
        "header": "true",
        "escape": '"',  # as everybody but Spark writes quotes inside of quotes
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    },
}


class FileSink(FolderSink):
    """A folder of files of one format."""

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Write a batch, if it is not there yet; gives its rows where the format tells."""
        storage = self._storage
        place = batch_folder(batch)
        with delivering(self._settings, batch):
            self.remove_leftovers(batch)
            if storage.is_committed(place):
                return None
            staged = new_attempt(batch, self._owner)
            with _filling(storage, staged):
                self._write(rows, batch, typed, storage, staged)
            written = storage.files(staged)
            count = None
            if self._settings.format == "parquet" and isinstance(storage, LocalOutput):
                count = _count(storage.root / staged / file for file, _ in written or [])
            if count == 0 or not any(size for _, size in written or []):
                self._check_empty(rows, written is not None)
                storage.remove(staged)
                return 0
            self._owner.check()  # after the files were listed (batch_folders.py says why)
            storage.commit(staged, place, [file for file, _ in written or []])
            return count

    def remove_leftovers(self, batch: Batch) -> None:
        """Remove what attempts that were killed have left of a batch, or of others of its source."""
        remove_leftovers(self._storage, batch, self._owner)

    def take(self, written: Path, batch: Batch, typed: TypedList | None = None) -> None:
        """Put the files of a batch, which another job has written, in their place, if they are not there yet."""
        storage, place = self._storage, batch_folder(batch)
        assert isinstance(storage, LocalOutput), "rows are written with others on this machine only"
        with delivering(self._settings, batch):
            if storage.is_committed(place):
                return
            self._output_columns.settle(typed)
            self._owner.check()  # after the rows were counted (batch_folders.py says why)
            try:
                storage.adopt(written, place)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # Two mounts of one disk: they have the same device, and nothing can be renamed from one to the other.
                if not written.is_relative_to(storage.root):
                    self.remove_leftovers(batch)
                staged = new_attempt(batch, self._owner)
                with _filling(storage, staged):
                    shutil.copytree(written, storage.root / staged)
                self._owner.check()
                storage.adopt(storage.root / staged, place)

    def local_staging(self, batch: Batch) -> Path | None:
        """Where a batch can be staged, on this machine's file systems; None where its files lie elsewhere."""
        root = self._local_root
        return None if root is None else root / new_attempt(batch, self._owner)

    def layout_key(self, batch: Batch) -> tuple[object, ...] | None:
        """What sinks must have in common for one job to write the rows of both; None where that is not to be."""
        root, settings = self._local_root, self._settings
        if root is None or settings.format != "parquet":
            return None
        if self._storage.is_committed(batch_folder(batch)):  # a replay: there is nothing to write
            return None
        if not root.is_dir():  # somebody has deleted it
            return None
        options = sorted((name, str(value)) for name, value in revealed_all(settings.options).items())
        return (root.stat().st_dev, settings.partition_by, tuple(options))

    @property
    def _local_root(self) -> Path | None:
        storage = self._storage
        return storage.root if isinstance(storage, LocalOutput) else None

    def _check_empty(self, rows: DataFrame, is_there: bool) -> None:
        """Nothing was written: that is right only where there are no rows."""
        if not is_there or not rows.isEmpty():
            raise self._not_found("what Spark wrote is not found")

    def _not_found(self, what: str) -> DeliveryError:
        return DeliveryError(
            f'sink "{self.name}": {what} in {self._settings.path}',
            hint="the folder must be one that this process and all workers of Spark share, "
            "and a name that is not plain ASCII needs a UTF-8 locale in Java",
        )

    @property
    def _options(self) -> dict[str, str]:
        own = {**self._storage.write_options, **DEFAULTS.get(self._settings.format, {})}
        return {**own, **revealed_all(self._settings.options)}

    def _write(
        self, rows: DataFrame, batch: Batch, typed: TypedList | None, storage: OutputFolder, to: str
    ) -> None:
        self._output_columns.settle(typed)
        root = self._local_root
        missing = write_and_look(
            rows,
            root and root / to,
            self._settings.format,
            self._options,
            lambda rows: self.write_shaped(self.shaped(rows, typed), batch, f"{storage.address}/{to}"),
        )
        if missing is not None:
            raise self._not_found(missing)

    def shaped(self, rows: DataFrame, typed: TypedList | None, parts: tuple[str, ...] = ()) -> DataFrame:
        """Rows with the columns of files; `parts` are columns by which they are divided first."""
        return columns(rows, typed, (*parts, *KEPT), self._beside)

    def selected_names(self, typed: TypedList, parts: tuple[str, ...] = ()) -> tuple[str, ...]:
        """What selected columns are called in such rows."""
        return tuple(selected_names(typed, (*parts, *KEPT, *self._beside, "payload")))

    @property
    def _beside(self) -> tuple[str, ...]:
        """Columns that a reader has from the names of folders."""
        return (*FOLDERS, *self._settings.partition_by)

    def write_shaped(
        self,
        shaped: DataFrame,
        batch: Batch,
        to: str,
        parts: tuple[str, ...] = (),
        options: Mapping[str, str] = NO_OPTIONS,
    ) -> None:
        """Write rows with the columns of files into a folder, which is divided by `parts` first."""
        shaped = with_parts(shaped, self._settings.partition_by, batch.at)
        writer = shaped.write.format(self._settings.format).options(**{**options, **self._options})
        writer.partitionBy(*parts, *self._settings.partition_by).mode("overwrite").save(to)


@contextmanager
def _filling(storage: OutputFolder, staged: str) -> Iterator[None]:
    """Fill a folder that is not there yet, and is not there afterwards if that fails."""
    try:
        yield
    except Exception:
        with suppress(OSError):
            storage.remove(staged)  # on a full disk every byte counts
        raise


def _count(files: Iterable[Path]) -> int | None:
    """The rows of Parquet files of this machine, which their ends tell; None where they cannot be read."""
    from pyarrow import parquet

    try:
        return sum(int(parquet.read_metadata(path).num_rows) for path in files)
    except (OSError, ValueError):
        return None

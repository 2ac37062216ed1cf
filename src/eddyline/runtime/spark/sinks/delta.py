"""Delta tables: Delta itself leaves out a batch that it has already, by the number that comes with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.delivery.json_text import unique
from eddyline.errors import SinkError
from eddyline.runtime.spark.pipeline.secrets import revealed_all
from eddyline.runtime.spark.pipeline.settings import SinkSettings
from eddyline.runtime.spark.pipeline.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import EXACTLY_ONCE, Lists, delivering
from eddyline.runtime.spark.sinks.columns import settle
from eddyline.runtime.spark.sinks.owner import check_owner, take_possession
from eddyline.runtime.spark.sinks.shape import columns, with_parts
from eddyline.runtime.spark.sinks.storage import Storage, storage_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REFUSED: Final = re.compile(r"[ ,;{}()\n\t=]")  # characters that Delta does not take in names of columns


class DeltaSink:
    """One Delta table, in a folder; a table that somebody made before may be used."""

    guarantee = EXACTLY_ONCE

    def __init__(self, settings: SinkSettings, folder: Path) -> None:
        self.name = settings.name
        self._settings = settings
        self._folder = folder
        self._opened: Storage | None = None

    def _storage(self) -> Storage:
        if not self._settings.path:
            raise SinkError(f'sink "{self.name}" of format delta has no path', hint='path = "tables/results"')
        return storage_of(self._settings.path, self._folder)

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse a table that another pipeline writes, and a folder that is no table."""
        storage = self._storage()
        names = storage.names()
        check_owner(storage, self._settings, pipeline, adopt=not names or "_delta_log" in names)

    def open(self, pipeline: PipelineIdentity) -> None:
        """Make the table ours."""
        self.inspect(pipeline)
        storage = self._storage()
        take_possession(storage, self._settings, pipeline, adopt=True)
        self._opened = storage

    def deliver(self, rows: DataFrame, batch: Batch, lists: Lists | None = None) -> int | None:
        """Append a batch; a second time Delta does nothing."""
        storage = self._opened
        assert storage is not None, "a sink is opened before it gets rows"
        with delivering(self._settings, batch):
            shaped = columns(rows, settle(storage, self._settings, lists), beside=self._settings.partition_by)
            shaped = shaped.toDF(*unique([_REFUSED.sub("_", name) for name in shaped.columns]))
            shaped = with_parts(shaped, self._settings.partition_by, batch.at)
            writer = shaped.write.format("delta").options(**revealed_all(self._settings.options))
            writer = writer.option("txnAppId", f"eddyline/{batch.pipeline}/{self.name}/{batch.source}")
            writer = writer.option("txnVersion", str(batch.batch_id)).partitionBy(
                *self._settings.partition_by
            )
            writer.mode("append").save(storage.address)
        return None

    def close(self) -> None:
        """Nothing is held open."""
        self._opened = None

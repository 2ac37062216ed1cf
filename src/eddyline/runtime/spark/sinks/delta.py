"""Delta tables: Delta itself leaves out a batch that it has already, by the number that comes with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from eddyline.delivery.json_text import unique
from eddyline.runtime.spark.base.secrets import revealed_all
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.base import delivering
from eddyline.runtime.spark.sinks.folder import FolderSink
from eddyline.runtime.spark.sinks.shape import columns, with_parts
from eddyline.runtime.spark.sinks.storage import OutputFolder
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REFUSED: Final = re.compile(r"[ ,;{}()\n\t=]")  # characters that Delta does not take in names of columns


class DeltaSink(FolderSink):
    """One Delta table, in a folder; a table that somebody made before may be used."""

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Append a batch; a second time Delta does nothing."""
        storage = self._storage
        with delivering(self._settings, batch):
            self._output_columns.settle(typed)
            shaped = columns(rows, typed, beside=self._settings.partition_by)
            shaped = shaped.toDF(*unique([_REFUSED.sub("_", name) for name in shaped.columns]))
            shaped = with_parts(shaped, self._settings.partition_by, batch.at)
            writer = shaped.write.format("delta").options(**revealed_all(self._settings.options))
            writer = writer.option("txnAppId", f"eddyline/{batch.pipeline}/{self.name}/{batch.source}")
            writer = writer.option("txnVersion", str(batch.batch_id)).partitionBy(
                *self._settings.partition_by
            )
            writer.mode("append").save(storage.address)
        return None

    def _may_adopt(self, storage: OutputFolder) -> bool:
        names = storage.names()
        return not names or "_delta_log" in names

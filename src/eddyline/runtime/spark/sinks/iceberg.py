"""Iceberg tables: the snapshot that adds a batch is marked with it, and a batch that is marked is not added again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.secrets import revealed, revealed_all
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import EXACTLY_ONCE, TextSink, delivering
from eddyline.runtime.spark.sinks.shape import columns
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE: Final = "table"  # the option that is ours, not Iceberg's
MARK: Final = "eddyline-batch"  # in the summary of a snapshot


class IcebergSink(TextSink):
    """One table of a catalog, made with the first batch if it is not there.

    Rows and mark are one snapshot, so both are there or neither. Nobody else adds the same batch meanwhile: a checkpoint has
    one owner at a time, and sources of a pipeline take turns at a sink.
    """

    guarantee = EXACTLY_ONCE

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse settings without a table."""
        if not self._settings.options.get(TABLE):
            raise SinkError(
                f'sink "{self.name}" does not say which table of Iceberg it writes',
                hint=f'options = {{ {TABLE} = "catalog.database.table" }}',
            )

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Append a batch, unless a snapshot says that it is there."""
        with delivering(self._settings, batch):
            spark, table = rows.sparkSession, revealed(self._settings.options[TABLE])
            is_new = not spark.catalog.tableExists(table)
            mark = f"{batch.pipeline}/{self.name}/{batch.source}/{batch.batch_id}"
            if not is_new and _has_snapshot(spark, table, mark):
                return None
            options = {name: value for name, value in self._settings.options.items() if name != TABLE}
            writer = columns(rows, None).writeTo(table).options(**revealed_all(options))
            writer = writer.option(f"snapshot-property.{MARK}", mark)
            writer.using("iceberg").create() if is_new else writer.append()
        return None


def _has_snapshot(spark: SparkSession, table: str, mark: str) -> bool:
    from pyspark.sql import functions as F

    marked = spark.table(f"{table}.snapshots").where(F.col("summary")[MARK] == F.lit(mark))
    return not marked.isEmpty()

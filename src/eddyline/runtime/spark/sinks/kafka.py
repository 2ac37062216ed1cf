"""Topics of Kafka: one message a result, its key the query, its value the whole result as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.secrets import revealed, revealed_all
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import TextSink, delivering
from eddyline.runtime.spark.sinks.shape import as_json
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SERVERS: Final = "kafka.bootstrap.servers"
OWN: Final = ("topic", "headers")  # options that are ours, not Spark's


class KafkaSink(TextSink):
    """One topic: that of the option `topic`, else the one that is called as the sink is."""

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse settings without servers."""
        if SERVERS not in self._settings.options:
            raise SinkError(
                f'sink "{self.name}" does not say where Kafka is',
                hint=f'options = {{ "{SERVERS}" = "host:9092" }}',
            )

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Send a batch."""
        from pyspark.sql import functions as f

        options = revealed_all({k: v for k, v in self._settings.options.items() if k not in OWN})
        topic = revealed(self._settings.options.get("topic", self.name))
        messages = [f.col("query_id").alias("key"), as_json().alias("value")]
        if revealed(self._settings.options.get("headers", "true")).lower() == "true":
            messages.append(_headers(batch).alias("headers"))
        with delivering(self._settings, batch):
            writer = rows.select(*messages).write.format("kafka").options(**options)
            writer.option("topic", topic).save()
        return None


def _headers(batch: Batch) -> Column:
    """What tells a message that comes again from another: pipeline, source and batch."""
    from pyspark.sql import functions as f

    values = {
        "eddyline-pipeline": batch.pipeline,
        "eddyline-source": batch.source,
        "eddyline-batch": str(batch.batch_id),
        "eddyline-version": str(batch.version),
    }
    pairs = [
        f.struct(f.lit(name).alias("key"), f.lit(value).cast("binary").alias("value"))
        for name, value in values.items()
    ]
    return f.array(*pairs)

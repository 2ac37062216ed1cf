"""`BatchProcessor`: the batches of a pipeline inside of a `foreachBatch` that somebody else has started.

What a pipeline does with a batch is done as ever: pinned to a version, matched, delivered, counted, committed. Where rows
come from, when a batch starts and what happens after a failure is for the query of the caller.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from eddyline.errors import SetupError
from eddyline.model.catalog import Stream
from eddyline.runtime.spark.base.folders import check_apart
from eddyline.runtime.spark.base.schemas import find_columns, quoted
from eddyline.runtime.spark.base.settings import PipelineSettings, SourceSettings, read_settings
from eddyline.runtime.spark.base.storages import open_storage
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext, sources_of
from eddyline.runtime.spark.pipeline.batch.run import StreamChanged
from eddyline.runtime.spark.pipeline.function import BatchFunction
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.sessions.alive import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY: Final = "sql.streaming.queryId"  # a property of the thread in which Spark runs a query
FORMAT: Final = "dataframe"  # rows that are there already: no files and no offsets of ours to go by


class BatchProcessor:
    """A pipeline's registry, checkpoint and sinks for a streaming query of your own.

    ```python
    with BatchProcessor("market.toml", spark) as processor:
        query = (
            quotes.writeStream.foreachBatch(processor.process_batch)
            .option("checkpointLocation", processor.checkpoint)
            .start()
        )
        query.awaitTermination()
    ```

    The query must keep its checkpoint at `checkpoint`: batches are known by their numbers, and a query with another
    checkpoint counts from zero again.
    """

    def __init__(self, settings: PipelineSettings | str | Path, spark: SparkSession) -> None:
        """Open and lock the checkpoint. The settings have one source, of which `name`, `stream` and `key` count here."""
        if is_remote(spark):
            raise SetupError(
                "a BatchProcessor needs a classic session: under Spark Connect batches run in another process",
                hint="use a Pipeline there",
            )
        given = settings if isinstance(settings, PipelineSettings) else read_settings(settings)
        check_apart(given)
        chosen = _only_source(given)
        self.settings = given
        self._open = ExitStack()
        try:
            session_checks.check(spark, time_zone=given.time_zone)
            context = BatchContext(given, spark, own=True)
            self._open.callback(context.close)
            context.state.refuse_lost_checkpoints()
            context.current()
            self.checkpoint = context.state.checkpoint(chosen.name).address
            (opened,) = sources_of(given, context.registry)
        except BaseException:
            self._open.close()
            raise
        self._query: str | None = None  # that was seen to have its checkpoint there
        self._use(opened.stream, chosen, context)

    def process_batch(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch: what `foreachBatch` calls. One that is done already is left out.

        Whatever it raises has to end the query; started again, it runs the batch again with the same version.
        """
        self._refuse_other_query(df.sparkSession)
        while True:
            try:
                self._function(self._rows(df), batch_id)
            except StreamChanged as changed:  # the rows are here: they are only read by other columns
                self._use(changed.stream, self._source.settings, self._context)
            else:
                return

    def _refuse_other_query(self, spark: SparkSession) -> None:
        """Refuse a query with another checkpoint: its batches would be taken for those of the same numbers that are done."""
        query = spark.sparkContext.getLocalProperty(QUERY)
        if query is None or query == self._query:
            return
        storage = open_storage(self.checkpoint)
        known = json.loads(storage.read("metadata"))["id"] if storage.exists("metadata") else None
        if query != known:
            raise SetupError(
                f"the query that calls process_batch does not keep its checkpoint at {self.checkpoint}",
                hint='.option("checkpointLocation", processor.checkpoint)',
            )
        self._query = query

    def close(self) -> None:
        """Let go of the checkpoint and of everything else; end the query first."""
        self._open.close()

    def __enter__(self) -> BatchProcessor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _use(self, stream: Stream, settings: SourceSettings, context: BatchContext) -> None:
        own = SourceSettings(name=settings.name, stream=settings.stream, key=settings.key, format=FORMAT)
        self._context = context
        self._source = PipelineSource(own, stream)
        self._function = BatchFunction(self.settings, self._source, context)

    def _rows(self, df: DataFrame) -> DataFrame:
        """The stream's columns of a batch; what does not fit is refused by name."""
        from pyspark.sql import functions as F

        stream = self._source.stream
        found = find_columns(df.schema, stream, stream.schema.names, what="batch")
        return df.select(*[F.col(quoted(found[name])).alias(name) for name in stream.schema.names])


def _only_source(settings: PipelineSettings) -> SourceSettings:
    if len(settings.sources) != 1:
        known = ", ".join(source.name for source in settings.sources)
        raise SetupError(
            f'the pipeline "{settings.name}" has several sources ({known}), and a query of your own is one',
            hint="give each query settings and a checkpoint of its own",
        )
    return settings.sources[0]

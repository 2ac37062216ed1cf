"""What Spark calls for every micro-batch of a source."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.run import run_batch
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class StopRequested(Exception):
    """A batch came after the pipeline was asked to stop; it runs when the pipeline is started again."""


class BatchFunction:
    """One source's batches. Under Spark Connect it runs in another process: pickled it is settings and nothing open."""

    def __init__(
        self, settings: PipelineSettings, source: PipelineSource, context: BatchContext | None = None
    ) -> None:
        self._settings = settings
        self._source = source
        self._context = context
        self.stopping = Event()
        self.busy = False
        self.calls = 0  # batches that began, and batches that ended

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Run a batch; whatever it raises makes Spark end the query, which is started again from its checkpoint."""
        self.busy = True
        self.calls += 1
        try:
            if self.stopping.is_set():
                raise StopRequested("the pipeline stops")
            if self._context is None:
                several = len(self._settings.sources) > 1
                self._context = BatchContext(self._settings, df.sparkSession, own=False, shared=several)
            run_batch(self._context, self._source, df, batch_id)
        except BaseException as error:
            if self._context is not None:
                self._context.failures[self._source.settings.name] = error
            raise
        finally:
            self.busy = False
            self.calls += 1

    def __getstate__(self) -> dict[str, Any]:
        return {"_settings": self._settings, "_source": self._source}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_settings"], state["_source"])  # type: ignore[misc]

"""A whole pipeline beside streaming jobs of the same shape: Parquet files in, one file a batch, Parquet files out.

plain-job          `foreachBatch` with one filter that runs in Java
pass-through-job   `foreachBatch` with the stream's columns handed to Python and back, as many rows written as ours writes

The time of a batch is what Spark calls its trigger: finding the files, the batch itself, Spark's own logs.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from bench.spark.cluster import Cluster
from bench.workloads.workload import Workload
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings, SourceSettings
from eddyline.spark import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WARM_UPS: Final = 3  # first batches of a run, in which workers open sets and Java compiles
LONGEST: Final = 60.0  # seconds until Spark has told of a batch that has ended


class Triggers:
    """Seconds of batches by the id of the run, as Spark tells them."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[int, float]] = defaultdict(dict)
        self._changing = Lock()

    def hear(self, progress: Any) -> None:
        """Take what Spark says of a batch; triggers that found nothing are left out."""
        if progress.numInputRows:
            with self._changing:
                self._seconds[str(progress.id)][progress.batchId] = (
                    progress.durationMs["triggerExecution"] / 1000
                )

    def taken(self, batches: int) -> list[float]:
        """The seconds of the one run that was heard of, which had so many batches; it is forgotten."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            with self._changing:
                if self._seconds and len(next(iter(self._seconds.values()))) >= batches:
                    (found,) = self._seconds.values()
                    self._seconds.clear()
                    return [seconds for _, seconds in sorted(found.items())]
            time.sleep(0.02)
        raise TimeoutError(f"Spark did not tell of {batches} batches")


@contextmanager
def triggers(spark: SparkSession) -> Iterator[Triggers]:
    """Listen to what Spark tells of batches."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    heard = Triggers()

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...
        def onQueryIdle(self, event: Any) -> None: ...
        def onQueryTerminated(self, event: Any) -> None: ...

        def onQueryProgress(self, event: Any) -> None:
            heard.hear(event.progress)

    listener = Listener()
    spark.streams.addListener(listener)
    try:
        yield heard
    finally:
        spark.streams.removeListener(listener)


@dataclass(frozen=True)
class Files:
    """A folder in which every batch is one file with the same tuples."""

    cluster: Cluster
    workload: Workload
    rows: int
    batches: int

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """The folder, with room for what a job writes."""
        origin = self.cluster.path(self.workload, self.rows) / "tuples.parquet"
        with tempfile.TemporaryDirectory(dir=self.cluster.folder) as scratch:
            (Path(scratch) / "in").mkdir()
            for batch in range(self.batches):
                os.link(origin, Path(scratch) / "in" / f"{batch:04d}.parquet")
            yield Path(scratch)


class OurJob:
    """A pipeline over the queries of a workload; `sinks` share the results between them, by query."""

    def __init__(self, files: Files, heard: Triggers, *, sinks: int = 1) -> None:
        self.name = f"ours {files.workload.queries}" + ("" if sinks == 1 else f" to {sinks} sinks")
        self.written = 0  # rows of a batch
        self._files, self._heard = files, heard
        self._sinks = [f"out{number}" for number in range(sinks)]
        # The registry is made once: it is kept beside the runs, each of which has a checkpoint of its own.
        path = files.cluster.folder / f"registry-{files.workload.queries}-{sinks}.db"
        self._registry = str(path)
        if not path.exists():
            _fill(self._registry, files.workload, self._sinks)

    def run(self) -> list[float]:
        """Seconds of the steady batches of one run."""
        with self._files.folder() as folder:
            settings = PipelineSettings(
                name="bench",
                registry=self._registry,
                checkpoint=str(folder / "checkpoint"),
                sources=(
                    SourceSettings(
                        name=self._files.workload.stream.name,
                        format="parquet",
                        path=str(folder / "in"),
                        options={"maxFilesPerTrigger": "1"},
                    ),
                ),
                sinks=tuple(
                    SinkSettings(name=name, format="parquet", path=str(folder / name), default=not number)
                    for number, name in enumerate(self._sinks)
                ),
                trigger="available now",
            )
            running = Pipeline(settings).start(self._files.cluster.spark)
            with running:
                running.await_termination()
                reports = running.reports()
            self.written = sum(reports[-1].delivered.values())
            self.stages = [dict(report.seconds) for report in reports]
            return self._heard.taken(self._files.batches)[WARM_UPS:]


class PlainJob:
    """A job of the user's own: what is done with a batch is given, and written to Parquet."""

    def __init__(
        self, name: str, files: Files, heard: Triggers, each: Callable[[DataFrame], DataFrame]
    ) -> None:
        self.name = name
        self._files, self._heard, self._each = files, heard, each

    def run(self) -> list[float]:
        """Seconds of the steady batches of one run."""
        spark, each = self._files.cluster.spark, self._each
        with self._files.folder() as folder:
            schema = spark.read.parquet(str(folder / "in")).schema
            source = (
                spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
            )

            def write(df: DataFrame, batch: int) -> None:
                each(df).write.mode("overwrite").parquet(str(folder / "out" / f"batch={batch}"))

            writer = source.writeStream.foreachBatch(write).option(
                "checkpointLocation", str(folder / "checkpoint")
            )
            writer.trigger(availableNow=True).start().awaitTermination()
            return self._heard.taken(self._files.batches)[WARM_UPS:]


def filtered(condition: str) -> Callable[[DataFrame], DataFrame]:
    """One filter, in Java."""
    return lambda df: df.where(condition)


def passed_through(rows: int, written: int) -> Callable[[DataFrame], DataFrame]:
    """All tuples go to Python, so many of them come back, evenly spread."""
    share = written / rows

    def some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen = given = 0
        for batch in batches:
            seen += batch.num_rows
            wanted = round(seen * share) - given
            given += wanted
            whole, rest = divmod(wanted, max(1, batch.num_rows))
            yield from [batch] * whole
            yield batch.slice(0, rest)

    return lambda df: df.mapInArrow(some, df.schema)


def medians(jobs: list[Any], *, turns: int = 2) -> dict[str, float]:
    """Median seconds of the steady batches of each job; the jobs take turns."""
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(turns):
        for job in jobs:
            found[job.name] += job.run()
    return {name: statistics.median(taken) for name, taken in found.items()}


def _fill(path: str, workload: Workload, sinks: list[str]) -> None:
    """A registry with the queries of a workload, given to sinks in turn."""
    with Registry.open(path) as registry:
        registry.declare(workload.stream)
        registry.change(
            [
                Put(id, sql=text, destination=sinks[number % len(sinks)])
                for number, (id, text) in enumerate(workload.texts.items())
            ]
        )

"""Whole pipelines over a standing set: what a batch takes on the clock, of processors, and of Python alone.

Also a program, for runs that need a session of their own: `python -m bench.spark.capacity.runs PLACE`, which prints a run.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from bench.spark.cluster import Cluster, cluster, now
from bench.spark.pipelines import Triggers, triggers
from bench.workloads import standing
from bench.workloads.workload import Workload
from eddyline.capacity.load import Kind
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings, SourceSettings
from eddyline.spark import Pipeline

LEAST_WARM_UPS: Final = 2
BATCHES: Final = 6


@dataclass(frozen=True)
class Asked:
    """A pipeline to be run: `rows` are those of a file, of which every batch has `files`."""

    kind: Kind
    queries: int
    columns: int
    rows: int
    share: float = 1e-6
    files: int = 1
    batches: int = BATCHES
    keep: bool = False  # also see how large results are that Spark keeps

    @property
    def workload(self) -> Workload:
        """Its queries and rows."""
        return standing.workload(self.kind, self.queries, self.columns, self.share)


@dataclass(frozen=True)
class Run:
    """The median steady batch: seconds on the clock, those of the quickest, of processors, of Python in the workers; results, their bytes on disk.

    `kept`: bytes of a result that Spark keeps, where that was asked for.
    """

    rows: int
    seconds: float
    quickest: float
    processors: float
    python: float
    results: int
    written: float
    kept: float = 0.0

    @property
    def java(self) -> float:
        """What is not Python's in the workers: Java, and the driver."""
        return max(self.processors - self.python, 0.0)


class Clocked(Triggers):
    """Also the processor time of all processes, whenever Spark tells of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks: list[float] = []

    def hear(self, progress: Any) -> None:
        """Take what Spark says of a batch."""
        if progress.numInputRows:
            self.ticks.append(now())
        super().hear(progress)


@contextmanager
def clocked(running: Cluster) -> Iterator[Clocked]:
    """Listen to what Spark tells of batches."""
    with patch("bench.spark.pipelines.Triggers", Clocked), triggers(running.spark) as heard:
        assert isinstance(heard, Clocked), "it was put in the other's place"
        yield heard


@contextmanager
def as_on_a_cluster() -> Iterator[None]:
    """Batches of a local session go the way of those on a cluster: results kept, then written; the set travels in the plan."""
    with (
        patch("eddyline.runtime.spark.pipeline.batch.matching._together", lambda *_: None),
        patch("eddyline.runtime.spark.sessions.session_checks.is_local", lambda _: False),
    ):
        yield


def run(running: Cluster, heard: Clocked, asked: Asked) -> Run:
    """Run a pipeline until everything is read."""
    warm_ups = max(LEAST_WARM_UPS, asked.batches // 2)  # Java is quicker with every batch for a while
    workload = asked.workload
    origin = running.path(workload, asked.rows) / "tuples.parquet"
    registry = running.folder / f"{workload.name} {asked.queries}.db"
    if not registry.exists():
        fill(registry, workload)
    with tempfile.TemporaryDirectory(dir=running.folder) as scratch:
        folder = Path(scratch)
        (folder / "in").mkdir()
        for number in range(asked.batches * asked.files):
            os.link(origin, folder / "in" / f"{number:04d}.parquet")
        settings = PipelineSettings(
            name="bench",
            registry=str(registry),
            checkpoint=str(folder / "checkpoint"),
            sources=(
                SourceSettings(
                    name=workload.stream.name,
                    format="parquet",
                    path=str(folder / "in"),
                    options={"maxFilesPerTrigger": str(asked.files)},
                ),
            ),
            sinks=(SinkSettings(name="out", format="parquet", path=str(folder / "out"), default=True),),
            trigger="available now",
        )
        heard.ticks.clear()
        with Pipeline(settings).start(running.spark) as pipeline:
            pipeline.await_termination()
            reports = pipeline.reports()[warm_ups:]
        seconds, ticks = heard.taken(asked.batches)[warm_ups:], heard.ticks[warm_ups - 1 :]
        results = sum(sum(report.delivered.values()) for report in reports)
        kept = _kept(running, str(folder / "out")) if asked.keep else 0.0
        written = sum(path.stat().st_size for path in (folder / "out").rglob("*.parquet"))
    return Run(
        asked.rows * asked.files,
        statistics.median(seconds),
        min(seconds),
        statistics.median(after - before for before, after in pairwise(ticks)),
        statistics.median(report.working for report in reports),
        results // len(reports),
        written / asked.batches,
        kept,
    )


def _kept(running: Cluster, path: str) -> float:
    """Bytes of a row that Spark keeps, as it says itself."""
    rows = running.spark.read.parquet(path).persist()
    try:
        count = rows.count()
        (found,) = running.spark.sparkContext._jsc.sc().getRDDStorageInfo()
        return float(found.memSize() + found.diskSize()) / count
    finally:
        rows.unpersist()


def fill(path: Path, workload: Workload) -> None:
    """A registry with the queries of a workload."""
    with Registry.open(str(path)) as registry:
        registry.declare(workload.stream)
        registry.change([Put(id, sql=text) for id, text in workload.texts.items()])


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[str]:
    """A standalone cluster on this machine, each worker with one core."""
    from tests.cluster import master, worker

    with ExitStack() as running:
        address = running.enter_context(master(folder))
        for number in range(workers):
            (folder / str(number)).mkdir()
            running.enter_context(worker(folder / str(number), address))
        yield address


def in_its_own_process(place: str, asked: Asked) -> Run:
    """A run in a process with a session for itself, on all processors of this machine."""
    import subprocess

    root = Path(__file__).parents[3]
    paths = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "bench.spark.capacity.runs", place, json.dumps(asdict(asked))],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def main(place: str, asked: Asked) -> None:
    """Run a pipeline on so many cores, or on a cluster of so many workers: "2 cores", "2 workers"."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # the caller may be kept on one
    count, what = place.split()
    with ExitStack() as stack:
        if what == "workers":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="eddyline-bench-")))
            address = stack.enter_context(standalone(folder, int(count)))
            running = stack.enter_context(_on(address))
        else:
            running = stack.enter_context(cluster(int(count)))
        heard = stack.enter_context(clocked(running))
        print(json.dumps(asdict(run(running, heard, asked))))


@contextmanager
def _on(address: str) -> Iterator[Cluster]:
    from eddyline.spark import session

    spark = session("eddyline-bench", config={"spark.master": address, "spark.executor.memory": "900m"})
    try:
        with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as folder:
            yield Cluster(spark, Path(folder))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Asked(**json.loads(sys.argv[2])))

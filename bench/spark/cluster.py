"""A local Spark of one core to measure on: its session, its clock, files of tuples, jobs that keep nothing.

The clock is the CPU time of this process and of all below it, Java and the Python workers included. The whole runs on one
core, where that is the time on the wall less what others took; so other work on the machine matters little.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from bench.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT: Final = Path(__file__).parents[2]
PROCESSES: Final = Path("/proc")
ROW_GROUP: Final = 1 << 20
_used: dict[tuple[int, str], int] = {}  # ticks of each process when it was last seen
SETTINGS: Final = {
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": 1,
    "spark.default.parallelism": 1,
    "spark.driver.extraJavaOptions": "-Xss16m",  # thousands of columns make deep plans
}


@dataclass(frozen=True)
class Cluster:
    """A running session, and a folder for files."""

    spark: SparkSession
    folder: Path

    def tuples(self, workload: Workload, rows: int) -> DataFrame:
        """The workload's first rows, in one Parquet file."""
        return self.spark.read.parquet(str(self.path(workload, rows)))

    def table(self, name: str, table: pa.Table) -> DataFrame:
        """A table, in one Parquet file."""
        path = self.folder / f"{name} {len(table)}.parquet".replace(" ", "-")
        if not path.exists():
            pq.write_table(table, path)
        return self.spark.read.parquet(str(path))

    def path(self, workload: Workload, rows: int) -> Path:
        """The folder with that file."""
        folder = self.folder / f"{workload.name} {rows}".replace(" ", "-")
        if not folder.exists():
            folder.mkdir()
            table = pa.table(workload.batch(rows))
            pq.write_table(table, folder / "tuples.parquet", row_group_size=ROW_GROUP)
        return folder


@contextmanager
def cluster(cores: int = 1) -> Iterator[Cluster]:
    """Start Spark on so many cores; on one this process is too."""
    from eddyline.spark import session

    before = os.environ.get("PYTHONPATH")
    allowed = _pin() if cores == 1 else set()
    # Functions of these modules travel to the workers by name; where another tree is measured, workers have to have that one.
    os.environ["PYTHONPATH"] = os.pathsep.join([*([before] if before else []), str(ROOT)])
    try:
        spark = session("eddyline-bench", cores=cores, config=SETTINGS)
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    try:
        with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as folder:
            yield Cluster(spark, Path(folder))
    finally:
        spark.stop()
        if allowed:
            os.sched_setaffinity(0, allowed)


def _pin() -> set[int]:
    """Keep this process and what it starts on one core; the cores that it had, none if it cannot be kept."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    return allowed


def drain(df: DataFrame) -> None:
    """Compute all rows of a DataFrame and keep none."""
    df.write.format("noop").mode("overwrite").save()


def medians(
    jobs: Mapping[str, Callable[[], object]], *, repeats: int = 5, warm_ups: int = 1
) -> dict[str, float]:
    """Seconds of jobs that take turns, so that what disturbs one disturbs the others too."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(warm_ups + repeats):
        for name, job in jobs.items():
            taken = seconds(job)
            if turn >= warm_ups:
                times[name].append(taken)
    return {name: statistics.median(taken) for name, taken in times.items()}


def seconds(job: Callable[[], object]) -> float:
    """Seconds of one run of a job."""
    start = now()
    job()
    return max(now() - start, 1e-3)


def now() -> float:
    """CPU seconds of this process and all below it, those that have ended included; else the time on the wall.

    What a process had used when it was last seen stays counted: Spark ends idle workers, and nobody inherits their time.
    """
    if not PROCESSES.is_dir():
        return time.perf_counter()
    children: dict[int, list[int]] = {}
    ticks: dict[int, tuple[tuple[int, str], int]] = {}
    for entry in PROCESSES.iterdir():
        if entry.name.isdecimal() and (fields := _status(entry)):
            process = int(entry.name)
            children.setdefault(int(fields[1]), []).append(process)
            ticks[process] = (
                (process, fields[19]),
                int(fields[11]) + int(fields[12]),
            )  # told apart by their start
    waiting = [os.getpid()]
    while waiting:
        process = waiting.pop()
        if process in ticks:
            identity, used = ticks[process]
            _used[identity] = used
        waiting += children.get(process, [])
    return sum(_used.values()) / os.sysconf("SC_CLK_TCK")


def _status(process: Path) -> list[str]:
    """What follows the name of a process: its state, its parent and so on; nothing if it has ended meanwhile."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []

"""How long a pipeline takes from its command to the first committed batch, beside a plain job that starts Spark too.

The first start finds no compiled kernels, the second those of the first. Both jobs read one Parquet file, send its columns
to a Python worker and write Parquet; the plain one gives the rows back as they came. The clock is the one on the wall: what is
measured is how long somebody waits, and work that overlaps the start of Java should count once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import Setting
from bench.record import Record
from bench.workloads import alerts
from bench.workloads.workload import Workload
from eddyline.queryset.queryset import QuerySet
from eddyline.registry import Put, Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from bench.spark.cluster import Cluster

QUERIES: Final = 1_000
ROWS: Final = 1_000
LOOK: Final = 0.02  # seconds
PATIENCE: Final = 300.0
ROOT: Final = Path(__file__).parents[2]


def beside_plain_start(setting: Setting, cluster: Cluster) -> Iterator[Record]:
    """Seconds more than the plain job, on a machine without compiled kernels and on one that has them.

    `extra` is the difference, the ratio that of the whole times; of several starts, which take turns, the quickest counts.
    """
    workload = alerts.workload(QUERIES)
    expected = _matches(workload)
    turns = [(_plain(workload), *_pipeline_twice(workload)) for _ in range(1 if setting.quick else 3)]
    plain, *others = zip(*turns, strict=True)
    least = min(start.seconds for start in plain)
    for name, starts in zip(("cold", "warm"), others, strict=True):
        seconds = min(start.seconds for start in starts)
        equal = all(start.found == expected for start in starts) and all(one.found == ROWS for one in plain)
        extra, ratio = max(seconds - least, 1e-3), least / seconds
        yield Record(
            f"first batch, {name}", QUERIES, ROWS, "extra", extra, "plain start", least, ratio, equal
        )


class _Start(NamedTuple):
    """Seconds to the first batch, and what it wrote: results by query, or rows."""

    seconds: float
    found: Counter[str] | int


def _matches(workload: Workload) -> Counter[str]:
    """How many results each query has."""
    queries = QuerySet.build(workload.texts, streams=[workload.stream])
    return Counter(queries.match(workload.batch(ROWS)).pairs()["query"].to_pylist())


def _pipeline_twice(workload: Workload) -> tuple[_Start, _Start]:
    """Two pipelines on one cache of kernels, which is empty before the first."""
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as name:
        cache = Path(name) / "cache"
        cold, warm = (_pipeline(workload, Path(name) / str(turn), cache) for turn in range(2))
    return cold, warm


def _pipeline(workload: Workload, folder: Path, cache: Path) -> _Start:
    (folder / "incoming").mkdir(parents=True)
    _write_rows(workload, folder / "incoming")
    with Registry.open(folder / "queries.db") as registry:
        registry.change([Put(id, text) for id, text in workload.texts.items()], streams=[workload.stream])
    (folder / "pipeline.toml").write_text(
        f"""
[pipeline]
name = "first"
registry = "queries.db"
checkpoint = "state"
trigger = "available now"

[[source]]
name = "{workload.stream.name}"
format = "parquet"
path = "incoming"

[[sink]]
name = "results"
format = "parquet"
path = "out"
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "eddyline_command", "run", str(folder / "pipeline.toml"), "--json"]
    seconds = _seconds_to_commit(command, folder, cache)
    (batch,) = (folder / "out").glob("source=*/batch=*")
    return _Start(seconds, Counter(pq.read_table(batch, columns=["query_id"])["query_id"].to_pylist()))


def _plain(workload: Workload) -> _Start:
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as name:
        folder = Path(name)
        (folder / "incoming").mkdir()
        _write_rows(workload, folder / "incoming")
        command = [sys.executable, "-m", "bench.spark.starting", str(folder)]
        seconds = _seconds_to_commit(command, folder, folder / "cache")
        return _Start(seconds, pq.read_table(folder / "out" / "batch=0").num_rows)


def _write_rows(workload: Workload, folder: Path) -> None:
    pq.write_table(pa.table(workload.batch(ROWS)), folder / "rows.parquet")


def _seconds_to_commit(command: Sequence[str], folder: Path, cache: Path) -> float:
    """Seconds from a command to the record of its first batch in Spark's own checkpoint; then the command is ended."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": os.pathsep.join(paths)}
    start = time.perf_counter()
    with (folder / "output").open("wb") as output:
        running = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, cwd=ROOT, start_new_session=True
        )
        _use_all_cores(running.pid)
        try:
            while not any((folder / "state").glob("**/commits/0")):
                taken = time.perf_counter() - start
                if running.poll() is not None or taken > PATIENCE:
                    raise RuntimeError(f"no batch was committed: {(folder / 'output').read_text()}")
                time.sleep(LOOK)
            return time.perf_counter() - start
        finally:
            running.send_signal(signal.SIGINT)
            running.wait()


def _use_all_cores(process: int) -> None:
    """The rest of the measurements keep to one core, and a process inherits that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process, range(os.cpu_count() or 1))


def _plain_job(folder: Path) -> None:
    """A stream of one batch whose rows pass through a Python worker unchanged."""
    from eddyline.spark import session

    spark = session("plain", warm=False)

    def write(rows: DataFrame, batch: int) -> None:
        passed = rows.mapInArrow(lambda batches: batches, rows.schema)
        passed.write.mode("overwrite").parquet(str(folder / "out" / f"batch={batch}"))

    schema = spark.read.parquet(str(folder / "incoming")).schema
    reading = spark.readStream.schema(schema).parquet(str(folder / "incoming"))
    writing = reading.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "state"))
    writing.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    _plain_job(Path(sys.argv[1]))

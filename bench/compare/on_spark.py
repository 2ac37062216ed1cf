"""The lines on Spark: whole jobs on one core, and batches of a running pipeline."""

from __future__ import annotations

import itertools
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

import eddyline as ed
from bench.compare.lines import Measured, Turn
from bench.spark.cluster import Cluster, cluster, drain, now
from bench.spark.ours import Matcher
from bench.workloads.workload import Workload

_open = ExitStack()  # lives as long as the process, which ends with the line


@cache
def _cluster() -> Cluster:
    return _open.enter_context(cluster())


def match(workload: Workload, rows: int, asked: Literal["numbers", "counts"]) -> Turn:
    """A job that matches all tuples of a file."""
    matcher = Matcher(ed.QuerySet.build(workload.texts, streams=[workload.stream]))
    found = getattr(matcher, asked)(_cluster().tuples(workload, rows))

    def turn() -> Measured:
        start = now()
        drain(found)
        return Measured(now() - start)

    return turn


def pipeline(workload: Workload, files: int, rows: int) -> Turn:
    """A pipeline that finds so many files, one per batch, and writes Parquet; queries in a registry."""
    from eddyline.registry import Put, Registry
    from eddyline.spark import Pipeline

    spark = _cluster().spark
    root = Path(_open.enter_context(tempfile.TemporaryDirectory(prefix="eddyline-compare-")))
    with Registry.open(root / "queries.db") as registry:
        registry.declare(workload.stream)
        registry.change([Put(id, text) for id, text in workload.texts.items()])
    source, numbers = root / "in", itertools.count()
    source.mkdir()
    table = pa.table(workload.batch(rows))
    (root / "pipeline.toml").write_text(
        f"""[pipeline]
name = "compare"
registry = "queries.db"
checkpoint = "state"
trigger = "available now"
[[source]]
name = "{workload.stream.name}"
format = "parquet"
path = "in"
options = {{maxFilesPerTrigger = 1}}
[[sink]]
name = "out"
format = "parquet"
path = "out"
"""
    )

    def turn() -> Measured:
        for _ in range(files):
            pq.write_table(table, source / f"{next(numbers)}.parquet")
        start = now()
        running = Pipeline(root / "pipeline.toml").start(spark)
        try:
            running.await_termination()
        finally:
            running.stop()
        return Measured(now() - start, running.totals.count("matches"))

    return turn

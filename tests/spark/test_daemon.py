"""Workers of our session come warm, from a daemon without threads of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.runtime.spark import daemon
from eddyline.runtime.spark.sessions.session import WARM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def parents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The daemon's command and number of threads, as its worker sees them, and whether the worker has kernels already."""
    for _ in batches:
        process = Path(f"/proc/{os.getppid()}")
        threads = len(list((process / "task").iterdir()))
        warm = "eddyline.kernels.keyed" in sys.modules
        command = (process / "cmdline").read_text()
        yield pa.RecordBatch.from_pydict({"command": [command], "threads": [threads], "warm": [warm]})


def test_workers_come_from_a_warm_daemon(spark: SparkSession) -> None:
    assert spark.conf.get("spark.python.daemon.module") == WARM["spark.python.daemon.module"]
    df = spark.range(1).mapInArrow(parents, "command string, threads long, warm boolean")
    [(command, threads, warm)] = df.collect()
    assert daemon.__name__ in command
    assert threads == 1, "a process with threads must not fork"
    assert warm

"""Ten thousand batches leave nothing behind, whether matches are dropped at once or kept for a while."""

from __future__ import annotations

import gc
import os
from collections import deque
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.config import IndexSettings
from tests.missing import missing

STATM = Path("/proc/self/statm")
TICKS = Stream("ticks", pa.schema({"name": pa.string(), "price": pa.float64(), "size": pa.int64()}))
TEXTS = {
    f"{kind}{i}": f"SELECT * FROM ticks WHERE {where}"
    for i in range(120)
    for kind, where in {
        "named": f"name = 'n{i}' AND price > {i % 9}.5 AND size >= {i % 7}",
        "between": f"price BETWEEN {i % 50} AND {i % 50 + 20} AND size < {i}",
        "either": f"price < {i % 30} OR size IN ({i}, {i + 3}, {i + 9})",
        "like": f"name LIKE '%{i}%' AND size > {i % 5}",
    }.items()
}
CONJUNCTIONS = {id: sql for id, sql in TEXTS.items() if id.startswith(("named", "between"))}
BATCHES = 10_000
WARM = 2_000
SIZES = (1, 1, 3, 20, 64, 65, 200, 513, 1, 5)
TOLERANCE = 6 << 20


def ticks(rows: int) -> pa.RecordBatch:
    numbers = range(rows)
    return pa.record_batch(
        {
            "name": pa.array([f"n{i % 130}" if i % 11 else None for i in numbers]),
            "price": pa.array([i * 0.7 % 60 for i in numbers]),
            "size": pa.array([i * 13 % 140 for i in numbers]),
        }
    )


def resident() -> int:
    gc.collect()
    if not STATM.exists():
        missing("the resident size of a process: it is read from /proc, which only Linux has")
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "executor"),
    [(TEXTS, "auto"), (CONJUNCTIONS, "keyed"), (CONJUNCTIONS, "auto"), (CONJUNCTIONS, "rowwise")],
    ids=["sliced", "keyed", "small batches", "rowwise"],
)
def test_batches_leave_nothing(texts: dict[str, str], executor: str) -> None:
    queryset = QuerySet.build(texts, streams=[TICKS], settings=IndexSettings(executor=executor))
    batches = [ticks(rows) for rows in SIZES]
    kept: deque[object] = deque(maxlen=12)
    before = 0
    for number in range(BATCHES):
        if number == WARM:
            before = resident()
        found = queryset.match(batches[number % len(batches)])
        if number % 3 == 0:
            kept.append(found)
        if number % 5 == 0:
            kept.append(found.pair_arrays())
    kept.clear()
    assert resident() - before < TOLERANCE

"""Batches put together before they are matched: the same rows in the same order, never too many of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.runtime.spark.dataframe import gathering
from eddyline.runtime.spark.dataframe.gathering import ROWS, BatchSizer, gathered


def batches(*sizes: int) -> list[pa.RecordBatch]:
    """Batches of so many rows, numbered through."""
    found, first = [], 0
    for size in sizes:
        numbers = pa.array(range(first, first + size), pa.int64())
        found.append(
            pa.record_batch({"n": numbers, "s": pa.array([str(n) for n in numbers.to_pylist()], pa.string())})
        )
        first += size
    return found


def sizes(given: list[pa.RecordBatch], sizer: BatchSizer) -> list[int]:
    """How many rows come together, all of them being there and in order."""
    found = list(gathered(iter(given), sizer))
    rows = [row for batch in found for row in batch.to_pylist()]
    assert rows == [row for batch in given for row in batch.to_pylist()]
    return [batch.num_rows for batch in found]


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [((), 5, []), ((3,), 5, [3]), ((3, 0, 3, 3), 5, [6, 3]), ((9, 2, 2), 5, [9, 4]), ((2, 2), 1, [2, 2])],
)
def test_batches_are_put_together_until_there_are_enough_rows(
    given: tuple[int, ...], wanted: int, expected: list[int]
) -> None:
    assert sizes(batches(*given), BatchSizer(wanted)) == expected


def test_large_rows_are_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "BYTES", 60)
    assert sizes(batches(2, 2, 2, 50), BatchSizer(1_000)) == [6, 50]


def test_the_first_batch_tells_how_many_matches_rows_have() -> None:
    sizer, taken = BatchSizer(), []
    for batch in gathered(iter(batches(*[100] * 1_000)), sizer):
        taken.append(batch.num_rows)
        sizer.learn(batch.num_rows, 1_000 * batch.num_rows)
    assert taken == [100, *[1_000] * 99, 900]
    sizer.learn(100, 0)
    assert sizer.rows == ROWS

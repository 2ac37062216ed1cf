"""Many narrow ranges of one subject are found by a table without a key, and match what masks match."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import IndexSettings, QuerySet, Stream

COUNT = 9_000
STREAM = Stream("ticks", pa.schema([("price", pa.float64()), ("size", pa.int32())]))


def texts(subject: str, whole: bool) -> dict[str, str]:
    """Ranges with all kinds of ends, single values and alternatives among them."""
    rng = np.random.default_rng(3)
    found = {}
    for number in range(COUNT):
        low, width, low_2 = (int(x) for x in rng.integers(0, [100_000, 90, 100_000]))
        scale = 1 if whole else 7
        ends = [
            f"{value / scale:.3f}" if scale > 1 else str(value)
            for value in (low, low + width, low_2, low_2 + 5)
        ]
        conditions = (
            f"{subject} BETWEEN {ends[0]} AND {ends[1]}",
            f"{subject} > {ends[0]} AND {subject} < {ends[1]}",
            f"{subject} >= {ends[0]} AND {subject} < {ends[1]} OR {subject} BETWEEN {ends[2]} AND {ends[3]}",
            f"{subject} = {ends[0]}",
        )
        found[str(number)] = f"SELECT * FROM ticks WHERE {conditions[number % 4]}"
    return found


def batch(rows: int) -> pa.RecordBatch:
    rng = np.random.default_rng(4)
    price = (rng.integers(-10, 100_100, rows) / 7).round(3).tolist()
    price[:6] = [None, float("nan"), float("inf"), float("-inf"), -0.0, 0.0]
    size = rng.integers(-10, 100_100, rows).tolist()
    size[:3] = [None, 0, 2**31 - 1]
    return pa.record_batch([pa.array(price, pa.float64()), pa.array(size, pa.int32())], schema=STREAM.schema)


@pytest.mark.parametrize(("subject", "whole"), [("price", False), ("size", True), ("size + 1", True)])
def test_ranges_match_what_masks_match(subject: str, whole: bool, tmp_path: Path) -> None:
    queries = texts(subject, whole)
    found = QuerySet.build(queries, streams=[STREAM])
    assert "by ranges of" in found.explain()
    sliced = QuerySet.build(queries, streams=[STREAM], settings=IndexSettings(executor="sliced"))
    found.save(tmp_path / "set")
    for rows in (1, 700, 3_000):
        tuples = batch(max(rows, 6)).slice(0, rows)
        expected = sliced.match(tuples).pairs()
        assert expected.num_rows or rows == 1
        assert found.match(tuples).pairs().equals(expected)
        assert QuerySet.load(tmp_path / "set").match(tuples).pairs().equals(expected)
        assert found.count(tuples) == sliced.count(tuples)


def test_wide_ranges_stay_with_masks() -> None:
    wide = {str(i): f"SELECT * FROM ticks WHERE size BETWEEN {i} AND {i + COUNT}" for i in range(COUNT)}
    half = {str(i): f"SELECT * FROM ticks WHERE size > {i}" for i in range(COUNT)}
    few = dict(list(texts("size", True).items())[:1_000])
    for queries in (wide, half, few):
        assert "by ranges of" not in QuerySet.build(queries, streams=[STREAM]).explain()


def test_what_a_range_costs() -> None:
    queries = QuerySet.build(texts("size", True), streams=[STREAM])
    cost = queries.cost()["1"]
    assert "the table by ranges of size" in [part.text for part in cost.parts]
    assert "its own entries under its keys" not in [part.text for part in cost.parts]
    assert queries.marginal_cost("SELECT * FROM ticks WHERE size BETWEEN 3 AND 9").nanoseconds > 0
    assert "lies in few of the" in queries.explain("1")

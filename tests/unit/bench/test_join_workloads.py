"""Window joins give the same results however they are made, and some at all."""

from __future__ import annotations

import numpy as np
import pytest

from bench import joins
from bench.peers import duckdb_joins
from bench.suites.joins import _push_times
from bench.workloads.joins import BATCHES, SYMBOLS, at_time, workload

WAYS = {
    "duckdb per query": duckdb_joins.JoinPerQuery,
    "duckdb with rules": duckdb_joins.Rules,
    "duckdb's join, then rules": duckdb_joins.JoinThenRules,
    "unshared": joins.Unshared,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pairs", "pairs even", "ranges", "one side"])
def test_all_ways_agree(name: str) -> None:
    # A chance of 0.1% on both sides needs many queries, or rows, for some results.
    drawn = workload(
        name, 300 if name.startswith("pairs") else 20, rows=2_000 if name.startswith("pairs") else 200
    )
    tables = drawn.tables(2 * BATCHES)
    expected = joins.Tables(drawn, tables)()
    assert expected.sum() or name == "pairs even"
    for way, build in WAYS.items():
        assert np.array_equal(build(drawn, tables)(), expected), way
    assert np.array_equal(_push_times(drawn)[1], expected)


def test_texts_name_what_sides_ask() -> None:
    drawn = workload("pairs", 3, rows=10)
    text = drawn.texts["2"]
    for alias, side in zip(("q", "t"), drawn.sides[2], strict=True):
        assert side is not None
        assert side.replace("symbol", f"{alias}.symbol").replace("price", f"{alias}.price") in text
    assert "t.symbol" not in workload("one side", 1, rows=10).texts["0"].partition("WHERE")[2]


def test_symbols_of_queries() -> None:
    hot = {
        name: workload(name, 20_000, rows=10).rules["symbol"].to_pylist().count("A0")
        for name in ("pairs", "pairs even")
    }
    assert hot["pairs"] > 100 * hot["pairs even"]
    assert len(set(workload("pairs even", 50_000, rows=10).rules["symbol"].to_pylist())) == SYMBOLS


def test_the_same_tuples_at_another_time() -> None:
    first, later = workload("ranges", 1, rows=50).batch(3)[0], workload("ranges", 1, rows=50).batch(3)[0]
    moved = at_time(first, 7)
    assert at_time(moved, 3).equals(later)
    assert moved["ts"][0].value - first["ts"][0].value == 4_000_000

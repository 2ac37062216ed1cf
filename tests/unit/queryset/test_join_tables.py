"""Joins of whole tables: every pair once, in one order, whatever finds it first."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream

SCHEMA = pa.schema({"key": pa.string(), "n": pa.int64(), "ts": pa.int64()})
STREAMS = [Stream(name, SCHEMA, event_time="ts", lateness=0) for name in ("first", "second")]
WINDOW = "b.ts BETWEEN a.ts - 10 AND a.ts + 10"


def table(*rows: tuple[str | None, int, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)


def pairs(condition: str, first: pa.Table, second: pa.Table) -> list[tuple[int, int]]:
    text = f"SELECT a.n FROM first a JOIN second b ON {condition}"
    found = QuerySet.build({"q": text}, streams=STREAMS).join({"first": first, "second": second})
    rows = list(zip(*(rows.tolist() for rows in found.rows("q")), strict=True))
    assert len(found) == len(rows) == found.counts()["q"]
    return rows


def test_pairs_are_ordered_by_the_rows_of_the_tables_not_by_time() -> None:
    first = table(("x", 1, 30), ("x", 2, 20), ("x", 3, 25))
    second = table(("x", 1, 28), ("x", 2, 22))
    found = pairs(f"a.key = b.key AND {WINDOW}", first, second)
    assert found == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


def test_a_pair_that_two_branches_find_comes_once() -> None:
    first, second = table(("x", 1, 0), ("y", 2, 0)), table(("x", 1, 1), ("z", 2, 1))
    found = pairs(f"(a.key = b.key OR a.n = b.n) AND {WINDOW}", first, second)
    assert found == [(0, 0), (1, 1)]


@pytest.mark.parametrize("key", ["short", "a key too long for a word", None])
def test_keys_are_compared_by_value_although_no_column_is_kept(key: str | None) -> None:
    first, second = (
        table((key, 1, 0), ("other", 1, 0)),
        table((key, 7, 1), ("another key of that length", 7, 1)),
    )
    assert pairs(f"a.key <=> b.key AND b.n > a.n AND {WINDOW}", first, second) == [(0, 0)]


def test_no_pairs() -> None:
    assert pairs(f"a.key = b.key AND {WINDOW}", table(("x", 1, 0)), table(("x", 1, 11))) == []

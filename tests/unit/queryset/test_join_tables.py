"""Joins of whole tables: every pair once, in one order, whatever finds it first."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import EddylineError, QuerySet, Stream

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


@pytest.mark.parametrize("kind", [pa.string_view(), pa.run_end_encoded(pa.int32(), pa.string())])
def test_tables_that_are_not_by_time_may_have_any_layout(kind: pa.DataType) -> None:
    texts = pa.array(["x", "y", "x"])
    first = table(("x", 1, 9), ("y", 2, 5), ("x", 3, 7))
    encoded = texts.cast(kind) if kind == pa.string_view() else pc.run_end_encode(texts)
    unread = first.append_column("unread", encoded)
    assert pairs(f"a.key = b.key AND {WINDOW}", unread.set_column(0, "key", encoded), first) == [
        (0, 0),
        (0, 2),
        (1, 1),
        (2, 0),
        (2, 2),
    ]


def test_a_stream_has_one_table() -> None:
    queries = QuerySet.build(
        {"q": f"SELECT a.n FROM first a JOIN second b ON a.n = b.n AND {WINDOW}"}, streams=STREAMS
    )
    rows = table(("x", 1, 0))
    with pytest.raises(EddylineError, match='two tables of stream "first"'):
        queries.join({"first": rows, "First": rows, "second": rows})


def test_joins_that_fail_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"SELECT a.n FROM first a JOIN second b ON a.key = b.key AND a.n < b.n AND {WINDOW}"
    queries = QuerySet.build({"q": text}, streams=STREAMS)

    def broken(*arguments: object) -> None:
        raise ValueError("no luck")

    monkeypatch.setattr("eddyline.join.step.evaluate_shape", broken)
    found = queries.join({"first": table(("x", 1, 0)), "second": table(("x", 2, 0))})
    assert found.counts() == {"q": 0} and str(found.failed["q"]) == "no luck"
    assert str(pickle.loads(pickle.dumps(found)).failed["q"]) == "no luck"

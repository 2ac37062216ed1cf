"""What goes with queries: versions that grow out of one another share it and do not disturb each other."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from eddyline import Stream
from eddyline.compile import Compiler
from eddyline.model.query import Query
from eddyline.standing.rows.columns import Attributes, Columns, NewRow
from eddyline.standing.rows.distinct import Distinct

TICKS = Stream("ticks", pa.schema({"a": pa.int32()}))
QUERY = Compiler([TICKS]).compile(Query("q", "SELECT a FROM ticks WHERE a > 1"))


def named(*destinations: str) -> list[NewRow]:
    return [(QUERY, Attributes(destination=destination), TICKS) for destination in destinations]


def destinations(columns: Columns, size: int) -> list[str | None]:
    return [columns.attributes(dense).destination for dense in range(size)]


def test_branches_do_not_disturb_each_other() -> None:
    base = Columns().grown(0, named("a", "b"))
    left = base.grown(2, named("left"))
    right = base.grown(2, named("right"))
    changed = base.changed(2, [(0, Attributes(shadow=True, destination="c"))])
    more = changed.grown(2, named("more"))
    assert left is base and more is changed, "who adds to the newest shares its arrays"
    assert destinations(base, 2) == ["a", "b"]
    assert destinations(left, 3) == ["a", "b", "left"]
    assert destinations(right, 3) == ["a", "b", "right"]
    assert destinations(more, 3) == ["c", "b", "more"]
    assert [more.attributes(dense).shadow for dense in range(3)] == [True, False, False]
    assert [columns.attributes(2).number for columns in (left, right, more)] == [2, 3, 3]


def test_branches_that_grow_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share the distinct values: no two of these may get one number."""
    plain = Distinct.__len__

    def slowly(distinct: Distinct[object]) -> int:
        found = plain(distinct)
        time.sleep(0)  # others get their turn between the look at the next number and its use
        return found

    monkeypatch.setattr(Distinct, "__len__", slowly)
    base = Columns().grown(0, named("first"))

    def grow(branch: int) -> list[str | None]:
        columns = base.changed(1, [(0, Attributes(destination=f"{branch} 0"))])
        for step in range(1, 200):
            columns = columns.grown(step, named(f"{branch} {step}"))
        return destinations(columns, 200)

    with ThreadPoolExecutor(4) as pool:
        for branch, found in enumerate(pool.map(grow, range(4))):
            assert found == [f"{branch} {step}" for step in range(200)]

"""Versions of a set do not see what happens in others, and cost what they change."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.index.segment import Segment
from eddyline.model.query import NormalQuery, Query
from eddyline.standing.merging import building
from eddyline.standing.rows.table import SavedRows, Table, checksums

TICKS = Stream("ticks", pa.schema({"a": pa.int32()}))
BATCH = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32())})


def above(bound: int) -> str:
    return f"SELECT * FROM ticks WHERE a > {bound}"


def test_matches_stay_when_the_set_grows() -> None:
    first = QuerySet.build({"one": above(1)}, streams=[TICKS])
    found = first.match(BATCH)
    second = first.add({"two": above(2)})
    assert second.match(BATCH).counts() == {"one": 2, "two": 1}
    assert found.counts() == {"one": 2} == first.match(BATCH).counts()
    assert found.query_lists().to_pylist() == [[], ["one"], ["one"]]


def test_an_id_given_again() -> None:
    first = QuerySet.build({"q": above(1), "other": above(0)}, streams=[TICKS])
    second = first.remove(["q"])
    third = second.add({"q": above(2)})
    assert [version.match(BATCH).counts() for version in (first, second, third)] == [
        {"q": 2, "other": 3},
        {"other": 3},
        {"other": 3, "q": 1},
    ]
    assert ["q" in version for version in (first, second, third)] == [True, False, True]
    assert third.count(BATCH) == {"other": 3, "q": 1}


def test_old_versions_are_read_as_quickly() -> None:
    """Ids that later versions gave are looked up in an old one, without a search through it."""
    old, _ = Table().add([Query(f"old {i}", "") for i in range(20_000)])
    old.add([Query(f"new {i}", "") for i in range(20_000)])
    start = time.process_time()
    assert all(old.find(f"new {i}") is None for i in range(20_000))
    assert time.process_time() - start < 2


def test_a_loaded_table_knows_ids_given_again() -> None:
    columns = [["a", "b", "a"], ["1", "2", "3"], checksums(["a", "b", "a"])]
    table = Table.opened(SavedRows(*[pa.chunked_array([values]) for values in columns]), np.array([0]))
    assert (table.find("a"), table.find("b"), len(table)) == (2, 1, 2)
    assert table.remove([2]).find("a") is None


def test_a_bug_of_ours_takes_nobody_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom compiling fails at is left out; who fail only together are compiled apart."""
    texts = {f"q{i}": above(i % 3) for i in range(40)}
    wanted = QuerySet.build(texts, streams=[TICKS]).count(BATCH)
    plain = building.build_segment

    def build(stream: str, queries: list[NormalQuery], *rest: Any) -> Segment:
        ids = {query.id for query in queries}
        assert "q7" not in ids and not {"q20", "q21"} <= ids, "never seen such queries"
        return plain(stream, queries, *rest)

    monkeypatch.setattr(building, "build_segment", build)
    queries = QuerySet.build(texts, streams=[TICKS])
    assert queries.count(BATCH) == {id: count for id, count in wanted.items() if id != "q7"}
    assert [problem.query for problem in queries.problems] == ["q7"] and len(queries) == 39
    assert "q7" not in queries and len(queries.executors()) <= 6
    monkeypatch.undo()
    more = queries.add({"q7": above(1), "new": above(0)})
    assert more.count(BATCH)["q7"] == wanted["q7"] and not more.problems


def test_matches_travel_to_other_processes() -> None:
    queries = QuerySet.build({f"q{i}": above(i % 3) for i in range(5)}, streams=[TICKS]).remove(["q1"])
    matches = queries.match(BATCH)
    again = pickle.loads(pickle.dumps(matches))
    assert again.counts() == matches.counts() and again.pairs() == matches.pairs()
    (*_, last) = queries.blocks(BATCH, rows=1)
    assert pickle.loads(pickle.dumps(last)).pairs() == last.pairs()


def test_pairs_of_joins_travel_to_other_processes() -> None:
    timed = Stream("timed", pa.schema({"a": pa.int32(), "at": pa.int64()}), event_time="at", lateness=0)
    join = "SELECT 1 AS n FROM timed x JOIN timed y ON x.a = y.a AND y.at BETWEEN x.at AND x.at + "
    texts = {"gone": join + "9", "near": join + "1", "plain": "SELECT * FROM timed", "far": join + "5"}
    queries = QuerySet.build(texts, streams=[timed]).remove(["gone"])
    found = queries.join({"timed": pa.table({"a": pa.array([1, 1, 2], pa.int32()), "at": [0, 4, 4]})})
    again = pickle.loads(pickle.dumps(found))
    assert again.counts() == found.counts() == {"near": 3, "far": 4}
    assert again.pairs() == found.pairs() and repr(again) == repr(found)
    assert [rows.tolist() for rows in again.rows("far")] == [[0, 0, 1, 2], [0, 1, 1, 2]]

"""Lineage by hand: the bits of tuples in flight, what adding and removing does to them, back-pressure, tickets."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest

from eddyline import Compiler, Query, Stream
from eddyline.errors import EddylineError
from eddyline.execute.eddy import Eddy, FixedRouting, TicketRouting, make_policy
from eddyline.execute.eddy.flowing import Flowing
from eddyline.functions.evaluate import Evaluation
from eddyline.model.query import NormalQuery

SCHEMA = pa.schema([(name, pa.int32()) for name in "abcde"])
COMPILER = Compiler([Stream("S", SCHEMA), Stream("R", SCHEMA)])


def query(id: str, where: str, stream: str = "S") -> NormalQuery:
    return COMPILER.compile(Query(id, f"SELECT * FROM {stream} WHERE {where}"))


def push(eddy: Eddy, rows: list[Mapping[str, int | None]], stream: str = "S") -> range:
    batch = pa.RecordBatch.from_pylist([dict.fromkeys("abcde", 0) | dict(row) for row in rows], SCHEMA)
    return eddy.push(stream, Evaluation(batch), len(rows))


def only(eddy: Eddy) -> Flowing:
    """The one tuple in flight."""
    (flowing,) = eddy._in_flight("S")
    return flowing


def outputs(eddy: Eddy) -> list[tuple[int, str]]:
    return [(result.number, result.query) for result in eddy.run()]


def figure_one(**options: object) -> Eddy:
    """The paper's first figure: three queries over two fields."""
    eddy = Eddy(FixedRouting(["a", "b"]), capacity=4, **options)
    for id, where in (("q1", "a > 10 AND b > 5"), ("q2", "a < 10 AND b < 5"), ("q3", "a > 20")):
        eddy.add(query(id, where))
    return eddy


def test_bits_on_the_way() -> None:
    eddy = figure_one()
    push(eddy, [{"a": 30, "b": 9}])
    flowing = only(eddy)
    assert (flowing.ready, flowing.done, flowing.completed) == (0b11, 0b00, 0b1000), (
        "query 3 does not exist yet"
    )
    eddy.step()
    assert (flowing.ready, flowing.done, flowing.completed) == (0b10, 0b01, 0b1110), "q2 rejected, q3 output"
    assert [result.query for result in eddy.take()] == ["q3"]
    assert outputs(eddy) == [(0, "q1")]
    assert eddy.in_flight == 0 and dict(eddy.visits) == {"a": 1, "b": 1}


def test_disjuncts_have_a_bit_each() -> None:
    eddy = Eddy(FixedRouting("abc"), capacity=1)
    eddy.add(query("q", "(a = 1 OR b = 1) AND c = 1"))
    push(eddy, [{"a": 1, "c": 1}, {"b": 1, "c": 1}, {"c": 1}, {"a": 1}])
    assert "mask 111, disjunct 0" in eddy.explain() and "operator 2: c" in eddy.explain()
    assert outputs(eddy) == [(0, "q"), (1, "q")]
    assert dict(eddy.visits) == {"a": 4, "b": 4, "c": 4}, "nothing is cut short"


def test_bits_of_disjuncts_are_used_again() -> None:
    eddy = Eddy()
    for _ in range(3):
        eddy.add(query("q", "(a = 1 OR b = 1) AND (c = 1 OR d = 1)"))
        assert eddy.sources["S"].queries[0].disjuncts == 0b11
        eddy.remove("q")
    assert not eddy.sources["S"].operators


def test_new_queries_see_only_what_comes_after_them() -> None:
    eddy = figure_one()
    push(eddy, [{"a": 30, "b": 9}])
    eddy.add(query("late", "c = 0"))
    assert only(eddy).completed >> 3 & 1, "its bit was set when the tuple came"
    push(eddy, [{"a": 0, "b": 9}])
    assert outputs(eddy) == [(0, "q3"), (0, "q1"), (1, "late")]


def test_a_removed_query_gets_nothing_more_and_its_bit_is_used_again() -> None:
    eddy = figure_one()
    push(eddy, [{"a": 30, "b": 9}])
    eddy.remove("q1")
    assert only(eddy).completed & 1
    eddy.add(query("new", "a > 10 AND b > 5"))
    assert eddy.sources["S"].queries[0].id == "new"
    push(eddy, [{"a": 30, "b": 9}])
    assert sorted(outputs(eddy)) == [(0, "q3"), (1, "new"), (1, "q3")]


def test_an_operator_that_nobody_needs_is_gone_with_the_tuples_that_wait_for_it() -> None:
    eddy = Eddy(FixedRouting("acb"), capacity=4, costs={"a": 50})
    eddy.add(query("one", "a > 10"))
    eddy.add(query("two", "b > 10"))
    push(eddy, [{"a": 11, "b": 11}, {"a": 11, "b": 11}])
    eddy.step()
    assert len(eddy.sources["S"].operators[0].queue) == 1
    eddy.remove("one")
    eddy.add(query("three", "c > 10"))
    assert eddy.sources["S"].operators[0].name == "c", "the operator's bit is used again"
    assert outputs(eddy) == [(0, "two"), (1, "two")]
    assert dict(eddy.visits) == {"b": 2}


def test_removing_the_last_query_lets_tuples_go() -> None:
    eddy = Eddy(capacity=1)
    eddy.add(query("one", "a > 10"))
    push(eddy, [{"a": 11}])
    eddy.remove("one")
    assert eddy.in_flight == 0 and outputs(eddy) == []


def test_queries_without_predicates() -> None:
    eddy = Eddy()
    eddy.add(query("all", "TRUE"))
    eddy.add(query("none", "FALSE"))
    push(eddy, [{}, {}])
    assert outputs(eddy) == [(0, "all"), (1, "all")] and not eddy.visits


def test_a_subject_that_is_always_null() -> None:
    eddy = Eddy()
    eddy.add(query("above", "a > 10"))
    eddy.add(query("null", "a IS NULL"))
    push(eddy, [{"a": None}, {"a": None}])
    assert outputs(eddy) == [(0, "null"), (1, "null")]


@pytest.mark.parametrize("filters", ["grouped", "asc"])
def test_a_subject_that_is_only_asked_for_null(filters: str) -> None:
    schema = pa.schema([("list", pa.list_(pa.int32()))])
    eddy = Eddy(filters=filters)
    eddy.add(
        Compiler([Stream("L", schema)]).compile(Query("there", "SELECT * FROM L WHERE list IS NOT NULL"))
    )
    eddy.push("L", Evaluation(pa.RecordBatch.from_pylist([{"list": [1]}, {"list": None}], schema)), 2)
    assert outputs(eddy) == [(0, "there")]


def test_no_queries_at_all() -> None:
    eddy = Eddy()
    push(eddy, [{}])
    assert eddy.in_flight == 0 and eddy.visited_each == 0


def test_state_is_partitioned_by_source() -> None:
    eddy = figure_one()
    eddy.add(query("other", "e > 3", stream="R"))
    assert eddy.sources["R"].queries[0].mask == 1, "bits count from zero in every source"
    push(eddy, [{"a": 30, "b": 9}])
    push(eddy, [{"e": 4}], stream="R")
    assert sorted(outputs(eddy)) == [(0, "q1"), (0, "q3"), (1, "other")]


def test_back_pressure_sends_tuples_to_the_quick_operator_first() -> None:
    first: dict[int, int] = {}
    for cost in (1, 20):
        eddy = Eddy(FixedRouting("ab"), queue=2, costs={"a": cost})
        eddy.add(query("both", "a > 10 AND b > 10"))
        push(eddy, [{}] * 60)  # whichever comes first drops the tuple
        eddy.run()
        first[cost] = eddy.visits["a"]
    assert first[1] == 60 and first[20] < 15


def test_tickets_stay_with_those_who_drop() -> None:
    policy = TicketRouting()
    eddy = Eddy(policy)
    eddy.add(query("one", "a > 10 AND b > 10"))
    eddy.add(query("two", "a > 20 AND b > 10"))
    push(eddy, [{"a": 0, "b": 11}] * 50)
    eddy.run()
    assert policy.held() == {"a": 1 + 2 * 50, "b": 1}, "two predicates each; never below one"


def test_tickets_of_a_removed_operator_are_gone() -> None:
    policy = TicketRouting()
    eddy = Eddy(policy)
    eddy.add(query("one", "a > 10"))
    push(eddy, [{}] * 5)
    eddy.run()
    eddy.remove("one")
    eddy.add(query("two", "b > 10"))
    push(eddy, [{"b": 11}])
    eddy.run()
    assert policy.held() == {"b": 1}


@pytest.mark.parametrize("policy", ["fixed", "random", "ticket"])
@pytest.mark.parametrize("filters", ["grouped", "asc"])
def test_filters_that_no_live_query_needs(policy: str, filters: str) -> None:
    """With `needed_only` nobody is sent to a filter in vain, and matches stay."""
    found = []
    for needed_only in (False, True):
        eddy = Eddy(make_policy(policy), filters=filters, needed_only=needed_only)
        eddy.add(query("one", "a > 10 AND b > 10"))
        eddy.add(query("two", "c > 10"))
        push(eddy, [{"a": a, "b": b, "c": c} for a in (0, 11) for b in (0, 11) for c in (0, 11)])
        found.append((sorted(outputs(eddy)), sum(eddy.visits.values())))
    assert found[0][0] == found[1][0] and found[1][1] < found[0][1]


def test_refusals() -> None:
    eddy = Eddy(capacity=1)
    eddy.add(query("one", "a > 10"))
    with pytest.raises(EddylineError, match="no room for more than 1 queries"):
        eddy.add(query("two", "a > 10"))
    with pytest.raises(EddylineError, match="is there already"):
        eddy.add(query("one", "a > 10"))
    with pytest.raises(EddylineError, match='query "three" is not known'):
        eddy.remove("three")
    with pytest.raises(EddylineError, match="queue 0 makes no sense"):
        Eddy(queue=0)
    with pytest.raises(EddylineError, match="one of grouped, asc"):
        Eddy(filters="sieve")
    with pytest.raises(EddylineError, match="one of fixed, random, ticket"):
        make_policy("clever")

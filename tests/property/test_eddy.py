"""Any queries on any rows: eddies find the reference's matches, however they route, also while queries come and go."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from eddyline import Compiler, Query, reference
from eddyline.errors import EddylineError, QueryError
from eddyline.execute.eddy import POLICIES, Eddy, make_policy
from eddyline.execute.eddy.clauses import clauses_of, simple
from eddyline.functions.evaluate import Evaluation
from eddyline.model.query import NormalQuery
from eddyline.testing.queries import draw_statement
from eddyline.testing.rows import EVERYTHING, benign_rows, nasty_rows
from eddyline.testing.shrink import shrink
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement
from tests.property.test_rowwise import COLUMNS

SEEDS = st.integers(0, 10**9)
EDDIES = st.fixed_dictionaries(
    {
        "filters": st.sampled_from(["grouped", "asc"]),
        "queue": st.sampled_from([1, 3]),
        "needed_only": st.booleans(),
    }
)
ROWS = 12
Pairs = set[tuple[int, str]]


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """A random statement; hypothesis looks for a failing one of fewer nodes."""
    return draw_statement(random.Random(draw(SEEDS)), size=draw(st.integers(2, 14)))


def compiled(id: str, sql: str) -> NormalQuery | None:
    """The normal form, if the query is accepted and its clauses are not too many for an eddy."""
    try:
        query = Compiler([EVERYTHING]).compile(Query(id, sql))
        clauses_of(query.predicate, simple)
    except (QueryError, EddylineError):
        return None
    return query


def evaluation(batch: pa.RecordBatch) -> Evaluation:
    return Evaluation(dict(zip(batch.schema.names, batch.columns, strict=True)), rows=batch.num_rows)


def routed(queries: list[NormalQuery], batch: pa.RecordBatch, policy: str, options: dict[str, Any]) -> Pairs:
    eddy = Eddy(make_policy(policy, seed=1), **options)
    for query in queries:
        eddy.add(query)
    eddy.push("everything", evaluation(batch), batch.num_rows)
    results = eddy.run()
    assert not eddy.in_flight
    found = {(result.row, result.query) for result in results}
    assert len(found) == len(results), "no tuple twice to one query"
    return found


def judged(queries: list[NormalQuery], batch: pa.RecordBatch) -> Pairs:
    found = reference.match({query.id: query.sql for query in queries}, batch, streams=[EVERYTHING])
    return {(row, query.id) for query in queries for row in found.rows(query.id).tolist()}


def smallest(statement: Statement, batch: pa.RecordBatch, policy: str, options: dict[str, Any]) -> str:
    def fails(candidate: Statement, rows: pa.RecordBatch) -> bool:
        query = compiled("q", statement_text(candidate))
        return query is not None and routed([query], rows, policy, options) != judged([query], rows)

    if fails(statement, batch):
        statement, batch = shrink(statement, batch, fails)
    return f"{statement_text(statement)}\non {batch.to_pylist()}"


def check(drawn: list[Statement], batch: pa.RecordBatch, options: dict[str, Any]) -> None:
    by_id = {str(place): one for place, one in enumerate(drawn)}
    found = [compiled(id, statement_text(one)) for id, one in by_id.items()]
    queries = [query for query in found if query is not None]
    expected = judged(queries, batch)
    for policy in POLICIES:
        wrong = routed(queries, batch, policy, options) ^ expected
        if wrong:
            _, id = min(wrong)
            raise AssertionError(f"{policy}, {options}: {smallest(by_id[id], batch, policy, options)}")


@settings(max_examples=15)
@given(st.lists(statements(), min_size=1, max_size=8), SEEDS, st.booleans(), EDDIES)
def test_same_matches_as_the_reference(
    drawn: list[Statement], seed: int, nasty: bool, options: dict[str, Any]
) -> None:
    check(drawn, (nasty_rows if nasty else benign_rows)(seed, ROWS), options)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(statements(), min_size=1, max_size=25), SEEDS, EDDIES)
def test_many_queries(drawn: list[Statement], seed: int, options: dict[str, Any]) -> None:
    check(drawn, nasty_rows(seed, 30), options)


@pytest.mark.parametrize("filters", ["grouped", "asc"])
@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_every_type(column: str, filters: str) -> None:
    """Comparisons of a column with constants of its type."""
    source = random.Random(column)
    draw = COLUMNS[column]
    wheres = [f"{column} {operator} {draw(source)}" for operator in ("=", "<", "<=", ">", ">=", "<>") * 3]
    wheres += [f"{column} IN ({draw(source)}, {draw(source)})", f"{column} IS NULL", f"{column} IS NOT NULL"]
    found = [compiled(str(i), f"SELECT * FROM everything WHERE {where}") for i, where in enumerate(wheres)]
    queries = [query for query in found if query is not None]
    for batch in (nasty_rows(1, 60), benign_rows(1, 60)):
        assert routed(queries, batch, "random", {"filters": filters}) == judged(queries, batch)


CONJUNCTS = ("i32 > 0", "i32 <> 3", "j32 <= 5", "f64 >= 1", "s1 = 'a'", "b1", "i64 IS NOT NULL", "TRUE")


@st.composite
def clauses(draw: st.DrawFn) -> str:
    """An AND of ORs, as CACQ has them."""
    groups = draw(
        st.lists(st.lists(st.sampled_from(CONJUNCTS), min_size=1, max_size=3), min_size=1, max_size=3)
    )
    return " AND ".join(f"({' OR '.join(group)})" for group in groups)


class InFlight(RuleBasedStateMachine):
    """Queries come and go while tuples are on their way.

    A tuple is output to exactly the queries that match it among those that were there when it was pushed; those that
    were removed since may have got it before. Bits are few, so that they are soon used again.
    """

    @initialize(
        policy=st.sampled_from(POLICIES),
        options=EDDIES,
        wheres=st.lists(clauses(), min_size=2, max_size=4),
        seed=SEEDS,
    )
    def start(self, policy: str, options: dict[str, Any], wheres: list[str], seed: int) -> None:
        self.eddy = Eddy(make_policy(policy), capacity=4, **options)
        self.live: dict[str, NormalQuery] = {}
        self.wanted: Pairs = set()
        self.perhaps: Pairs = set()
        self.found: list[tuple[int, str]] = []
        self.ids = 0
        for where in wheres:
            self.add(where)
        self.push(seed, 3)

    @precondition(lambda self: len(self.live) < 4)
    @rule(where=clauses())
    def add(self, where: str) -> None:
        query = compiled(f"q{self.ids}", f"SELECT * FROM everything WHERE {where}")
        self.ids += 1
        assert query is not None
        self.eddy.add(query)
        self.live[query.id] = query

    @precondition(lambda self: self.live)
    @rule(place=st.integers(0, 3))
    def remove(self, place: int) -> None:
        self.collect()
        id = list(self.live)[place % len(self.live)]
        self.eddy.remove(id)
        del self.live[id]
        gone = {pair for pair in self.wanted if pair[1] == id}
        self.wanted -= gone
        self.perhaps |= gone & set(self.found)  # what was not output before the removal never is

    @rule(seed=SEEDS, count=st.integers(1, 4))
    def push(self, seed: int, count: int) -> None:
        batch = benign_rows(seed, count)
        numbers = self.eddy.push("everything", evaluation(batch), count)
        self.wanted |= {(numbers[row], id) for row, id in judged(list(self.live.values()), batch)}

    @rule(steps=st.integers(1, 6))
    def flow(self, steps: int) -> None:
        for _ in range(steps):
            self.eddy.step()

    @invariant()
    def collect(self) -> None:
        if hasattr(self, "eddy"):
            self.found += [(result.number, result.query) for result in self.eddy.take()]

    def teardown(self) -> None:
        if hasattr(self, "eddy"):
            self.found += [(result.number, result.query) for result in self.eddy.run()]
            assert len(set(self.found)) == len(self.found), "no tuple twice to one query"
            assert set(self.found) == self.wanted | self.perhaps
            assert self.eddy.in_flight == 0


TestInFlight = InFlight.TestCase
TestInFlight.settings = settings(max_examples=60, stateful_step_count=20)

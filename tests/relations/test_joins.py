"""Relations between joins: no false verdict over every pair of tiny rows, every proof replayed, every pair confirmed."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache, reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.errors import QueryError, UsageError
from eddyline.implication.check_proof import check_proof
from eddyline.implication.facts import FACTS, facts_about
from eddyline.implication.facts.event_times import ELAPSED, event_times_of
from eddyline.implication.search import Budget
from eddyline.model.expression import Call
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.reference import Push, evaluate, join
from eddyline.relations.joins.pairs import JoinSide
from eddyline.relations.question import Answer, Row, Terms
from tests.comparisons import compared
from tests.conftest import blocks
from tests.relations.tiny_joins import JOINS, ROWS, WINDOW, TinyJoins

PATIENT = Terms(budget=Budget(seconds=5))  # a busy machine must not change an answer
MANY = 14


def is_joined(tiny: TinyJoins, side: JoinSide, row: Row) -> bool:
    """Whether the reference joins these two tuples where they are all there is."""
    pairs = tiny.pairs()
    first, second = pairs.by_source(row)
    pushes = [
        Push(stream.name, pa.RecordBatch.from_pylist([part], stream.schema))
        for stream, part in zip(tiny.streams, (first, second), strict=True)
    ]
    found = join(
        [side.join.bound],
        pushes,
        streams=list(dict.fromkeys(tiny.streams)),
        complete=True,
        join_window=WINDOW,
    )
    itself = tiny.streams[0] == tiny.streams[1]
    return any(not itself or (pair.first, pair.second) == (0, 1) for pair in found.pairs)


def check(
    answer: Answer, impossible: bool, shown: tuple[list[JoinSide], list[JoinSide]], tiny: TinyJoins
) -> None:
    wanted, unwanted = shown
    question = [[side.join.bound.sql for side in sides] for sides in shown]
    if answer.proof is not None:
        assert impossible, f"proven, but there is a pair: {question}"
        check_proof(answer.proof)
    if answer.row is not None:
        assert all(is_joined(tiny, side, answer.row) for side in wanted), question
        assert not any(is_joined(tiny, side, answer.row) for side in unwanted), question


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(12, quick=(0,)))
@pytest.mark.parametrize("name", JOINS)
def test_every_pair_of_rows(name: str, block: int) -> None:
    tiny = JOINS[name]
    rng = random.Random(f"{name} {block}")
    texts = tiny.joins(rng, MANY)
    pairs, sides = tiny.pairs(), tiny.sides(texts)
    truths = tiny.truths(texts, sides)
    # a key that is no column
    odd = {side for side, text in zip(sides, texts, strict=True) if "v + 1" in text}
    proven = unknown = 0
    for one, true in zip(sides, truths, strict=True):
        never = pairs.ask([one], [], PATIENT)
        check(never, not true.any(), ([one], []), tiny)
        for other, also in zip(sides, truths, strict=True):
            answer = pairs.ask([one], [other], PATIENT)
            check(answer, not np.any(true & ~also), ([one], [other]), tiny)
            proven += answer.proof is not None
            unknown += answer.reason is not None and not {one, other} & odd
    for (one, true), (other, also) in zip(
        zip(sides, truths, strict=True), zip(sides[1:], truths[1:], strict=True), strict=False
    ):
        check(pairs.ask([one, other], [], PATIENT), not np.any(true & also), ([one, other], []), tiny)
    compared("joins: every pair of rows", len(sides) ** 2)
    assert proven > len(sides), "too few are implied to learn from"
    assert unknown <= 0.05 * (len(sides) - len(odd)) ** 2


@pytest.mark.parametrize("name", JOINS)
def test_facts_are_true_of_every_pair_of_rows(name: str) -> None:
    tiny = JOINS[name]
    rng = random.Random(name)
    pairs, sides = tiny.pairs(), tiny.sides(tiny.joins(rng, 20))
    rows = [
        {f"a.{key}": value for key, value in first.items()}
        | {f"b.{key}": value for key, value in second.items()}
        for first in ROWS[::3]
        for second in ROWS[::5]
        if first["n"] is not None and second["n"] is not None
    ]

    @cache
    def holds(condition: Condition) -> npt.NDArray[np.bool_]:
        subject = condition.subject
        if isinstance(subject, Call) and subject.function == ELAPSED:
            return np.array([row["b.n"] - row["a.n"] in condition.regions for row in rows])
        return np.array([evaluate(subject, row) in condition.regions for row in rows])

    def truth(predicate: Predicate) -> npt.NDArray[np.bool_]:
        if isinstance(predicate, Condition):
            return holds(predicate)
        combine, start = (np.logical_and, True) if isinstance(predicate, And) else (np.logical_or, False)
        return reduce(combine, map(truth, predicate.parts), np.full(len(rows), start))

    seen: set[Predicate] = set()
    names = set()
    for one, other in pairwise(sides):
        for fact in facts_about(
            [one.predicate, other.predicate], "UTC", (*FACTS, event_times_of(pairs.times))
        ):
            if fact.predicate not in seen:
                seen.add(fact.predicate)
                names.add(fact.name)
                true = truth(fact.predicate)
                assert true.all(), f"{fact.name} is wrong for {rows[int(np.argmin(true))]}: {fact.predicate}"
    compared("joins: facts", len(seen))
    assert "event_times" in names and len(seen) > 100


QUOTES = ed.Stream(
    "quotes",
    pa.schema(
        [
            ("symbol", pa.string()),
            ("price", pa.float64()),
            ("size", pa.int32()),
            ("ts", pa.timestamp("us", "UTC")),
        ]
    ),
    event_time="ts",
    lateness="1 minute",
)
TRADES = replace(QUOTES, name="trades", schema=QUOTES.schema.set(2, pa.field("size", pa.int64())))
BOTH = [QUOTES, TRADES]
NEAR = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"


def joined(where: str, near: str = NEAR) -> str:
    return f"SELECT q.price FROM quotes q JOIN trades t ON q.symbol = t.symbol AND {near} WHERE {where}"


EQUIVALENT = {
    "ON and WHERE": (
        joined("q.price < 5"),
        f"SELECT 1 AS one FROM quotes q, trades t WHERE q.price < 5 AND {NEAR} AND q.symbol = t.symbol",
    ),
    "USING": (
        f"SELECT 1 AS one FROM quotes q JOIN trades t USING (symbol) WHERE {NEAR}",
        f"SELECT 1 AS one FROM quotes q JOIN trades t ON t.symbol = q.symbol WHERE {NEAR}",
    ),
    "other names, other order": (
        joined("q.price < 5"),
        "SELECT 1 AS one FROM trades x JOIN quotes y ON x.symbol = y.symbol "
        "AND x.ts BETWEEN y.ts AND y.ts + INTERVAL 5 SECONDS WHERE y.price < 5",
    ),
    "BETWEEN and two bounds": (
        joined("true"),
        joined("true", "t.ts >= q.ts AND t.ts <= q.ts + INTERVAL 5 SECONDS"),
    ),
    "an INTERVAL moved": (
        joined("true"),
        joined("true", "t.ts - INTERVAL 5 SECONDS <= q.ts AND t.ts - q.ts >= INTERVAL 0 SECONDS"),
    ),
    "NOT": (joined("true"), joined("true", "NOT (t.ts < q.ts OR t.ts > q.ts + INTERVAL 5 SECONDS)")),
    "an open end": (
        joined("true"),
        joined("true", "t.ts >= q.ts AND t.ts < q.ts + INTERVAL 5 SECONDS + INTERVAL 1 MICROSECOND"),
    ),
    "a condition on either key": (joined("q.symbol = 'A'"), joined("t.symbol = 'A'")),
    "OR across the streams": (
        joined("q.price < 5 OR t.price < 5"),
        joined("NOT (coalesce(q.price >= 5, true) AND coalesce(t.price >= 5, true))"),
    ),
    "a window in two parts": (
        joined("true"),
        joined("true", "(t.ts = q.ts OR t.ts > q.ts AND t.ts <= q.ts + INTERVAL 5 SECONDS)"),
    ),
    "the join window": (
        joined("true", "true"),
        joined("true", "t.ts - q.ts BETWEEN -INTERVAL 5 SECONDS AND INTERVAL 5 SECONDS"),
    ),
}


@pytest.mark.parametrize("name", EQUIVALENT)
def test_rewritten(name: str) -> None:
    one, other = EQUIVALENT[name]
    found = ed.equivalent(one, other, streams=BOTH, join_window="5 seconds", budget=ed.Budget(seconds=5))
    assert found, str(found)
    for proof in found.proofs:
        check_proof(proof)


IMPLIED = {
    "a narrower window": (joined("true", "t.ts BETWEEN q.ts AND q.ts + INTERVAL 4 SECONDS"), joined("true")),
    "one condition more": (joined("q.price < 5 AND t.price > 3"), joined("q.price < 6")),
    "one key more": (joined("q.size = t.size"), joined("true")),
    "strict and null-safe": (joined("true"), joined("true").replace("q.symbol = t", "q.symbol <=> t")),
    "less than and at most": (joined("q.price < t.price"), joined("q.price <= t.price")),
    "through the key": (joined("q.symbol IN ('A', 'B')"), joined("t.symbol < 'C'")),
    "through a key of another type": (
        joined("q.size = t.size AND q.size BETWEEN 1 AND 3"),
        joined("q.size = t.size AND t.size < 4"),
    ),
    "through time": (
        joined("q.ts > TIMESTAMP'2020-01-01 00:00:00'"),
        joined("t.ts > TIMESTAMP'2020-01-01 00:00:00'"),
    ),
    "an alternative": (joined("q.price < 5"), joined("q.price < 5 OR t.price < 5")),
}


@pytest.mark.parametrize("name", IMPLIED)
def test_implied_but_not_the_other_way_round(name: str) -> None:
    found = ed.relate(*IMPLIED[name], streams=BOTH, budget=ed.Budget(seconds=5))
    assert found.verdict == "implies", str(found)
    assert found.forward.proof is not None
    check_proof(found.forward.proof)


def test_empty_windows_and_contradictions_are_never_true() -> None:
    late = joined("true", "t.ts > q.ts + INTERVAL 5 SECONDS AND t.ts < q.ts + INTERVAL 5 SECONDS")
    assert ed.never_true(late, streams=BOTH)
    assert ed.never_true(joined("q.symbol = 'A' AND t.symbol = 'B'"), streams=BOTH)
    assert ed.never_true(joined("q.ts > t.ts"), streams=BOTH)
    assert not ed.never_true(joined("true"), streams=BOTH)
    assert ed.disjoint(joined("q.symbol = 'A'"), joined("t.symbol > 'B'"), streams=BOTH)


def test_a_pair_has_a_row_for_each_alias() -> None:
    found = ed.implies(joined("q.price < 10"), joined("q.price < 5"), streams=BOTH)
    assert found.verdict == "not implied"
    assert found.row is not None and set(found.row) == {"q", "t"}
    assert found.row["q"]["price"] == 7.0 and set(found.row["t"]) == {"symbol", "price", "size", "ts"}
    assert str(found).startswith("the first query does not imply the second query\n  pair {q.symbol: ''")


def test_a_stream_joined_with_itself_keeps_the_order_of_its_names() -> None:
    text = "SELECT 1 AS one FROM quotes {} JOIN quotes {} ON a.symbol = b.symbol AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS"
    assert ed.equivalent(text.format("a", "b"), text.format("a", "b"), streams=QUOTES)
    other = text.replace("a.", "x.").replace("b.", "y.").format("x", "y")
    assert ed.equivalent(text.format("a", "b"), other, streams=QUOTES)
    assert (
        ed.equivalent(text.format("a", "b"), text.format("b", "a"), streams=QUOTES).verdict
        == "not equivalent"
    )


def test_refusals() -> None:
    with pytest.raises(UsageError, match="the first query joins two streams, the second one reads one"):
        ed.implies(joined("true"), "SELECT * FROM quotes", streams=BOTH)
    itself = joined("true").replace("trades", "quotes")
    with pytest.raises(
        UsageError, match='join different streams, "quotes" with "trades" and "quotes" with "quotes"'
    ):
        ed.implies(joined("true"), itself, streams=BOTH)
    with pytest.raises(UsageError, match="not to joins"):
        ed.implies(joined("true"), joined("true"), streams=BOTH, given=["q.price > 3"])
    with pytest.raises(QueryError, match="not bound in time"):
        ed.implies(joined("true", "true"), joined("true"), streams=BOTH)

"""No false "implied", ever: pairs of random predicates over streams of which every row is tried by the reference."""

from __future__ import annotations

import random
from functools import cache, reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from eddyline.implication.check_proof import check_proof
from eddyline.implication.facts import FACTS, facts_about
from eddyline.implication.search import Budget
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.reference.evaluate import evaluate
from eddyline.relations.question import Answer, Side, Terms, ask
from tests.comparisons import compared
from tests.conftest import blocks
from tests.relations.tiny import STREAMS, TinyStream

PATIENT = Terms(budget=Budget(seconds=10.0))  # on a busy machine, too, what can be decided is

QUERIES = {"columns": 308}  # over columns alone a pair takes a tenth of a millisecond
FEW = 33
EVERY = 50  # one of so many proofs is replayed

pytestmark = pytest.mark.slow


@cache
def judged(name: str, block: int) -> tuple[TinyStream, list[Side], list[npt.NDArray[np.bool_]]]:
    tiny = STREAMS[name]
    rng = random.Random(f"{name} {block}")
    sides = [tiny.side(tiny.condition(rng)) for _ in range(QUERIES.get(name, FEW))]
    return tiny, sides, [tiny.truth(side) for side in sides]


def check(answer: Answer, impossible: bool, tiny: TinyStream, question: str) -> None:
    """A proof needs that no row was found, a row that one was, where all that can be told apart are tried."""
    if answer.proof is not None:
        assert impossible, f"proven, but there is a row: {question}"
    if answer.row is not None:
        assert not impossible or not tiny.complete, f"there is no row, but one is shown: {question}"


@pytest.mark.parametrize("block", blocks(4, quick=(0,)))
@pytest.mark.parametrize("name", STREAMS)
def test_implied_means_implied(name: str, block: int) -> None:
    tiny, sides, truths = judged(name, block)
    proofs = unknown = 0
    for one, true in zip(sides, truths, strict=True):
        for other, also in zip(sides, truths, strict=True):
            answer = ask(tiny.stream, [one], [other], PATIENT)
            check(answer, not np.any(true & ~also), tiny, f"{one.bound.sql} implies {other.bound.sql}")
            unknown += answer.reason is not None
            if answer.proof is not None:
                proofs += 1
                if proofs % EVERY == 0:
                    check_proof(answer.proof)
    compared("every row: implied", len(sides) ** 2)
    assert proofs > len(sides), "too few pairs are implied to learn from"
    assert unknown == 0 or name != "columns", "over columns alone everything is decided"


@pytest.mark.parametrize("name", STREAMS)
def test_disjoint_and_never_true(name: str) -> None:
    tiny, sides, truths = judged(name, 0)
    for number, (one, true) in enumerate(zip(sides, truths, strict=True)):
        answer = ask(tiny.stream, [one], [], Terms())
        check(answer, not true.any(), tiny, f"{one.bound.sql} is never true")
        other, also = sides[number - 1], truths[number - 1]
        answer = ask(tiny.stream, [one, other], [], Terms())
        check(answer, not np.any(true & also), tiny, f"{one.bound.sql} is disjoint from {other.bound.sql}")
        given, holds = sides[number - 2], truths[number - 2]
        answer = ask(tiny.stream, [one], [other], Terms(given=[given]))
        check(
            answer,
            not np.any(true & ~also & holds),
            tiny,
            f"{one.bound.sql}, {other.bound.sql}, {given.bound.sql}",
        )
    compared("every row: disjoint, never true", 3 * len(sides))


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "columns"])
def test_facts_are_true_of_every_row(name: str) -> None:
    tiny, sides, _ = judged(name, 0)

    @cache
    def holds(condition: Condition) -> npt.NDArray[np.bool_]:
        values = [evaluate(condition.subject, row) for row in tiny.rows]
        return np.array([value in condition.regions for value in values])

    def truth(predicate: Predicate) -> npt.NDArray[np.bool_]:
        if isinstance(predicate, Condition):
            return holds(predicate)
        combine, start = (np.logical_and, True) if isinstance(predicate, And) else (np.logical_or, False)
        return reduce(combine, map(truth, predicate.parts), np.full(len(tiny.rows), start))

    seen: set[object] = set()
    for one, other in pairwise(sides):
        for fact in facts_about([one.normal.predicate, other.normal.predicate], "UTC"):
            if fact.predicate in seen:
                continue
            seen.add(fact.predicate)
            true = truth(fact.predicate)
            row = None if true.all() else tiny.rows[int(np.argmin(true))]
            assert row is None, f"{fact.name} is wrong for {row}: {fact.predicate}"
    compared("every row: facts", len(seen))
    assert len(seen) > 10


@pytest.mark.parametrize("without", FACTS, ids=lambda fact: fact.__name__)
def test_a_fact_less_only_weakens(without: object) -> None:
    tiny, sides, _ = judged("texts", 1)
    fewer = [fact for fact in FACTS if fact is not without]
    for one, other in zip(sides, sides[3:], strict=False):
        weak = ask(tiny.stream, [one], [other], Terms(facts=fewer))
        strong = ask(tiny.stream, [one], [other], Terms())
        if weak.proof is not None:
            assert strong.proof is not None

"""What is said of a whole set is what a search says of each of its pairs: many types, every kind of index."""

from __future__ import annotations

import random

import pytest

from eddyline import Budget, Query, QuerySet
from eddyline.relations.pair import side
from eddyline.relations.question import Side, Terms, ask
from eddyline.relations.redundancies import Redundancies
from tests.conftest import blocks
from tests.relations.test_plain_boxes import SETTINGS, STREAM, atom

QUERIES = 60
PATIENT = Budget(seconds=10)  # else verdicts depend on how busy the machine is

Pairs = set[tuple[str, str]]


def condition(rng: random.Random) -> str:
    text = " AND ".join(atom(rng) for _ in range(rng.choice((1, 1, 2, 3))))
    if rng.random() < 0.25:
        text = f"({text}) OR ({atom(rng)})"
    return f"NOT ({text})" if rng.random() < 0.1 else text


def implies(one: Side, *others: Side) -> bool:
    return ask(STREAM, [one], others, Terms(budget=PATIENT)).proof is not None


def listed(found: Redundancies, relation: str) -> Pairs:
    rows = found.table.to_pylist()
    return {(row["query"], row["other"]) for row in rows if row["relation"] == relation}


@pytest.mark.slow
@pytest.mark.parametrize("seed", blocks(40, quick=[2]))
def test_a_set_says_what_a_search_says_of_each_pair(seed: int) -> None:
    rng = random.Random(seed)
    texts = {f"q{n}": f"SELECT * FROM s WHERE {condition(rng)}" for n in range(QUERIES)}
    settings = list(SETTINGS.values())[seed % len(SETTINGS)]
    queries = QuerySet.build(texts, streams=[STREAM], settings=settings)
    found = queries.redundancies(budget=PATIENT)
    sides = {id: side(queries._version.compiler, Query(id, sql)) for id, sql in texts.items()}
    implied = {(a, b) for a in sides for b in sides if a != b and implies(sides[a], sides[b])}
    same, covered = listed(found, "equivalent"), listed(found, "implied")
    never = {one for one, _ in listed(found, "never true")}
    assert same | {(b, a) for a, b in same} | covered <= implied
    later = {one for one, _ in same}
    impossible = {id for id in sides if implies(sides[id])}
    assert never <= impossible <= never | later | set(found.uncompared)
    leaders = set(texts) - later - never
    for id in leaders - set(found.uncompared):
        wider = {b for a, b in implied if a == id and b in leaders and (b, a) not in implied}
        told = {b for a, b in covered if a == id}
        assert told <= wider and len(told) == min(3, len(wider))
        assert found.more.get(id, 0) == max(0, len(wider) - 3)
    one_way = {(a, b) for a, b in implied if (b, a) not in implied and a not in impossible}
    for id in sorted(leaders - set(found.uncompared))[:5]:
        own = queries.relations(id, budget=PATIENT)
        assert listed(own, "implied") == {(a, b) for a, b in one_way if a == id}
        assert listed(own, "implies") == {(b, a) for a, b in one_way if b == id}

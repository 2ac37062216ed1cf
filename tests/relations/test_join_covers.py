"""Which joins of a set cover which: all of what pairwise questions find, in few of them."""

from __future__ import annotations

import random
from itertools import permutations, product

import pytest

from eddyline import Compiler, Query
from eddyline.relations.joins.covers import JoinCovers, covers_of_join, join_covers, keys_of
from eddyline.relations.joins.pairs import CompiledJoin
from tests.comparisons import compared
from tests.relations.test_joins import BOTH, PATIENT, joined
from tests.relations.tiny_joins import JOINS


def compiled(compiler: Compiler, texts: dict[int, str]) -> dict[int, CompiledJoin]:
    return {number: CompiledJoin.of(compiler, Query(str(number), text)) for number, text in texts.items()}


def among(joins: dict[int, CompiledJoin], compiler: Compiler) -> JoinCovers:
    found = JoinCovers()
    join_covers(joins, compiler, PATIENT, found)
    return found


def expanded(found: JoinCovers) -> set[tuple[int, int]]:
    """All pairs of a join and its cover, whoever stands for them."""
    same = {numbers[0]: numbers for numbers in found.same}
    covers = {(one, other) for a, b in found.covered for one, other in product(same[a], same[b])}
    return covers | {pair for numbers in found.same for pair in permutations(numbers, 2)}


def test_a_small_set() -> None:
    compiler = Compiler(BOTH)
    texts = {
        3: joined("q.price < 10"),
        5: joined("q.price < 5"),
        6: joined("q.price < 5 AND t.price > 3"),
        8: joined("10 > q.price").replace("q.", "x.").replace(" q ", " x "),
        9: joined("q.symbol = 'A' AND t.symbol = 'B'"),
        11: joined("q.price < 5").replace("trades", "quotes"),
    }
    found = among(compiled(compiler, texts), compiler)
    assert expanded(found) == {(3, 8), (5, 3), (5, 8), (6, 3), (6, 5), (6, 8), (8, 3)}
    assert found.never == [9] and found.unknown == []


@pytest.mark.parametrize("name", JOINS)
def test_as_asked_one_by_one(name: str) -> None:
    tiny, rng = JOINS[name], random.Random(name)
    texts = tiny.joins(rng, 24)
    compiler, pairs, sides = tiny.compiler(), tiny.pairs(), tiny.sides(texts)
    found = among(compiled(compiler, dict(enumerate(texts))), compiler)
    assert set(found.never) == {i for i, side in enumerate(sides) if pairs.ask([side], [], PATIENT).proof}
    listed, undecided = expanded(found), {(one, other) for one, other, _ in found.unknown}
    skipped = set(found.never) | {one for one, other, _ in found.unknown if other is None}
    for one, other in permutations(range(len(texts)), 2):
        answer = pairs.ask([sides[one]], [sides[other]], PATIENT)
        if (one, other) in listed:
            assert answer.proof is not None, (texts[one], texts[other])
        elif answer.proof is not None and not {one, other} & skipped:
            assert (one, other) not in undecided
            assert not keys_of(sides[one].predicate) & keys_of(sides[other].predicate), "they share a key"
    compared("joins: covers of a set", len(texts) ** 2)
    assert len(listed) > 5


def test_joins_of_one_predicate_are_asked_about_once() -> None:
    compiler = Compiler(BOTH)
    one = joined("q.price < 5 AND (t.price > 3 OR q.size = 1)")
    other = (
        "SELECT 1 AS one FROM trades b JOIN quotes a ON (a.size = 1 OR b.price > 3) AND a.price < 5 "
        "WHERE b.symbol = a.symbol AND b.ts - a.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 5 SECONDS"
    )
    wider = one.replace("5 SECONDS", "6 SECONDS")
    itself = one.replace("trades", "quotes")
    found = among(compiled(compiler, {4: other, 2: wider, 7: one, 3: itself, 5: itself}), compiler)
    assert found.same == [[4, 7], [2], [3, 5]] and found.covered == [(4, 2)]


@pytest.mark.parametrize("name", JOINS)
def test_one_among_others(name: str) -> None:
    tiny, rng = JOINS[name], random.Random(name)
    texts = tiny.joins(rng, 16)
    compiler = tiny.compiler()
    joins = compiled(compiler, dict(enumerate(texts)))
    every = expanded(among(joins, compiler))
    for own in range(len(texts)):
        found = about(own, expanded(covers_of_join(own, joins, compiler, PATIENT)))
        assert found == about(own, every)
        covering = about(own, expanded(covers_of_join(own, joins, compiler, PATIENT, covers_only=True)))
        wider = {(one, other) for one, other in found if one == own}
        assert covering == wider | {(other, one) for one, other in wider if (other, one) in found}


def about(own: int, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {pair for pair in pairs if own in pair}

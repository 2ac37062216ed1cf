"""Pairs with known answers: a condition and another way to write it; a condition and one that differs in one place."""

from __future__ import annotations

import math
import random

import pytest

from eddyline.implication.check_proof import check_proof
from eddyline.reference.evaluate import evaluate
from tests.comparisons import compared
from tests.conftest import blocks
from tests.relations.agreement import answer_to
from tests.relations.conditions import KINDS, WIDE, Tree, column_atom, random_tree, side_of
from tests.relations.rewrites import RULES, Rule, rewritten

CONDITIONS = 150  # in a block
EVERY = 20  # one of so many proofs is replayed

pytestmark = pytest.mark.slow


def expect_proof(one: Tree, other: Tree, *, replay: bool = False) -> None:
    answer = answer_to(WIDE, side_of(WIDE, one), side_of(WIDE, other))
    assert answer.proof is not None, f"not proven ({answer.reason or answer.row}):\n{one}\nimplies\n{other}"
    if replay:
        check_proof(answer.proof)


def expect_row(one: Tree, other: Tree) -> None:
    answer = answer_to(WIDE, side_of(WIDE, one), side_of(WIDE, other))
    assert answer.row is not None, f"no row ({answer.reason or 'proven'}):\n{one}\ndoes not imply\n{other}"


@pytest.mark.parametrize("block", blocks(10, quick=(0,)))
def test_rewritten_conditions_are_equivalent(block: int) -> None:
    rng = random.Random(f"rewrites {block}")
    for number in range(CONDITIONS):
        tree = other = random_tree(rng, column_atom("".join(rng.sample("abklxystfg", 4))), 2)
        for _ in range(12):
            other = rewritten(other, rng)
        expect_proof(tree, other, replay=number % EVERY == 0)
        expect_proof(other, tree)
    compared("rewrites: equivalent", CONDITIONS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_one_rule(rule: Rule) -> None:
    rng = random.Random(rule.__name__)
    applied = 0
    while applied < 15:
        tree = random_tree(rng, column_atom(), 2)
        other = rewritten(tree, rng, (rule,))
        if other != tree:
            applied += 1
            expect_proof(tree, other)
            expect_proof(other, tree)
    compared("rewrites: equivalent", applied)


def nearly_equal(column: str, rng: random.Random) -> tuple[str, str]:
    """Two conditions of a column: the first is true of one value less, and false of one more."""
    kind = next(kind for names, kind in KINDS.items() if column in names)
    if kind == "boolean":
        return rng.choice((("{0} = true", "{0} IN (true, false)"), ("false AND {0}", "NOT {0}")))
    if kind == "string":
        text = "".join(rng.choice("abé") for _ in range(rng.randint(0, 4)))
        pairs = [
            ("{0} < '%s'", "{0} <= '%s'"),
            (r"{0} > '%s\0'", "{0} > '%s'"),
            ("{0} > '%s'", "{0} >= '%s'"),
        ]
        pairs += [("{0} = '%s'", r"{0} IN ('%s', '%s\0')")]
        one, other = rng.choice(pairs)
        return one.replace("%s", text), other.replace("%s", text)
    if kind == "double":
        number = rng.choice(
            (0.0, 1.5, rng.uniform(-9, 9), rng.uniform(0, 1) * 10.0 ** rng.randint(-300, 300))
        )
        low, high = f"{number!r}D", f"{math.nextafter(number, math.inf)!r}D"
        pairs = [("< L", "<= L"), ("<= L", "<= H"), ("> H", ">= H"), (">= H", ">= L"), ("= L", "IN (L, H)")]
        pairs += [("BETWEEN L AND double('inf')", ">= L"), ("= L", "IN (L, double('NaN'))")]
    else:
        number = rng.choice((rng.randint(-9, 9), rng.randint(-(2**31), 2**31 - 2)))
        low, high = str(number), str(number + 1)
        pairs = [("< L", "<= L"), ("<= L", "<= H"), ("> H", ">= H"), ("> H", "> L"), ("= L", "IN (L, H)")]
        pairs += [("BETWEEN H AND H", "BETWEEN L AND H")]
    one, other = (text.replace("L", low).replace("H", high) for text in rng.choice(pairs))
    return "{0} " + one, "{0} " + other


def random_row(rng: random.Random) -> dict[str, object]:
    values: dict[str, list[object]] = {
        "boolean": [True, False],
        "string": ["", "a", "b", "ab"],
        "double": [-1.0, 0.0, 2.5, math.nan],
        "int": [-2, 0, 3, 700],
        "bigint": [-2, 0, 3, 700],
    }
    return {column: rng.choice([None, *values[kind]]) for names, kind in KINDS.items() for column in names}


def deeper(rng: random.Random, column: str, one: Tree, other: Tree, depth: int) -> tuple[Tree, Tree]:
    """The pair inside of larger conditions that a certain row leaves to the pair, whatever it has in the column.

    Under NOT the weaker one becomes the stronger one; they are given back in order.
    """
    others = column_atom("abklxystfg".replace(column, ""))
    row = random_row(rng)
    for _ in range(depth):
        if rng.random() < 0.25:
            one, other = Tree("NOT", (other,)), Tree("NOT", (one,))
            continue
        beside = random_tree(rng, others, 1)
        truth = evaluate(side_of(WIDE, beside).bound.predicate, row)
        if truth is None:
            continue
        word = "AND" if truth else "OR"
        parts = [beside] * rng.choice((1, 1, 1, 2))
        one, other = (Tree(word, (*parts[1:], tree, parts[0])) for tree in (one, other))
    return one, other


@pytest.mark.parametrize("block", blocks(10, quick=(0,)))
def test_a_difference_in_one_place_is_seen(block: int) -> None:
    rng = random.Random(f"differences {block}")
    for number in range(CONDITIONS):
        column = rng.choice("abklxystfg")
        narrow, wide = (Tree(text.format(column)) for text in nearly_equal(column, rng))
        narrow, wide = deeper(rng, column, narrow, wide, rng.randint(0, 5))
        expect_proof(narrow, wide, replay=number % EVERY == 0)
        expect_row(wide, narrow)
        for _ in range(4):
            narrow, wide = rewritten(narrow, rng), rewritten(wide, rng)
        expect_proof(narrow, wide)
        expect_row(wide, narrow)
    compared("rewrites: one place differs", 2 * CONDITIONS)


@pytest.mark.parametrize("column", "akxsf")
def test_null_is_told_apart(column: str) -> None:
    rng = random.Random(f"null {column}")
    for _ in range(CONDITIONS // 5):
        atom = Tree(nearly_equal(column, rng)[0].format(column))
        if atom.word.startswith("false"):
            continue
        with_null = Tree("OR", (atom, Tree(f"{column} IS NULL")))
        expect_proof(atom, with_null)
        expect_row(with_null, atom)
        negated, also = Tree("NOT", (atom,)), Tree(f"({atom}) IS NOT TRUE")
        expect_proof(negated, also)
        expect_row(also, negated)
    compared("rewrites: NULL added", 2 * (CONDITIONS // 5))

"""Order between two columns, or other expressions, of one type: what comparisons of them say together.

Values have a total order with NaN at the top, so of `a < b`, `a = b`, `b < a` exactly one holds unless a or b is NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations
from typing import Final

from eddyline.implication.facts.choices import has_choice
from eddyline.implication.facts.subjects import (
    Subjects,
    absent,
    any_of,
    boolean,
    filled,
    inside,
    is_not_true,
    is_true,
)
from eddyline.model.expression import Call, Expression, is_constant
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Regions
from eddyline.normalize.rules.orient_comparison import orient_comparison

MOST: Final = 5  # columns compared with one another of which chains are followed

Pair = tuple[Expression, Expression]


def order_of_columns(subjects: Subjects) -> Iterator[Predicate]:
    """`a < b` excludes `b < a` and `a = b`; with `b < c` it gives `a < c`."""
    pairs = compared_pairs(subjects)
    for one, other in _chained(pairs):
        yield from _exactly_one(one, other)
        yield from _null_safe(subjects, one, other)
    for call in subjects.calls("lt", "eq", "null_safe_eq"):
        one, other = call.arguments
        if one == other:
            yield from _same(call, one)
    yield from _chains(pairs)


def compared_pairs(subjects: Subjects) -> list[Pair]:
    """Each two expressions that a subject compares, once; choices are left to `chosen_arguments`."""
    pairs: dict[frozenset[Expression], Pair] = {}
    for call in subjects.calls("lt", "eq", "null_safe_eq"):
        one, other = call.arguments
        if not (is_constant(one) or is_constant(other) or one == other or has_choice(call)):
            pairs.setdefault(frozenset(call.arguments), (one, other))
    return list(pairs.values())


def _chained(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs, and those that chains may connect."""
    given = list(pairs)
    members = list(dict.fromkeys(expression for pair in given for expression in pair))
    if len(members) > MOST:
        return given
    linked = {frozenset(pair) for pair in given}
    while True:
        further = {
            frozenset((one, other))
            for one, other in combinations(members, 2)
            if any({frozenset((one, via)), frozenset((via, other))} <= linked for via in members)
        } - linked
        if not further:
            break
        linked |= further
    return [pair for pair in combinations(members, 2) if frozenset(pair) in linked]


def less_than(one: Expression, other: Expression) -> Call:
    return boolean("lt", one, other)


def equal_to(one: Expression, other: Expression, function: str = "eq") -> Call:
    oriented = orient_comparison(boolean(function, one, other), "UTC")
    assert isinstance(oriented, Call), "a comparison stays a call"
    return oriented


def _exactly_one(one: Expression, other: Expression) -> Iterator[Predicate]:
    three = [less_than(one, other), equal_to(one, other), less_than(other, one)]
    for first, second in combinations(three, 2):
        yield any_of(is_not_true(first), is_not_true(second))
    yield any_of(*(is_true(call) for call in three), absent(three[0]))
    for call in three:
        yield any_of(absent(call), filled(one))
        yield any_of(absent(call), filled(other))
        yield any_of(filled(call), absent(one), absent(other))


def _null_safe(subjects: Subjects, one: Expression, other: Expression) -> Iterator[Predicate]:
    call = equal_to(one, other, "null_safe_eq")
    if call not in subjects:
        return
    equal = equal_to(one, other)
    yield filled(call)
    yield any_of(is_not_true(equal), is_true(call))
    yield any_of(filled(one), filled(other), is_true(call))
    yield any_of(is_not_true(call), is_true(equal), absent(one))
    yield any_of(is_not_true(call), is_true(equal), absent(other))


def _same(call: Call, one: Expression) -> Iterator[Predicate]:
    """A comparison of something with itself."""
    if call.function == "null_safe_eq":
        yield is_true(call)
        return
    yield any_of(
        absent(one), is_true(call) if call.function == "eq" else inside(call, Regions.points([False]))
    )
    yield any_of(filled(one), absent(call))


def _chains(pairs: Iterable[Pair]) -> Iterator[Predicate]:
    linked = _chained(pairs)
    members = list(dict.fromkeys(expression for pair in linked for expression in pair))
    if len(members) > MOST:
        return
    known = {frozenset(pair) for pair in linked}
    for a, b, c in permutations(members, 3):
        if not {frozenset((a, b)), frozenset((b, c)), frozenset((a, c))} <= known:
            continue
        less, same = is_not_true(less_than(a, b)), is_not_true(equal_to(a, b))
        then_less, then_same = is_not_true(less_than(b, c)), is_not_true(equal_to(b, c))
        yield any_of(less, then_less, is_true(less_than(a, c)))
        yield any_of(less, then_same, is_true(less_than(a, c)))
        yield any_of(same, then_less, is_true(less_than(a, c)))
        yield any_of(same, then_same, is_true(equal_to(a, c)))

"""Bounds along the order of two columns, or other expressions: what is less than something below 3 is below 3."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.implication.facts.order_of_columns import compared_pairs, equal_to, less_than
from eddyline.implication.facts.subjects import Subjects, any_of, below, inside, is_not_true, outside
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.predicate import Condition, Predicate
from eddyline.model.regions import Regions


def bounds_along_order(subjects: Subjects) -> Iterator[Predicate]:
    """`a < b` with `b < 3` gives `a < 3`, and `a = b` puts both on the same side of 3."""
    for one, other in compared_pairs(subjects):
        yield from _bounds(subjects, one, other)


def _bounds(subjects: Subjects, one: Expression, other: Expression) -> Iterator[Predicate]:
    if one not in subjects or other not in subjects or one.type != other.type:
        return
    cuts = sorted({*subjects.cuts(one), *subjects.cuts(other)})
    equal = is_not_true(equal_to(one, other))
    for low, high in ((one, other), (other, one)):
        less = is_not_true(less_than(low, high))
        for value in dict.fromkeys(value for value, _ in cuts):
            yield any_of(less, _not(below(high, value, closed=True)), below(low, value, closed=False))
        for cut in cuts:
            under = Regions(True, (cut,))
            yield any_of(equal, outside(low, under), inside(high, under))
        if low.type in t.FRACTIONAL:
            nan = Regions(nan=True)
            yield any_of(less, outside(low, nan))
            yield any_of(equal, outside(low, nan), inside(high, nan))


def _not(condition: Condition) -> Condition:
    return outside(condition.subject, condition.regions)

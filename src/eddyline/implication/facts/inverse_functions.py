"""Inverses: where a function that rises or falls is compared with something, bounds of the one are bounds of its argument."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.implication.facts.subjects import Subjects, any_of, boolean, inside, outside
from eddyline.model.expression import Call, Column, Expression, Literal, externals_of
from eddyline.model.predicate import Condition, Predicate
from eddyline.model.query import BoundQuery
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.pipeline import normalize


def inverse_functions(subjects: Subjects) -> Iterator[Predicate]:
    """`CAST(a AS BIGINT) = b AND b < 3` needs `a < 3`: `CAST(a AS BIGINT)` is below 3 exactly where a is."""
    for call in subjects.calls("lt", "eq", "null_safe_eq"):
        one, other = call.arguments
        for side, partner in ((one, other), (other, one)):
            if not isinstance(side, Call) or externals_of(side) or isinstance(partner, Literal):
                continue
            for cut in subjects.cuts(partner):
                yield from _same_place(side, cut, subjects.time_zone)


def _same_place(side: Call, cut: Cut, time_zone: str) -> Iterator[Predicate]:
    """The function lies below a cut exactly where its argument lies in some regions."""
    taken_back = _below(side, cut, time_zone)
    if not isinstance(taken_back, Condition) or not isinstance(taken_back.subject, Column):
        return
    below = Regions(True, (cut,))
    yield any_of(outside(side, below), taken_back)
    yield any_of(inside(side, below), outside(taken_back.subject, taken_back.regions))


def _below(side: Expression, cut: Cut, time_zone: str) -> Predicate:
    value, closed = cut
    comparison = boolean("le" if closed else "lt", side, Literal(value, side.type))
    return normalize(BoundQuery("", "", "", comparison, (), time_zone)).predicate

"""Predicates in conjunctive normal form: all clauses must hold, a clause holds if any of its members does.

    (a < 3 OR b = 1) AND c BETWEEN 2 AND 5        {a < 3, b = 1}   {c >= 2}   {c <= 5}

A member is a condition. Filters over region arrays take any; a grouped filter takes only *simple* ones, which are
comparisons with one constant and tests for NULL and NaN, so that conditions are split for it:

    c IN (2, 5)             {c = 2, c = 5}                                            one clause of points and rays
    c BETWEEN 2 AND 5       {c >= 2}  {c <= 5}                                        one clause for each gap
    c < 2 OR c IS NULL      {c < 2, c IS NULL}                                        NULL satisfies no comparison
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eddyline.errors import EddylineError
from eddyline.index.keyed.terms import pieces
from eddyline.model import types as t
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.regions import Regions

MOST_CLAUSES: Final = 1_024
Clause = tuple[Condition, ...]
Split = Callable[[Condition], list[Clause]]
_NULL: Final = Regions(null=True)


def clauses_of(predicate: Predicate, split: Split) -> list[Clause]:
    """The clauses of a predicate; no clause at all is always true, a clause without members is never.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.predicate import Or
    >>> a, b, c = (Condition(Column(name, t.INT), Regions.points([1])) for name in "abc")
    >>> [[member.subject.name for member in clause] for clause in clauses_of(Or((And((a, b)), c)), whole)]
    [['a', 'c'], ['b', 'c']]
    """
    if isinstance(predicate, Condition):
        return split(predicate)
    if isinstance(predicate, And):
        found = [clause for part in predicate.parts for clause in clauses_of(part, split)]
        return _checked(list(dict.fromkeys(found)))
    found = [()]
    for part in predicate.parts:
        others = clauses_of(part, split)
        _check(len(found) * len(others))
        found = _checked([_joined(clause, other) for clause in found for other in others])
    return found


def _joined(clause: Clause, other: Clause) -> Clause:
    return tuple(dict.fromkeys(clause + other))


def _checked(clauses: list[Clause]) -> list[Clause]:
    _check(len(clauses))
    return clauses


def _check(clauses: int) -> None:
    if clauses > MOST_CLAUSES:
        raise EddylineError(
            f"a query has more than {MOST_CLAUSES} clauses in conjunctive normal form",
            hint="the eddy is not for such queries; the sliced executor takes them as they are",
        )


def whole(condition: Condition) -> list[Clause]:
    """A condition as it is, for filters that take any set of values."""
    return [(condition,)]


def simple(condition: Condition) -> list[Clause]:
    """A condition in simple ones, by whichever of the two ways needs fewer.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import NOTHING
    >>> c, between = Column("c", t.INT), Regions.above(2, closed=True) & Regions.below(5, closed=True)
    >>> [[str(member.regions) for member in clause] for clause in simple(Condition(c, between))]
    [['[2, +inf)'], ['(-inf, 5]']]
    >>> [
    ...     [str(member.regions) for member in clause]
    ...     for clause in simple(Condition(c, Regions.points([2, 5])))
    ... ]
    [['{2}', '{5}']]
    """
    fractional = t.is_fractional(condition.subject.type)
    regions = condition.regions
    present = Regions(regions.inside, regions.cuts, nan=regions.nan and fractional)
    if present.is_empty:
        return [(Condition(condition.subject, _NULL),)]
    null = [_NULL] if regions.null else []
    found = min(_ways(present, fractional), key=lambda way: sum(map(len, way)))
    return [tuple([Condition(condition.subject, member) for member in [*clause, *null]]) for clause in found]


def _ways(present: Regions, fractional: bool) -> list[list[list[Regions]]]:
    """The ways to write a set without NULL in clauses of simple ones."""
    if is_simple(present, fractional):
        return [[[present]]]
    gaps = pieces(_outside(present, fractional))
    ways = [[_around(gap, fractional) for gap in gaps]]
    inner = pieces(present)
    if all(is_simple(piece, fractional) for piece in inner):
        ways.append([inner])
    return ways


def _around(gap: Regions, fractional: bool) -> list[Regions]:
    """Everything but one range: at most what lies below it and what lies above."""
    outside = _outside(gap, fractional)
    return [outside] if is_simple(outside, fractional) else pieces(outside)


def _outside(regions: Regions, fractional: bool) -> Regions:
    """The complement, without NULL; types without NaN are not given it."""
    return Regions(not regions.inside, regions.cuts, nan=fractional and not regions.nan)


def is_simple(regions: Regions, fractional: bool) -> bool:
    """Whether a set is what one comparison with a constant, or a test for NULL or NaN, accepts.

    NaN is greater than any number, so that rays upwards and all-but-a-point have it.

    >>> (
    ...     is_simple(Regions.above(3, closed=False), fractional=True),
    ...     is_simple(Regions.points([1]), fractional=True),
    ... )
    (False, True)
    """
    if regions.null:
        return regions == _NULL
    cuts = regions.cuts
    if not cuts:
        return regions.inside or regions.nan
    point = len(cuts) == 2 and cuts[0][0] == cuts[1][0]
    upwards = regions.inside if point else not regions.inside
    return (len(cuts) == 1 or point) and regions.nan == (upwards and fractional)

"""A predicate as alternatives, each of them an AND of conditions, where there are only a few.

symbol = 'A' AND (price < 3 OR volume >= 10)      symbol = 'A' AND price < 3,   symbol = 'A' AND volume >= 10
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.regions import Regions

MAX_TERMS: Final = 16
Term = dict[Expression, Regions]


def terms_of(predicate: Predicate) -> list[Term] | None:
    """The alternatives, at most MAX_TERMS of them, impossible ones left out; None if there are more.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.predicate import Or
    >>> from eddyline.model.types import INT
    >>> a, b = (Condition(Column(name, INT), Regions.points([1])) for name in "ab")
    >>> [len(term) for term in terms_of(Or((a, And((a, b)))))]
    [1, 2]
    """
    if isinstance(predicate, Condition):
        return [{predicate.subject: predicate.regions}]
    if isinstance(predicate, And):
        return _all_of(predicate.parts)
    found: list[Term] = []
    for part in predicate.parts:
        terms = terms_of(part)
        if terms is None or len(found) + len(terms) > MAX_TERMS:
            return None
        found += terms
    return found


def _all_of(parts: Iterable[Predicate]) -> list[Term] | None:
    found: list[Term] = [{}]
    for part in parts:
        terms = terms_of(part)
        if terms is None or len(found) * len(terms) > MAX_TERMS:
            return None
        found = [both for term in found for other in terms if (both := _joined(term, other)) is not None]
    return found


def _joined(term: Term, other: Term) -> Term | None:
    """What satisfies both, None if nothing can."""
    both = dict(term)
    for subject, regions in other.items():
        known = both.get(subject)
        both[subject] = regions if known is None else known & regions
        if both[subject].is_empty:
            return None
    return both


def is_apart(term: Term, other: Term) -> bool:
    """Whether no tuple satisfies both, as far as single subjects tell."""
    return any(subject in term and (term[subject] & regions).is_empty for subject, regions in other.items())


def pieces(regions: Regions) -> list[Regions]:
    """A set without NULL as sets that are one range each; NaN goes with what reaches to +inf, where Spark orders it.

    >>> [str(piece) for piece in pieces(Regions.below(3, closed=False) | Regions.points([7], nan=True))]
    ['(-inf, 3)', '{7}', 'NaN']
    """
    intervals = regions.intervals()
    found = []
    for lower, upper in intervals:
        cuts = tuple([cut for cut in (lower, upper) if cut is not None])
        found.append(Regions(lower is None, cuts, nan=regions.nan and upper is None))
    if regions.nan and not (found and found[-1].nan):
        found.append(Regions(nan=True))
    return found

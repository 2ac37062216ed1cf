"""Rows that satisfy a query: whoever misses one of them does not cover it.

    symbol = 'A' AND price > 3 OR symbol = 'B' AND price < 9       {A, 3.0000000000000004}, {B, 8.999999999999998}

One for each of its alternatives, one that satisfies no other of them if there is such a row, at those ends of ranges that
few other queries reach: so few others match all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final

from eddyline.implication.goals import Goal, Goals
from eddyline.implication.search import Budget, search
from eddyline.index.keyed.terms import Term, terms_of
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.model.regions import Regions
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.reference.match import satisfies
from eddyline.relations.rows import rows_of

Row = dict[str, Any]

SAMPLES: Final = 8  # rows of a query


def sample_rows(normal: NormalQuery, stream: Stream, bound: Callable[[], BoundQuery]) -> list[Row]:
    """Rows that satisfy a query, one for each of its first alternatives; none if none is found.

    `bound` gives the query for the reference evaluator, which is asked only where expressions have to be turned round.
    """
    terms = terms_of(normal.predicate)
    alternatives = [normal.predicate] if terms is None else list(map(_conjunction, terms))
    found = []
    for number, part in enumerate(alternatives[:SAMPLES]):
        row = _row([Goal("left", part)], normal, stream, bound)
        others = [*(terms or ())[:number], *(terms or ())[number + 1 :]]
        if row is not None and any(_has(term, row) for term in others):
            apart = [Goal("right", _conjunction(other), holds=False) for other in others]
            row = _row([Goal("left", part), *apart], normal, stream, bound) or row
        found += [row] if row is not None else []
    if not found and terms is not None:
        row = _row([Goal("left", normal.predicate)], normal, stream, bound)
        found += [row] if row is not None else []
    return found


def _conjunction(term: Term) -> Predicate:
    return And(tuple([Condition(*condition) for condition in term.items()]))


def _has(term: Term, row: Row) -> bool:
    """Whether a row satisfies an alternative; no if it has conditions on expressions."""
    return all(
        isinstance(subject, Column) and row[subject.name] in regions for subject, regions in term.items()
    )


def _row(
    wanted: Sequence[Goal], normal: NormalQuery, stream: Stream, bound: Callable[[], BoundQuery]
) -> Row | None:
    """A row of a box in which all goals hold, if it satisfies the query."""
    goals = Goals(wanted)
    box = search(goals, Budget()).box
    if box is None:
        return None
    row: Row = dict.fromkeys(stream.types)
    for cutting, mask in zip(goals.cuttings, box, strict=True):
        if isinstance(cutting.subject, Column):
            row[cutting.subject.name] = end_of(cutting.subject.type, cutting.regions(mask))
    if all(isinstance(cutting.subject, Column) for cutting in goals.cuttings):
        return row  # it lies in the box
    for guess in chain([row], rows_of(stream, goals, box, normal.time_zone)):
        if satisfies(bound(), guess):
            return guess
    return None


def end_of(kind: t.DataType, regions: Regions) -> Any:
    """A value of a set at an end that it has: the least one, unless it starts at the least of all.

    >>> end_of(t.INT, Regions.above(3, closed=False)), end_of(t.INT, Regions.below(9, closed=False))
    (4, 8)
    """
    domain = domain_of(kind)
    for lower, upper in regions.intervals():
        if isinstance(domain, Numbered) and lower is None and upper is not None:
            return domain.value(domain.ordinal(upper[0]) + upper[1] - 1)
        if isinstance(domain, Numbered) and lower is not None:
            return domain.value(domain.ordinal(lower[0]) + lower[1])
        return domain.value_between(lower, upper)
    return math.nan if regions.nan else None

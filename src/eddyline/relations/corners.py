"""Rows that tell who covers a query: whoever misses one of them does not.

A *plain box* is an AND of conditions on columns, each of them one interval without NULL:

    symbol = 'A' AND price BETWEEN 3 AND 5          low corner  {A, 3, NULL}    high corner  {A, 5, NULL}

Columns that it does not name are NULL. A plain box that has both corners of another has all of it: the matcher decides. Of
any other predicate some rows that satisfy it narrow down who may cover it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from eddyline.implication.goals import Goal, Goals
from eddyline.implication.search import Budget, search
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.predicate import Predicate, conjunction
from eddyline.model.regions import Regions
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.reference.match import satisfies
from eddyline.relations.question import Side
from eddyline.relations.rows import rows_of

Row = dict[str, Any]
Corners = tuple[Row, Row]

SAMPLES: Final = 4  # rows of a predicate that is no plain box


def plain_corners(predicate: Predicate) -> Corners | None:
    """The lowest and the highest row of a plain box, only with the columns that it names; None for other predicates.

    >>> from eddyline.model.predicate import Condition
    >>> plain_corners(Condition(Column("a", t.INT), Regions.below(3, closed=False)))
    ({'a': -2147483648}, {'a': 2})
    """
    conditions = conjunction(predicate)
    if conditions is None:
        return None
    low: Row = {}
    high: Row = {}
    for condition in conditions:
        if not isinstance(condition.subject, Column):
            return None
        ends = _ends(condition.regions, condition.subject.type)
        if ends is None:
            return None
        low[condition.subject.name], high[condition.subject.name] = ends
    return low, high


def _ends(regions: Regions, kind: t.DataType) -> tuple[Any, Any] | None:
    """The least and the greatest value of one interval, NaN being the greatest of all; None if it has none such."""
    if regions.null:
        return None
    cuts = regions.cuts
    if len(cuts) == 2 and cuts[0][0] == cuts[1][0] and not regions.inside:
        return None if regions.nan else (cuts[0][0], cuts[0][0])
    domain = domain_of(kind)
    if (
        not isinstance(domain, Numbered)
        or len(cuts) + regions.inside > 2
        or (regions.inside and len(cuts) > 1)
    ):
        return None
    lower = None if regions.inside else cuts[0] if cuts else None
    if lower is None and not regions.inside:
        return None
    upper = cuts[-1] if len(cuts) + regions.inside == 2 else None
    if regions.nan and upper is not None:
        return None
    low = domain.low if lower is None else domain.ordinal(lower[0]) + lower[1]
    high = domain.high if upper is None else domain.ordinal(upper[0]) + upper[1] - 1
    return domain.value(low), math.nan if regions.nan else domain.value(high)


def sample_rows(side: Side, stream: Stream) -> Iterator[Row]:
    """Rows that satisfy a predicate, as different as a short search finds them."""
    goals = Goals([Goal("left", side.normal.predicate)])
    box = search(goals, Budget()).box
    if box is None:
        return
    found = 0
    for row in rows_of(stream, goals, box, side.normal.time_zone):
        if satisfies(side.bound, row):
            yield row
            found += 1
            if found == SAMPLES:
                return

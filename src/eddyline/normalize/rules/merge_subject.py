"""The rule that makes one condition of all that an AND or an OR says about one subject.

a IN (3, 5, 7, 9) AND a > 3 AND a <> 7      ->   a in {5} or {9}
"""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.model.expression import Expression
from eddyline.model.predicate import ALWAYS, NEVER, Condition, Predicate
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of


def merge_subject(all_: bool, parts: Sequence[Predicate]) -> Sequence[Predicate]:
    """Parts of an AND (`all_`) or OR, with at most one condition a subject, where the first one was.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> a = Column("a", INT)
    >>> low, high = Condition(a, Regions.below(3, closed=False)), Condition(a, Regions.above(3, closed=True))
    >>> (
    ...     merge_subject(True, [low, high]) == [NEVER],
    ...     [str(part.regions) for part in merge_subject(False, [low, high])],
    ... )
    (True, ['(-inf, +inf)'])
    """
    sets: dict[Expression, list[Regions]] = {}
    conditions = 0
    for part in parts:
        if type(part) is Condition:
            conditions += 1
            sets.setdefault(part.subject, []).append(part.regions)
    if len(sets) == conditions:
        return parts
    merged: list[Predicate] = []
    for part in parts:
        if type(part) is not Condition:
            merged.append(part)
            continue
        several = sets.pop(part.subject, None)
        if several is None:
            continue
        if len(several) == 1:
            merged.append(part)
            continue
        domain = domain_of(part.subject.type)
        regions = domain.intersection(several) if all_ else domain.union(several)
        if regions.is_empty:
            return [NEVER]
        if regions == domain.everything:
            return [ALWAYS]
        merged.append(Condition(part.subject, regions))
    return merged

"""Subjects that every query asks about: a tuple outside of what all of them ask for matches nothing.

q1: a in 3..5 AND ...      q2: a in 4..9 AND ...      hull of a: 3..9      ids outside drop the tuple at once
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.cutting import Cutting
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Predicate


@dataclass(frozen=True, slots=True)
class Hull:
    """alive[id] is 1 where a value of the subject lets at least one query still match."""

    subject: int
    alive: npt.NDArray[np.uint8]


def build_hulls(predicates: Sequence[Predicate], cuttings: Sequence[Cutting]) -> tuple[Hull, ...]:
    """One hull for each subject on which every predicate has a condition at its top."""
    common: dict[Expression, set[Condition]] | None = None
    for predicate in paced(predicates):
        if predicate == NEVER:
            continue
        conditions = _top(predicate)
        if common is None:
            common = {condition.subject: {condition} for condition in conditions}
        else:
            own = {condition.subject: condition for condition in conditions}
            common = {subject: found for subject, found in common.items() if subject in own}
            for subject, found in common.items():
                found.add(own[subject])
        if not common:
            return ()
    places = {cutting.subject: place for place, cutting in enumerate(cuttings)}
    hulls = []
    for subject, found in (common or {}).items():
        if subject in places:
            cutting = cuttings[places[subject]]
            alive = np.zeros(cutting.size, np.uint8)
            for condition in found:
                for low, high in cutting.ranges(condition.regions):
                    alive[low : high + 1] = 1
            hulls.append(Hull(places[subject], alive))
    return tuple(hulls)


def _top(predicate: Predicate) -> list[Condition]:
    """Conditions that have to hold whatever else does."""
    if predicate == ALWAYS:
        return []
    if isinstance(predicate, Condition):
        return [predicate]
    parts = predicate.parts if isinstance(predicate, And) else ()
    return [part for part in parts if isinstance(part, Condition)]

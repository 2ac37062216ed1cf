"""What stays valid of a sequence when the query set changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.model.asc import ASC, Words
from eddyline.model.expression import Expression
from eddyline.model.sample import query_usage
from eddyline.model.visit_order import Arrow, VisitOrder


def carry_over(old: VisitOrder, old_ascs: Sequence[ASC], new_ascs: Sequence[ASC]) -> VisitOrder:
    """A sequence for new ASCs: subjects that still exist keep their relative order and the arrows of equal regions.

    New subjects without which there is no cover set come where the old ones and they first are one: until then no tuple
    could be dropped anyway. The other new ones are appended, those first whose average region leaves the fewest queries.
    """
    number = {asc.subject: asc.number for asc in new_ascs}
    kept = [
        number[old_ascs[subject].subject] for subject in old.subjects if old_ascs[subject].subject in number
    ]
    fresh = sorted(set(number.values()) - set(kept), key=lambda subject: (_left(new_ascs[subject]), subject))
    needed = _needed(query_usage(new_ascs), kept, fresh)
    place = _place(query_usage(new_ascs), kept, needed)
    rest = [subject for subject in fresh if subject not in needed]
    return VisitOrder(
        (*kept[:place], *needed, *kept[place:], *rest), _arrows(old, old_ascs, new_ascs, number)
    )


def _left(asc: ASC) -> float:
    """Which part of the queries the average region leaves possible."""
    ones = np.bitwise_count(asc.blocks).sum(dtype=np.int64)
    return float(ones) / max(1, asc.queries * asc.regions)


def _needed(qubs: Words, kept: list[int], fresh: list[int]) -> list[int]:
    """New subjects that complete a cover set, the most missing queries first."""
    missing = np.bitwise_or.reduce(qubs) & ~np.bitwise_or.reduce(qubs[kept])
    needed: list[int] = []
    while missing.any():
        needed.append(max(fresh, key=lambda subject: int(np.bitwise_count(qubs[subject] & missing).sum())))
        missing = missing & ~qubs[needed[-1]]
    return needed


def _place(qubs: Words, kept: list[int], needed: list[int]) -> int:
    """After how many of the old subjects the new ones make a cover set complete."""
    wanted = np.bitwise_or.reduce(qubs)
    for place in range(len(kept) + 1):
        if np.array_equal(np.bitwise_or.reduce(qubs[[*kept[:place], *needed]]), wanted):
            return place
    return len(kept)


def _arrows(
    old: VisitOrder, old_ascs: Sequence[ASC], new_ascs: Sequence[ASC], number: dict[Expression, int]
) -> tuple[Arrow, ...]:
    """The arrows whose ends and region still exist."""
    arrows: list[Arrow] = []
    regions: dict[int, dict[str, int]] = {}
    for arrow in old.arrows:
        asc, to = old_ascs[arrow.subject], old_ascs[arrow.to].subject
        if asc.subject not in number or to not in number:
            continue
        new = new_ascs[number[asc.subject]]
        names = regions.setdefault(new.number, {new.name(i): i for i in range(new.regions)})
        region = names.get(asc.name(arrow.region))
        if region is not None:
            arrows.append(Arrow(new.number, region, number[to]))
    return tuple(arrows)

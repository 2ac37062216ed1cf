"""Sequences as the row-wise executor follows them: a fixed way for all tuples, or one that regions turn aside.

macro      A1 -> A2 -> A3 -> A4
arrows     A2[4] -> A4              a tuple in region 4 of A2 visits A1, A2, A4 and then, as the first one that is
                                    left of the macro-sequence, A3
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.rowwise.asc import AscIndex
from eddyline.model.visit_order import VisitOrder

Rows = npt.NDArray[np.int64]
Order = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MacroRoute:
    """An order of subjects: the first region of each, and how many of them a tuple visits before it can be dropped.

    drops: whether there are more to visit for those that are not.
    """

    sequence: VisitOrder
    starts: Rows
    cover: int

    @property
    def drops(self) -> bool:
        return 0 < self.cover < len(self.order)

    @property
    def order(self) -> Order:
        """The subjects, one after the other."""
        return self.sequence.subjects

    def following(self, subject: int, region: int, seen: Collection[int]) -> int | None:
        """The subject that is visited next."""
        return next((number for number in self.order if number not in seen), None)


@dataclass(frozen=True, slots=True, eq=False)
class HybridRoute:
    """An order of subjects with micro-arrows: for every region of the table the subject that comes next, or -1."""

    sequence: VisitOrder
    macro: Rows
    arrows: Rows
    starts: Rows

    @property
    def order(self) -> Order:
        """The macro-sequence."""
        return self.sequence.subjects

    def following(self, subject: int, region: int, seen: Collection[int]) -> int | None:
        """The subject that is visited next: where the arrow leads, if it was not there before."""
        to = int(self.arrows[self.starts[subject] + region])
        if to >= 0 and to not in seen:
            return to
        return next((number for number in self.order if number not in seen), None)


Route = MacroRoute | HybridRoute


def route_of(index: AscIndex, sequence: VisitOrder) -> Route:
    """How a sequence of some of the subjects is followed; arrows that leave these are not."""
    order = sequence.subjects
    if not order:
        return MacroRoute(sequence, np.empty(0, np.int64), 0)
    if sequence.arrows:
        arrows = np.full(index.table.shape[1], -1, np.int64)
        for arrow in sequence.arrows:
            assert arrow.region < index.ascs[arrow.subject].regions, (
                "an arrow starts in a region of its subject"
            )
            if arrow.to in order:
                arrows[index.starts[arrow.subject] + arrow.region] = arrow.to
        return HybridRoute(sequence, np.array(order, np.int64), arrows, index.starts)
    used = np.bitwise_or.accumulate([index.ascs[number].qub for number in order], axis=0)
    complete = np.bitwise_count(used).sum(axis=1) == len(index.numbers)
    cover = int(complete.argmax()) + 1 if complete.any() else len(order)
    return MacroRoute(sequence, index.starts[list(order)], cover)

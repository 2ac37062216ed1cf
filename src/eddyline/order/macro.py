"""`macro` (ASC-2): conditional selectivity until a cover set is complete, then the dropping ratio."""

from __future__ import annotations

from collections.abc import Sequence as List

import numpy as np

from eddyline.config import StrategyName
from eddyline.model.asc import ASC, Words
from eddyline.model.sample import query_usage
from eddyline.model.sequence import Sequence
from eddyline.order.growing import Growing, Step
from eddyline.order.statistics import ones


class Macro(Growing):
    """Finds a macro-sequence in |subjects| - 1 periods.

    Queries without any condition are covered by no subject; the second phase begins when all others are.
    """

    def __init__(self, ascs: List[ASC], start: Sequence) -> None:
        self._qubs = query_usage(ascs)
        self._all: Words = np.bitwise_or.reduce(self._qubs)
        super().__init__(ascs, start)

    @property
    def name(self) -> StrategyName:
        return "macro"

    def rank(self, step: Step, subject: int) -> tuple[float, ...]:
        """Phase 1: ones at uncovered queries, their number being the same for all. Phase 2: dropped tuples, then s."""
        left = self.left()
        after = step.after(subject)
        if left.any():
            return (ones(after & left),)
        return (int(after.any(axis=1).sum()), self.alone[subject])

    def left(self) -> Words:
        """The queries, of those with conditions, that use none of the subjects chosen so far."""
        return np.asarray(self._all & ~np.bitwise_or.reduce(self._qubs[self.chosen]))

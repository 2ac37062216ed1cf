"""`macro` (ASC-2): conditional selectivity until a cover set is complete, then the dropping ratio.

Ours, beyond the paper: a subject that fails most queries may keep a cover set from being complete soon, which no later
step mends. So in the last period other orders are compared on the tuples of all of them, see `improve_order`: the one that
was grown, the one that starts with a least cover set as in ASC-1, and the one in force; the cheapest is proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from eddyline.config import StrategyName
from eddyline.model.asc import ASC, Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import VisitOrder
from eddyline.order.improve_order import improve_order
from eddyline.order.sample_table import SampleTable, newest
from eddyline.order.strategies.growing import GrowingStrategy, GrowthStep
from eddyline.order.strategies.macssas import Macssas

MOST_TUPLES: Final = 4_096  # to compare orders on: more are not worth their time
LEAST_TUPLES: Final = 100  # of fewer, what an order costs says little
MOST_WORDS: Final = 1 << 21  # of all GRBs, for each pair of subjects: some 20 ms for an order, 100 for arrows
KICKS: Final = 10


class Macro(GrowingStrategy):
    """Finds a macro-sequence in |subjects| - 1 periods.

    Queries without any condition are covered by no subject; the second phase begins when all others are. Without
    `refine` the sequence is the paper's.
    """

    def __init__(self, ascs: Sequence[ASC], start: VisitOrder, *, refine: bool = True) -> None:
        self._qubs = query_usage(ascs)
        self._all: Words = np.bitwise_or.reduce(self._qubs)
        self._is_covered = False
        self.refine = refine
        self.kept: list[Sample] = []
        super().__init__(ascs, start)

    @property
    def name(self) -> StrategyName:
        return "macro"

    @property
    def refines(self) -> bool:
        """Whether there is enough to compare orders on."""
        return self.refine and sum(sample.tuples for sample in self.kept) >= LEAST_TUPLES

    def observe(self, sample: Sample) -> None:
        """One subject more; with the last one orders are compared."""
        if self.ready or not sample.tuples:
            return
        self.keep(sample)
        self.grow(sample)
        if self.ready and self.refines:
            self.chosen = list(self.cheapest(self.latest()))

    def keep(self, sample: Sample) -> None:
        """Keep the tuples of a period, once."""
        if self.refine and not any(sample is each for each in self.kept):
            self.kept.append(sample)

    def latest(self) -> SampleTable:
        """The latest tuples of all periods, as many as there is time for; without those that visit all in any order."""
        most = MOST_WORDS // (len(self.ascs) ** 2 * self.kept[0].words)
        met = SampleTable(newest(self.kept, min(MOST_TUPLES, max(LEAST_TUPLES, most))))
        return SampleTable(Sample(self.ascs, met.regions[:, met.ending_rows("dropped")]))

    def cheapest(self, met: SampleTable) -> tuple[int, ...]:
        """The cheapest order that is found from those that are known; the one that was grown where none is cheaper."""
        covering = Macssas(self.ascs, self.start)
        while not covering.ready:
            covering.look(met)
        starts = (tuple(self.chosen), tuple(covering.chosen), self.start.subjects)
        return improve_order(met, starts, kicks=KICKS)

    def counted(self, met: SampleTable) -> Words:
        """Phase 1: ones at uncovered queries, their number being the same for all subjects."""
        left = self._all & ~np.bitwise_or.reduce(self._qubs[self.chosen])
        self._is_covered = not left.any()
        return met.every if self._is_covered else left

    def rank(self, step: GrowthStep, subject: int) -> tuple[float, ...]:
        """Phase 2: dropped tuples, then the selectivity of the subject alone."""
        if self._is_covered:
            return (step.alive[subject], self.alone[subject])
        return (step.ones[subject],)

"""`hybrid` (ASC-2): a macro-sequence, and micro-arrows for the regions whose tuples are better off elsewhere.

    macro       A1 ------------> A3 ----> A2 ----> A4
    micro       A1 in (50, +inf) --------> A2            most of what is left there fails at A2

An arrow is found at the place where tuples stand after p visits: they are grouped by subject and region, and each
candidate of the region's cab is measured for the tuples of the group, over the queries still 1 in their GRB.

Ours, with `refine`: the tuples of all periods are kept, and arrows are found on them as soon as the macro-sequence is;
then each is tried by the visits that it saves to the end of a tuple's way, see `improve_arrows`. The sequence in force
takes part with its own arrows. Of very few tuples only arrows that save no visits are let go.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.config import StrategyName
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.improve_arrows import improve_arrows
from eddyline.order.micro_arrows import Arrows, arrows_of, find_arrows
from eddyline.order.sample_table import SampleTable
from eddyline.order.strategies.macro import Macro
from eddyline.order.walk import Walk


class Hybrid(Macro):
    """Finds the macro-sequence, then the arrows after the first visit, after the second and so on, a period each.

    given: the sequence to start from is the macro-sequence, only arrows are looked for. refine: see above; then arrows
    take no more periods.
    """

    def __init__(
        self, ascs: Sequence[ASC], start: VisitOrder, *, given: bool = False, refine: bool = True
    ) -> None:
        self.found: Arrows = {}
        self.depth = 0  # visits after which arrows have been looked for
        self.given = given
        super().__init__(ascs, start, refine=refine)
        if given:
            self.chosen = list(start.subjects)

    @property
    def name(self) -> StrategyName:
        return "hybrid"

    @property
    def ready(self) -> bool:
        """After the last but one visit there is only one way to go."""
        return self._macro_ready and self.depth >= len(self.ascs) - 2

    @property
    def _macro_ready(self) -> bool:
        return len(self.chosen) == len(self.ascs)

    def observe(self, sample: Sample) -> None:
        """One subject more, or, when all are in order, the arrows one visit deeper."""
        if self.ready or not sample.tuples:
            return
        self.keep(sample)
        if not self._macro_ready:
            self.grow(sample)
        elif not self.refines:
            self._look(sample)
        if self._macro_ready and self.refines:
            self._refine()
        elif self.ready and self.refine:
            self.found = improve_arrows(SampleTable(sample), self.propose(), fewer=True).targets

    def propose(self) -> VisitOrder:
        macro = super().propose()
        if not self._macro_ready:
            return macro
        return VisitOrder(macro.subjects, arrows_of(self.found))

    def _look(self, sample: Sample) -> None:
        """Arrows one visit deeper; deeper than the last tuple gets there is nothing to find."""
        self.depth += 1
        walk = Walk(sample, self.propose())
        for _ in range(self.depth):
            walk.step()
        for subject in np.unique(walk.here).tolist():
            found = find_arrows(walk, subject)
            self.found |= {key: to for key, to in found.items() if key not in self.found}
        if not walk.left:
            self.depth = len(self.ascs)

    def _refine(self) -> None:
        """The cheapest order, unless it is given, and all arrows, on the tuples of all periods."""
        met = self.latest()
        if not self.given:
            self.chosen = list(self.cheapest(met))
        while not self.ready:
            self._look(met.sample)
        rivals = [improve_arrows(met, each) for each in (self.start, self.propose())]
        best = min(rivals, key=lambda each: met.ways(each).spent.sum())
        self.chosen, self.found = list(best.subjects), best.targets

"""`hybrid` (ASC-2): a macro-sequence, and micro-arrows for the regions whose tuples are better off elsewhere.

    macro       A1 ------------> A3 ----> A2 ----> A4
    micro       A1 in (50, +inf) --------> A2            most of what is left there fails at A2

An arrow is found at the place where tuples stand after p visits: they are grouped by subject and region, and each
candidate of the region's cab is measured for the tuples of the group, over the queries still 1 in their GRB. With
`refine`, which is ours, arrows that save no visits go, and for a few subjects all are tried by the visits they save.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Final

import numpy as np

from eddyline.config import StrategyName
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.improve_arrows import improve_arrows
from eddyline.order.macro import Macro
from eddyline.order.micro_arrows import Arrows, arrows_of, confirmed, find_arrows
from eddyline.order.statistics import Walk

MOST_SUBJECTS: Final = 12  # to try all arrows: 0.3 s with ten subjects and 1,000 tuples
MOST_WORDS: Final = 1 << 23
LEAST_TUPLES: Final = 100  # of fewer, what an arrow saves says little


class Hybrid(Macro):
    """Finds the macro-sequence, then the arrows after the first visit, after the second and so on, a period each.

    given: the sequence to start from is the macro-sequence, only arrows are looked for. refine: see above; in the last
    of the periods.
    """

    def __init__(self, ascs: List[ASC], start: Sequence, *, given: bool = False, refine: bool = True) -> None:
        self.arrows: Arrows = {}
        self.refine = refine
        self.depth = 0  # visits after which arrows have been looked for
        super().__init__(ascs, start)
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
        if not self._macro_ready:
            super().observe(sample)
        elif not self.ready and sample.tuples:
            self._look(sample)

    def propose(self) -> Sequence:
        macro = super().propose()
        if not self._macro_ready:
            return macro
        return Sequence(macro.subjects, arrows_of(self.arrows))

    def _look(self, sample: Sample) -> None:
        """Arrows one visit deeper; deeper than the last tuple gets there is nothing to find."""
        self.depth += 1
        walk = Walk(sample, self.propose())
        for _ in range(self.depth):
            walk.step()
        for subject in np.unique(walk.here).tolist():
            found = find_arrows(walk, subject)
            self.arrows |= {key: to for key, to in found.items() if key not in self.arrows}
        if not walk.left:
            self.depth = len(self.ascs)
        if self.ready and self.refine:
            self.arrows = self._refined(sample).targets

    def _refined(self, sample: Sample) -> Sequence:
        sequence = confirmed(self.propose(), sample)
        work = len(self.ascs) ** 2 * sample.tuples * sample.words
        if len(self.ascs) > MOST_SUBJECTS or work > MOST_WORDS or sample.tuples < LEAST_TUPLES:
            return sequence
        return improve_arrows(sequence, sample)

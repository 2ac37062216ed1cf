"""`adaptive`: the order of least expected time, which counts what a visit to each subject takes.

Visits to a text cost more than those to a number, and one visit by a micro-arrow more than one in step. So orders are
compared by measured time a visit, and the one in force is left only for one that is clearly better.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.cheapest import Cheapest
from eddyline.order.exact import best_order
from eddyline.order.hybrid import Hybrid
from eddyline.order.statistics import visits_of_subjects
from eddyline.order.strategy import find_sequence

EXACT_SUBJECTS: Final = 12
EXACT_WORDS: Final = (
    1 << 18
)  # GRB words of all sets of subjects: about 10 ms; greedy orders are about 1% worse
WORTH: Final = 0.98  # part of the old time below which a new order is worth a change


@dataclass(frozen=True, slots=True)
class VisitCosts:
    """What a visit to each subject takes, in any unit; `arrow` is how many times as much if micro-arrows are followed.

    Without `arrow` no micro-arrows are proposed.
    """

    visit: tuple[float, ...]
    arrow: float | None = None


def expected_time(sample: Sample, sequence: Sequence, costs: VisitCosts) -> float:
    """What a tuple takes on average."""
    total = float(visits_of_subjects(sample, sequence) @ np.asarray(costs.visit, np.float64))
    factor = costs.arrow or 1.0 if sequence.arrows else 1.0
    return factor * total / max(1, sample.tuples)


class Adaptive:
    """Looks at whole periods, each by itself: ready after the first."""

    name: Final[Literal["adaptive"]] = "adaptive"

    def __init__(self, ascs: List[ASC], start: Sequence, costs: VisitCosts | None = None) -> None:
        self.ascs = tuple(ascs)
        self.costs = costs or VisitCosts((1.0,) * len(self.ascs))
        assert len(self.costs.visit) == len(self.ascs), "every subject has a cost"
        self.ready = len(self.ascs) < 2
        self._sequence = start

    def observe(self, sample: Sample) -> None:
        if not sample.tuples or len(self.ascs) < 2:
            return
        self.ready = True
        times = {each: expected_time(sample, each, self.costs) for each in self._rivals(sample)}
        best = min(times, key=times.__getitem__)
        if times[best] < WORTH * times[self._sequence]:
            self._sequence = best

    def propose(self) -> Sequence:
        return self._sequence

    def _rivals(self, sample: Sample) -> list[Sequence]:
        """Sequences that are worth comparing: the one in force, the best order there is, and both with other arrows."""
        start = Sequence(self._sequence.subjects)
        work = sample.tuples * sample.words << len(self.ascs)
        rivals = [self._sequence]
        if len(self.ascs) <= EXACT_SUBJECTS and work <= EXACT_WORDS:
            rivals.append(best_order(sample, costs=self.costs.visit))
        else:
            rivals.append(find_sequence(Cheapest(self.ascs, start, self.costs.visit), sample))
        if self.costs.arrow is not None:
            macros = dict.fromkeys((start, rivals[-1]))  # orders of equal cost may differ in what arrows gain
            rivals += [find_sequence(Hybrid(self.ascs, macro, given=True), sample) for macro in macros]
        return rivals

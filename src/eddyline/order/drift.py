"""When to rearrange: a measure of the sequence in force has changed by more than mu since it was chosen."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.config import Drift, OrderSettings
from eddyline.model.sample import Sample
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.statistics import count_visits, selectivity


def changed(initial: float, current: float, threshold: float) -> bool:
    """Whether |current - initial| / initial >= mu; any change of a measure that was 0 is one.

    >>> changed(0.5, 0.54, 0.1), changed(0.5, 0.4, 0.1), changed(0.0, 0.0, 0.1), changed(0.0, 0.1, 5.0)
    (False, True, False, True)
    """
    if initial == current or not initial:
        return threshold == 0 or initial != current
    return abs(current - initial) / initial >= threshold


def measure(sample: Sample, sequence: VisitOrder, drift: Drift) -> float:
    """What is watched, of a sequence on a sample."""
    if drift == "selectivity":
        return selectivity(sample, sequence.subjects)
    counters = count_visits(sample, sequence)
    return counters.dropping_ratio if drift == "dropping" else counters.visited_each


@dataclass(slots=True)
class Watch:
    """Watches one sequence: asked with every batch, it answers once in lambda tuples.

    The first answer of a sequence sets its initial value, unless that was given when it was chosen.
    """

    settings: OrderSettings
    initial: float | None = None
    current: float = 0.0
    tuples: int = 0
    _sum: float = 0.0
    _weight: int = 0

    def add(self, passed: int, value: float, weight: int | None = None) -> bool:
        """So many tuples passed, and `weight` of them, or all, had a measure of `value`; True to rearrange."""
        weight = passed if weight is None else weight
        self.tuples += passed
        self._sum += value * weight
        self._weight += weight
        if self.tuples < self.settings.check_every or not self._weight:
            return False
        self.current = self._sum / self._weight
        self.tuples, self._sum, self._weight = 0, 0.0, 0
        if self.initial is None:
            self.initial = self.current
            return self.settings.threshold == 0
        return changed(self.initial, self.current, self.settings.threshold)

    def add_counters(self, counters: Counters, ones: int | None = None, queries: int = 1) -> bool:
        """The same from what an executor counted; for selectivity with the ones of all GRBs."""
        value = counters.dropping_ratio if self.settings.drift == "dropping" else counters.visited_each
        if self.settings.drift == "selectivity":
            assert ones is not None, "selectivity needs the ones of the GRBs"
            value = ones / max(1, queries * counters.tuples)
        return self.add(counters.tuples, value)

    def add_sample(self, sample: Sample, sequence: VisitOrder, passed: int) -> bool:
        """The same from a sample of the tuples that passed."""
        return self.add(passed, measure(sample, sequence, self.settings.drift), sample.tuples)

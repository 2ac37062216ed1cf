"""The best and the worst of all orders of a sample: every other order of the same tuples costs something in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order import exact
from eddyline.order.sample_table import Costs, Ending, SampleTable
from eddyline.order.strategies.growing import GrowingStrategy, GrowthStep


def best_order(
    sample: Sample,
    *,
    costs: Sequence[float] | None = None,
    ending: Ending = "dropped",
    ties: Ending | None = None,
) -> VisitOrder:
    """The order of least cost: ASCs visited, or each visit at the cost of its subject."""
    return exact.best_order(SampleTable(sample), _costs(sample, costs), ending=ending, ties=ties)


def worst_order(
    sample: Sample, *, costs: Sequence[float] | None = None, ending: Ending = "dropped"
) -> VisitOrder:
    """The order of greatest cost."""
    return exact.best_order(SampleTable(sample), -_costs(sample, costs), ending=ending)


def _costs(sample: Sample, costs: Sequence[float] | None) -> Costs:
    return np.asarray(costs if costs is not None else [1.0] * sample.subjects, np.float64)


def bad_order(sample: Sample) -> VisitOrder:
    """An order of any number of subjects with very many visits: each time the one that drops the fewest tuples."""
    growing = _MostVisits(sample.ascs, VisitOrder(tuple(range(sample.subjects))))
    while not growing.ready:
        growing.observe(sample)
    return growing.propose()


class _MostVisits(GrowingStrategy):
    def rank(self, step: GrowthStep, subject: int) -> tuple[float, ...]:
        return -step.alive[subject], -step.ones[subject]

"""A greedy order by time: each time the subject that ends the most for what its visits cost."""

from __future__ import annotations

from collections.abc import Sequence as List

from eddyline.config import StrategyName
from eddyline.model.asc import ASC
from eddyline.model.sequence import Sequence
from eddyline.order.growing import Step
from eddyline.order.macro import Macro
from eddyline.order.statistics import ones


class Cheapest(Macro):
    """The macro-sequence with costs: what `adaptive` looks at where subjects are too many for all orders."""

    def __init__(self, ascs: List[ASC], start: Sequence, costs: List[float]) -> None:
        self.costs = tuple(costs)
        super().__init__(ascs, start)

    @property
    def name(self) -> StrategyName:
        return "adaptive"

    def rank(self, step: Step, subject: int) -> tuple[float, ...]:
        """Queries that fail, then tuples that are dropped, each by the cost of the visit; most first."""
        left = self.left()
        after = step.after(subject)
        if left.any():
            return (-(ones(step.grb & left) - ones(after & left)) / self.costs[subject],)
        ended = len(after) - int(after.any(axis=1).sum())
        return (-ended / self.costs[subject], self.alone[subject])

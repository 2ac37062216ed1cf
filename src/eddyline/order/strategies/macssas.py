"""`macssas` (ASC-1): by selectivity, inside a cover set of least size first, then among the other subjects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from eddyline.model.asc import ASC
from eddyline.model.sample import query_usage
from eddyline.model.visit_order import VisitOrder
from eddyline.order.cover_set import minimal_cover_set
from eddyline.order.strategies.growing import GrowingStrategy, GrowthStep


class Macssas(GrowingStrategy):
    """Takes |subjects| - 2 periods: the last of the cover set and the last of all have no rival."""

    name: Final[Literal["macssas"]] = "macssas"

    def __init__(self, ascs: Sequence[ASC], start: VisitOrder) -> None:
        self.cover = frozenset(minimal_cover_set(query_usage(ascs)))
        super().__init__(ascs, start)

    def candidates(self) -> tuple[int, ...]:
        rest = self._rest()
        return tuple(subject for subject in rest if subject in self.cover) or rest

    def rank(self, step: GrowthStep, subject: int) -> tuple[float, ...]:
        return (step.ones[subject],)

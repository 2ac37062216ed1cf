"""`sas` (ASC-1): each time the subject after which the fewest queries are possible."""

from __future__ import annotations

from typing import Final, Literal

from eddyline.order.strategies.growing import GrowingStrategy, GrowthStep


class Sas(GrowingStrategy):
    """Greedy by the selectivity of the sequence."""

    name: Final[Literal["sas"]] = "sas"

    def rank(self, step: GrowthStep, subject: int) -> tuple[float, ...]:
        """All candidates share the denominator k * |tau|, so ones are compared."""
        return (step.ones[subject],)

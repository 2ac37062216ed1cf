"""`fixed`: the sequence in force stays; without one, subjects by number."""

from __future__ import annotations

from typing import Final, Literal

from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder


class Fixed:
    """Proposes what it was given."""

    name: Final[Literal["fixed"]] = "fixed"
    ready: Final = True

    def __init__(self, start: VisitOrder) -> None:
        self.start = start

    def observe(self, sample: Sample) -> None:
        """Look at nothing."""

    def propose(self) -> VisitOrder:
        return self.start

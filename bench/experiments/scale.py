"""How much of a paper's experiment is run: 1 is all of it, 0.02 the quick run, less a trial that only shows it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

QUICK: Final = 0.02


@dataclass(frozen=True)
class Scale:
    """A share of the paper's sizes, which for the quick run are the ones given beside them."""

    share: float = QUICK

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"the scale is {self.share:g}, it must be above 0 and at most 1")

    def tuples(self, paper: int, quick: int) -> int:
        """A number of tuples, in thousands."""
        return max(2, round(self.steps(paper, quick) / 1_000)) * 1_000

    def steps(self, paper: int, quick: int, least: int = 1) -> int:
        """Tuples of a period, or how often something is repeated: grows from the quick run to the paper's."""
        if self.share <= QUICK:
            return max(least, round(quick * self.share / QUICK))
        return round(quick + (paper - quick) * (self.share - QUICK) / (1 - QUICK))

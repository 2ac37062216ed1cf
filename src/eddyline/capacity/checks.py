"""A prediction beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """Rows a second that some cores took, as predicted before and as measured, while rows were always waiting."""

    place: str
    cores: int
    queries: int
    columns: int
    rows: int  # of a batch
    predicted: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured by predicted: below 1 the prediction promised too much."""
        return self.measured / self.predicted

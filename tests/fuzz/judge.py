"""What a judge is asked: to search from a seed on; and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Searched:
    """How many queries were compared, and the findings, each as text that says all about it."""

    queries: int
    findings: list[str]


class Judge(Protocol):
    """Anybody who can say what is wrong with random queries."""

    def search(self, seed: int, zone: str, most: int) -> Searched:
        """The queries of some seeds from this one on; at most so many findings."""

"""How much a report holds of each query, and how much is looked at together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Settings:
    """How much a report holds of each query."""

    buckets: int = 256  # at most; fewer where there are very many queries
    samples: int = 3
    overlaps: int = 5
    block_rows: int = 16_384
    block_matches: int = 1 << 22  # a block with more is cut


DEFAULT: Final = Settings()


def within(wanted: int, budget: int, queries: int, *, least: int) -> int:
    """As much a query as wanted, less where all together would take more than a budget.

    >>> within(256, 1 << 20, 10, least=32), within(256, 1 << 20, 10_000, least=32)
    (256, 104)
    """
    return min(wanted, max(least, budget // max(1, queries)))

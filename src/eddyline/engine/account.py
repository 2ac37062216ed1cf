"""What pushes did, in numbers: one batch, and everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eddyline.project.account import Account


@dataclass(frozen=True, slots=True)
class BatchAccount:
    """One push: the batch, the version that it met, and what became of its tuples.

    `queries` has the matches of every query that has any. `deliveries` counts tables. `left_out` are tuples that joins
    could not take, by reason: they are matched all the same.
    """

    stream: str
    version: int
    tuples: int = 0
    matched: int = 0
    deliveries: int = 0
    total: Account = field(default_factory=Account)
    queries: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PushTotals:
    """All pushes together; `left_out` as in the account of one."""

    batches: int = 0
    tuples: int = 0
    matched: int = 0
    deliveries: int = 0
    total: Account = field(default_factory=Account)
    left_out: Mapping[str, int] = field(default_factory=dict)

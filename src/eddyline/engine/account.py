"""What was done, in numbers: of one query, of one batch, of everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Account:
    """Of every match it is said what became of it: matches = delivered + shadowed + undelivered.

    `shadowed` matches belong to shadow queries, `undelivered` ones to projections that failed. `failures` counts
    operations inside of expressions that gave NULL because they failed. `errors` are conditions, projections and
    receivers that failed.
    """

    matches: int = 0
    delivered: int = 0
    shadowed: int = 0
    undelivered: int = 0
    failures: int = 0
    errors: int = 0

    @property
    def agrees(self) -> bool:
        """Whether nothing is missing."""
        return self.matches == self.delivered + self.shadowed + self.undelivered

    def __add__(self, other: Account) -> Account:
        return Account(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Account)))

    def __sub__(self, other: Account) -> Account:
        return Account(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(Account)))


@dataclass(frozen=True, slots=True)
class BatchAccount:
    """One push: the batch, the version that it met, and what became of its tuples.

    `queries` has the matches of every query that has any. `deliveries` counts tables.
    """

    stream: str
    version: int
    tuples: int = 0
    matched: int = 0
    deliveries: int = 0
    total: Account = Account()
    queries: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Totals:
    """All pushes together."""

    batches: int = 0
    tuples: int = 0
    matched: int = 0
    deliveries: int = 0
    total: Account = Account()

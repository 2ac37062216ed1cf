"""The states that a registered query may be in, and what a check says of one that is to be registered."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """What becomes of a query's matches."""

    ENABLED = "enabled"  # evaluated, counted and delivered
    DISABLED = "disabled"  # kept, and not evaluated
    SHADOW = "shadow"  # evaluated and counted, not delivered


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says of a query that it lets in; `state` overrules what was asked for, and `note` says why.

    `digest` is that of its normal form, None where nobody can know it here; `same_as` is the query whose alias it is.
    """

    spark_only: bool = False
    state: State | None = None
    note: str | None = None
    same_as: str | None = None
    digest: str | None = field(default=None, repr=False)

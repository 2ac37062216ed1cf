"""The durable truth about queries: versions with author, time and reason, in SQLite or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eddyline.model.query_state import State, Verdict
from eddyline.registry.values import (
    KEEP,
    Budget,
    Change,
    Check,
    Diff,
    Drop,
    Edit,
    Entry,
    Put,
    Set,
    Step,
    Version,
)

if TYPE_CHECKING:
    from eddyline.registry.registry import Registry

__all__ = [
    "KEEP",
    "Budget",
    "Change",
    "Check",
    "Diff",
    "Drop",
    "Edit",
    "Entry",
    "Put",
    "Registry",
    "Set",
    "State",
    "Step",
    "Verdict",
    "Version",
]


def __getattr__(name: str) -> Any:
    """Import SQLAlchemy only where a registry is used: it takes longer than the rest of the package together."""
    if name != "Registry":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from eddyline.registry.registry import Registry

    return Registry

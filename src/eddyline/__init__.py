"""Many standing SQL queries over streams, evaluated together on every arriving tuple."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from eddyline import reference
from eddyline.compile import Compiler
from eddyline.engine import Deliveries, DeliveryError, DeliveryLog, Engine
from eddyline.errors import (
    EddylineError,
    LedgerError,
    QueryError,
    RegistryError,
    SchemaError,
    UnknownQueryError,
)
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query, StandingQuery
from eddyline.queryset import QuerySet

if _TYPE_CHECKING:
    from eddyline.registry import Registry

__all__ = [
    "Compiler",
    "Deliveries",
    "DeliveryError",
    "DeliveryLog",
    "EddylineError",
    "Engine",
    "LedgerError",
    "Matches",
    "Query",
    "QueryError",
    "QuerySet",
    "Registry",
    "RegistryError",
    "SchemaError",
    "StandingQuery",
    "Stream",
    "UnknownQueryError",
    "reference",
]


def __getattr__(name: str) -> _Any:
    """Bring the registry, and SQLAlchemy with it, only where it is used."""
    if name != "Registry":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from eddyline.registry import Registry

    return Registry

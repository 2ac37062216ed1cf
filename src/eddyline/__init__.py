"""Many standing SQL queries over streams, evaluated together on every arriving tuple."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from eddyline import reference
from eddyline.admission import Admission
from eddyline.compile import Compiler
from eddyline.config import IndexSettings, JoinSettings, OrderSettings
from eddyline.engine import Deliveries, DeliveryFailure, DeliveryLog, Engine
from eddyline.errors import (
    BrokenFileError,
    ConflictError,
    DeliveryError,
    EddylineError,
    FileError,
    FullDiskError,
    IdError,
    InternalError,
    LedgerError,
    NameRefusedError,
    OwnershipError,
    PipelineError,
    QueryError,
    RefusedError,
    RegistryError,
    SchemaError,
    SettingsError,
    SetupError,
    SinkError,
    SparkGoneError,
    UnknownQueryError,
    UsageError,
)
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query, StandingQuery
from eddyline.queryset import QuerySet
from eddyline.relations import (
    Budget,
    Redundancies,
    Related,
    Relation,
    disjoint,
    equivalent,
    implies,
    never_true,
    relate,
)

if _TYPE_CHECKING:
    from eddyline.registry import Registry

__all__ = [
    "Admission",
    "BrokenFileError",
    "Budget",
    "Compiler",
    "ConflictError",
    "Deliveries",
    "DeliveryError",
    "DeliveryFailure",
    "DeliveryLog",
    "EddylineError",
    "Engine",
    "FileError",
    "FullDiskError",
    "IdError",
    "IndexSettings",
    "InternalError",
    "JoinSettings",
    "LedgerError",
    "Matches",
    "NameRefusedError",
    "OrderSettings",
    "OwnershipError",
    "PipelineError",
    "Query",
    "QueryError",
    "QuerySet",
    "Redundancies",
    "RefusedError",
    "Registry",
    "RegistryError",
    "Related",
    "Relation",
    "SchemaError",
    "SettingsError",
    "SetupError",
    "SinkError",
    "SparkGoneError",
    "StandingQuery",
    "Stream",
    "UnknownQueryError",
    "UsageError",
    "disjoint",
    "equivalent",
    "implies",
    "never_true",
    "reference",
    "relate",
]


def __getattr__(name: str) -> _Any:
    """Bring the registry, and SQLAlchemy with it, only where it is used."""
    if name != "Registry":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from eddyline.registry import Registry

    return Registry

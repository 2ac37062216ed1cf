"""Many standing SQL queries over streams, evaluated together on every arriving tuple."""

from eddyline import reference
from eddyline.compile import Compiler
from eddyline.errors import EddylineError, QueryError, SchemaError
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query
from eddyline.queryset import QuerySet

__all__ = [
    "Compiler",
    "EddylineError",
    "Matches",
    "Query",
    "QueryError",
    "QuerySet",
    "SchemaError",
    "Stream",
    "reference",
]

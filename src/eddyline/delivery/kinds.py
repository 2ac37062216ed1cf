"""Which Arrow types hold text, and which bytes: they stand in JSON in a form of their own."""

from __future__ import annotations

import pyarrow as pa

from eddyline.model import types as t
from eddyline.model.catalog import spark_type


def is_text(kind: pa.DataType) -> bool:
    """Whether values are text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are bytes, which stand in text as base 64."""
    return spark_type(kind) == t.BINARY

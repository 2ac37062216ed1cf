"""Rows of the evaluator as people and Arrow want them: dates and times as such, NULL as None."""

from __future__ import annotations

from collections.abc import Container, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.normalize.explain import show


def readable(row: Mapping[str, Any], stream: Stream) -> dict[str, Any]:
    """A row with Python's dates and times; one beyond their calendar stays a number, which Arrow takes as well.

    >>> import pyarrow as pa
    >>> readable(
    ...     {"day": 1, "name": None}, Stream("s", pa.schema([("day", pa.date32()), ("name", pa.string())]))
    ... )
    {'day': datetime.date(1970, 1, 2), 'name': None}
    """
    return {name: _value(value, stream.types[name]) for name, value in row.items()}


def row_text(row: Mapping[str, Any], stream: Stream, names: Container[str]) -> str:
    """The named columns of a row on one line.

    >>> import pyarrow as pa
    >>> row_text({"a": 1, "b": None}, Stream("s", pa.schema([("a", pa.int32()), ("b", pa.int32())])), {"a"})
    '{a: 1}'
    """
    shown = [f"{name}: {show(value, stream.types[name])}" for name, value in row.items() if name in names]
    return "{" + ", ".join(shown) + "}"


def _value(value: Any, kind: t.DataType) -> Any:
    if value is None:
        return None
    try:
        if kind == t.DATE:
            return date(1970, 1, 1) + timedelta(days=value)
        if kind == t.TIMESTAMP:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
        if kind == t.TIMESTAMP_NTZ:
            return datetime(1970, 1, 1) + timedelta(microseconds=value)
    except OverflowError:
        return value
    if isinstance(kind, t.StructType):
        return {name: _value(part, inner) for (name, inner), part in zip(kind.fields, value, strict=True)}
    if isinstance(kind, t.ArrayType):
        return [_value(part, kind.element) for part in value]
    if isinstance(kind, t.MapType):
        return [(_value(key, kind.key), _value(part, kind.value)) for key, part in value]
    return value

"""Data frames of pandas and polars as Arrow tables: only the columns that a stream has, the others are not looked at."""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream

_LABELS: Final = b"eddyline.labels"
_REASONS: Final = b"eddyline.reasons"


def from_polars(frame: Any, stream: Stream) -> pa.Table:
    """The columns of a stream that a frame of polars has."""
    table = frame.select([name for name in frame.columns if name.lower() in stream.spelling]).to_arrow()
    return _annotated(table, frame, stream, {})


def from_pandas(frame: Any, stream: Stream) -> pa.Table:
    """The columns of a stream that a frame of pandas has, as far as they have a form in Arrow.

    If one has none, that is nothing to stumble over before a query reads it: `why_missing` tells it then.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    reasons: dict[str, str] = {}
    for place, label in enumerate(map(str, frame.columns)):
        name = stream.spelling.get(label.lower())
        if name is None or label in columns:
            continue
        try:
            columns[label] = _array(frame.iloc[:, place], stream.schema.field(name).type)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            reasons[name] = str(error)
    return _annotated(pa.table(columns), frame, stream, reasons)


def _array(series: Any, declared: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """A column in the type that pandas gives it; what it only has as objects, such as maps, in the declared one."""
    nested = series.dtype == object and pa.types.is_nested(declared)
    return pa.array(series, type=declared if nested else None, from_pandas=True)


def _annotated(table: pa.Table, frame: Any, stream: Stream, reasons: dict[str, str]) -> pa.Table:
    """The table, with what is to be said if somebody misses a column."""
    if table.num_columns == len(stream.spelling):
        return table
    if not table.num_columns:  # it would have no rows either
        table = pa.table({"": pa.nulls(len(frame))})
    labels = [str(label) for label in frame.columns][:12]
    return table.replace_schema_metadata({_LABELS: json.dumps(labels), _REASONS: json.dumps(reasons)})


def why_missing(schema: pa.Schema, name: str) -> tuple[list[str], str | None]:
    """The columns that a batch had before it was a table, and why the one named is not among those of the table."""
    notes = schema.metadata or {}
    labels = json.loads(notes[_LABELS]) if _LABELS in notes else schema.names[:12]
    return labels, json.loads(notes.get(_REASONS, b"{}")).get(name)

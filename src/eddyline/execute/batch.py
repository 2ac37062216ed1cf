"""A batch as it comes in: Arrow, pandas or polars, checked against the stream's columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.execute.conversion import Convert, conversion
from eddyline.execute.frames import from_pandas, from_polars, why_missing
from eddyline.model.catalog import Stream

Columns = dict[str, pa.Array | pa.ChunkedArray]
Places = tuple[
    tuple[str, int, Convert | None], ...
]  # columns by the stream's names, where they stand, what they need


def columns_of(batch: Any, stream: Stream, used: Iterable[str]) -> tuple[Columns, int]:
    """The used columns by the stream's names, and the number of rows."""
    table = arrow_of(batch, stream)
    return columns_at(table, find_places(table.schema, stream, tuple(used))), table.num_rows


def columns_at(table: pa.RecordBatch | pa.Table, places: Places) -> Columns:
    """The columns at some places, as the stream declares them."""
    return {
        name: table.column(place) if convert is None else convert(table.column(place))
        for name, place, convert in places
    }


def find_places(schema: pa.Schema, stream: Stream, used: tuple[str, ...]) -> Places:
    """Where the used columns stand in batches of a schema, once their types are found to fit."""
    try:
        return _known_places(schema, stream, used)
    except TypeError:  # an extension type that is defined in Python has no hash
        return _places(schema, stream, used)


def _places(schema: pa.Schema, stream: Stream, used: tuple[str, ...]) -> Places:
    spelled = {name.lower(): place for place, name in reversed(list(enumerate(schema.names)))}
    found = []
    for name in used:
        place = spelled.get(name.lower())
        if place is None:
            raise _missing(schema, stream, name)
        found.append((name, place, conversion(stream, name, schema.field(place).type)))
    return tuple(found)


_known_places = lru_cache(maxsize=256)(_places)


def _missing(schema: pa.Schema, stream: Stream, name: str) -> SchemaError:
    labels, reason = why_missing(schema, name)
    if reason is not None:
        return SchemaError(
            f'column "{name}" of the batch for stream "{stream.name}" cannot be read: {reason}',
            hint=f"give it values of one type, {stream.types.get(name, 'as the stream declares it')}",
        )
    return SchemaError(
        f'the batch for stream "{stream.name}" has no column "{name}"',
        hint=f"its columns are {', '.join(labels)}",
    )


def arrow_of(batch: Any, stream: Stream) -> pa.RecordBatch | pa.Table:
    """A batch in Arrow's form; of data frames what the stream has."""
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return batch
    if hasattr(batch, "iloc"):
        return from_pandas(batch, stream)
    if hasattr(batch, "to_arrow"):
        return from_polars(batch, stream)
    if hasattr(batch, "__arrow_c_stream__"):  # whatever else speaks Arrow
        return pa.table(batch)
    raise SchemaError(
        f"a batch is a RecordBatch, a Table, or a pandas or polars data frame, not {type(batch).__name__}",
        hint="pyarrow.record_batch({...}) makes one",
    )

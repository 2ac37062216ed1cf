"""A batch as it comes in: Arrow, pandas or polars, checked against the stream's columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.functions.coercion import common_type
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type

Columns = dict[str, pa.Array | pa.ChunkedArray]


def columns_of(batch: Any, stream: Stream, used: Iterable[str]) -> tuple[Columns, int]:
    """The used columns by the stream's names, and the number of rows."""
    table = _arrow(batch)
    places = _places(table.schema, stream, tuple(used))
    return {name: table.column(place) for name, place in places}, table.num_rows


@lru_cache(maxsize=256)
def _places(schema: pa.Schema, stream: Stream, used: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Where the used columns stand in batches of a schema, once their types are found to fit."""
    spelled = {name.lower(): place for place, name in reversed(list(enumerate(schema.names)))}
    found = []
    for name in used:
        place = spelled.get(name.lower())
        if place is None:
            raise SchemaError(
                f'the batch for stream "{stream.name}" has no column "{name}"',
                hint=f"its columns are {', '.join(schema.names[:12])}",
            )
        _check(stream, name, schema.field(place).type)
        found.append((name, place))
    return tuple(found)


def _arrow(batch: Any) -> pa.RecordBatch | pa.Table:
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return batch
    if hasattr(batch, "to_arrow"):  # polars
        return batch.to_arrow()
    if hasattr(batch, "__arrow_c_stream__"):  # pandas and whatever else speaks Arrow
        return pa.table(batch)
    if type(batch).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(batch, preserve_index=False)
    raise SchemaError(
        f"a batch is a RecordBatch, a Table, or a pandas or polars data frame, not {type(batch).__name__}",
        hint="pyarrow.record_batch({...}) makes one",
    )


def _check(stream: Stream, name: str, arrow: pa.DataType) -> None:
    """Only the declared type, or one that it holds without loss."""
    declared, found = stream.types.get(name), spark_type(arrow)
    if declared == found or found == t.VOID:
        return
    widened = (
        None if declared is None or found is None else common_type(declared, found, promote_strings=False)
    )
    if declared is not None and widened == declared and not (found == t.LONG and declared == t.DOUBLE):
        return
    raise SchemaError(
        f'column "{name}" of the batch for stream "{stream.name}" has the type {arrow}, but {declared} is declared'
    )

"""A batch as it comes in: Arrow, pandas or polars, checked against the stream's columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.functions.coercion import DECIMAL_OF, wider_decimal
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type

Columns = dict[str, pa.Array | pa.ChunkedArray]
Places = tuple[tuple[str, int], ...]  # columns by the stream's names, and where they stand


def columns_of(batch: Any, stream: Stream, used: Iterable[str]) -> tuple[Columns, int]:
    """The used columns by the stream's names, and the number of rows."""
    table = arrow_of(batch)
    places = find_places(table.schema, stream, tuple(used))
    return {name: table.column(place) for name, place in places}, table.num_rows


@lru_cache(maxsize=256)
def find_places(schema: pa.Schema, stream: Stream, used: tuple[str, ...]) -> Places:
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


def arrow_of(batch: Any) -> pa.RecordBatch | pa.Table:
    """A batch in Arrow's form."""
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
    declared, found = stream.types.get(name), spark_type(arrow)
    if declared is None or found is None or not fits(found, declared):
        raise SchemaError(
            f'column "{name}" of the batch for stream "{stream.name}" has the type {arrow}, but '
            f"{declared or stream.schema.field(name).type} is declared",
            hint="cast the column, or declare the stream with the type that it has",
        )


def fits(found: t.DataType, declared: t.DataType) -> bool:
    """Whether every value of a type is a value of the declared one: the same type, or a widening without loss.

    >>> fits(t.INT, t.LONG), fits(t.INT, t.DOUBLE), fits(t.LONG, t.DOUBLE), fits(t.DATE, t.TIMESTAMP)
    (True, True, False, False)
    """
    if found in (declared, t.VOID):
        return True
    if t.is_integral(found):
        if isinstance(declared, t.DecimalType):
            return declared.precision - declared.scale >= DECIMAL_OF[found].precision
        exact = {t.FLOAT: t.SHORT, t.DOUBLE: t.INT}.get(declared, declared)  # widest integers that these hold
        return exact in t.INTEGRAL and t.INTEGRAL.index(found) <= t.INTEGRAL.index(exact)
    if isinstance(found, t.DecimalType) and isinstance(declared, t.DecimalType):
        return wider_decimal(found, declared) == declared
    return found == t.FLOAT and declared == t.DOUBLE

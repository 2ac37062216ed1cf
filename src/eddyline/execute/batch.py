"""A batch as it comes in: Arrow, pandas or polars, checked against the stream's columns that are used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.functions.coercion import DECIMAL_OF, wider_decimal
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type

Columns = dict[str, pa.Array | pa.ChunkedArray]
WIDE: Final = (
    16  # of so many columns one is read, or fewer: then what is read is compared, and not the whole schema
)


class ColumnReader:
    """Takes some columns of a stream out of its batches; what is not read is neither looked at nor checked.

    Batches of a stream mostly have one schema, so where the columns stand is found out once. Whether the next schema is
    the same takes 0.1 us where it is the same object, 0.35 us a column where it is not, and 0.9 us for each column read.

    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> columns, rows = ColumnReader(quotes, ["price"]).read(pa.record_batch({"Price": [1.5], "symbol": [7]}))
    >>> {name: column.to_pylist() for name, column in columns.items()}, rows
    ({'price': [1.5]}, 1)
    """

    def __init__(self, stream: Stream, used: Iterable[str]) -> None:
        self._stream = stream
        self.used = tuple(used)
        self._last: _Places | None = None

    def read(self, batch: Any) -> tuple[Columns, int]:
        """The used columns by the stream's names, and the number of rows."""
        table = arrow_of(batch)
        schema, last = table.schema, self._last
        if last is None or not last.holds_for(schema):
            last = self._last = _find_places(schema, self._stream, self.used)
        return {name: table.column(place) for name, place in last.places}, table.num_rows


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the used columns stand in batches of a schema, by the stream's names, which the schema may spell otherwise."""

    schema: pa.Schema
    places: tuple[tuple[str, int], ...]
    spelled_alike: bool

    def holds_for(self, schema: pa.Schema) -> bool:
        """Whether another schema has the same columns in these places."""
        if self.spelled_alike and WIDE * len(self.places) < len(schema):
            return all(
                schema.get_field_index(name) == place
                and schema.field(place).type == self.schema.field(place).type
                for name, place in self.places
            )
        return bool(self.schema.equals(schema))


def _find_places(schema: pa.Schema, stream: Stream, used: Iterable[str]) -> _Places:
    """Places of columns, once their types are found to fit: the name as it is, else the first in another case."""
    exact = [(name, schema.get_field_index(name)) for name in used]
    others: dict[str, int] = {}
    if any(place < 0 for _, place in exact):
        others = {name.lower(): place for place, name in reversed(list(enumerate(schema.names)))}
    found = []
    for name, place in exact:
        place = others.get(name.lower(), -1) if place < 0 else place
        if place < 0:
            raise SchemaError(
                f'the batch for stream "{stream.name}" has no column "{name}"',
                hint=f"its columns are {', '.join(schema.names[:12])}",
            )
        _check(stream, name, schema.field(place).type)
        found.append((name, place))
    return _Places(schema, tuple(found), spelled_alike=not others)


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

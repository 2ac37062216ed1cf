"""Arrow batches as rows of Python values, as `model.types` describes them.

Times go through integers: Python's own dates end with the year 9999. A time that microseconds in a bigint (for a date:
days in an int) cannot hold is NULL, as the result of every other conversion that fails.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type
from eddyline.reference.numbers.floats import round32
from eddyline.reference.text import from_octets

_MICROSECONDS: Final = {"s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}
_MILLISECONDS_PER_DAY: Final = 86_400_000


def rows(batch: pa.RecordBatch | pa.Table, stream: Stream) -> list[dict[str, Any]]:
    """One mapping a row, from the name of each column that has a type in Spark to its value."""
    columns = [_column(batch, stream, name) for name in stream.types]
    return [dict(zip(stream.types, row, strict=True)) for row in zip(*columns, strict=True)] or [
        {} for _ in range(0 if columns else batch.num_rows)
    ]


def _column(batch: pa.RecordBatch | pa.Table, stream: Stream, name: str) -> list[Any]:
    if name not in batch.schema.names:
        raise SchemaError(f'a batch of stream "{stream.name}" has no column "{name}"')
    column = batch.column(name)
    if spark_type(column.type) != stream.types[name]:
        raise SchemaError(
            f'column "{name}" of stream "{stream.name}" is {stream.types[name]}, but the batch has {column.type}'
        )
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [value for chunk in chunks for value in values(chunk)]


def values(array: pa.Array) -> list[Any]:
    """The values of an Arrow array.

    >>> values(pa.array([None, -1], pa.timestamp("ns"))), values(pa.array([2**64 - 1], pa.uint64()))
    ([None, -1], [Decimal('18446744073709551615')])
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return values(array.storage)
    if pa.types.is_dictionary(kind):
        distinct = values(array.dictionary)
        return [None if index is None else distinct[index] for index in array.indices.to_pylist()]
    if pa.types.is_run_end_encoded(kind):
        runs, ends = values(array.values), array.run_ends.to_pylist()
        return [runs[bisect_right(ends, array.offset + row)] for row in range(len(array))]
    if pa.types.is_struct(kind):
        return _structs(array)
    if pa.types.is_map(kind):
        pairs = list(zip(values(array.keys), values(array.items), strict=True))
        return _slices(array, pairs)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _slices(array, values(array.values))
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return [None if each is None else values(each) for each in map(_inside, array)]
    return [None if plain is None else _value(kind, plain) for plain in _plain(array)]


def _plain(array: pa.Array) -> list[Any]:
    """Times as integers, text as bytes, the rest as it is."""
    kind = array.type
    if pa.types.is_date32(kind):
        return list(array.view(pa.int32()).to_pylist())
    if pa.types.is_temporal(kind):
        return list(array.view(pa.int64()).to_pylist())
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return list(array.cast(pa.binary()).to_pylist())
    if pa.types.is_binary_view(kind):
        return list(array.cast(pa.binary()).to_pylist())
    if pa.types.is_large_string(kind):
        return list(array.cast(pa.large_binary()).to_pylist())
    return list(array.to_pylist())


def _value(kind: pa.DataType, plain: Any) -> Any:
    if pa.types.is_date64(kind):
        return _held(t.DATE, plain // _MILLISECONDS_PER_DAY)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        times, parts = _MICROSECONDS[kind.unit]
        return _held(t.TIMESTAMP, plain * times // parts)
    if pa.types.is_uint64(kind):
        return Decimal(plain)
    if pa.types.is_floating(kind):
        return plain if pa.types.is_float64(kind) else round32(float(plain))
    if isinstance(plain, bytes) and spark_type(kind) == t.STRING:
        return from_octets(plain)
    return plain


def _held(kind: t.DataType, value: int) -> int | None:
    low, high = t.RANGE[kind]
    return value if low <= value <= high else None


def _slices(array: pa.Array, items: list[Any]) -> list[Any]:
    """Lists and maps: each row is a piece of the flat items."""
    offsets = array.offsets.to_pylist()
    pieces = zip(array.is_valid().to_pylist(), offsets, offsets[1:], strict=False)
    return [items[start:end] if valid else None for valid, start, end in pieces]


def _structs(array: pa.Array) -> list[Any]:
    fields = [values(field) for field in array.flatten()]
    tuples = list(zip(*fields, strict=True)) if fields else [()] * len(array)
    valid = array.is_valid().to_pylist()
    return [value if there else None for there, value in zip(valid, tuples, strict=True)]


def _inside(scalar: pa.Scalar) -> pa.Array | None:
    return scalar.values

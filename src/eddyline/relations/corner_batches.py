"""Rows of the evaluator as Arrow batches of a stream, as far as its columns can hold them exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream

_PER_UNIT: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}  # microseconds
_LARGEST: Final = 2**63


def fits(row: Mapping[str, Any], stream: Stream) -> bool:
    """Whether the columns of a stream can hold the values of a row, none of them rounded.

    >>> seconds = Stream("s", pa.schema([("at", pa.timestamp("s"))]))
    >>> fits({"at": 2_000_000}, seconds), fits({"at": 2_000_001}, seconds), fits({"at": None}, seconds)
    (True, False, True)
    """
    return all(_is_held(value, stream.schema.field(name).type) for name, value in row.items())


def _is_held(value: Any, kind: pa.DataType) -> bool:
    if value is None:
        return True
    if pa.types.is_timestamp(kind):
        return bool(abs(value) < _LARGEST // 1000 if kind.unit == "ns" else value % _PER_UNIT[kind.unit] == 0)
    plain = (
        pa.types.is_signed_integer,
        pa.types.is_float32,
        pa.types.is_float64,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_date32,
        pa.types.is_decimal128,
    )
    return any(is_kind(kind) for is_kind in plain)


def batch_of(rows: Sequence[Mapping[str, Any]], stream: Stream) -> pa.RecordBatch:
    """Rows that fit as a batch; columns that a row does not have are NULL there."""
    arrays = [
        _column([row.get(name) for row in rows], stream.schema.field(name).type) for name in stream.types
    ]
    return pa.record_batch(arrays, names=list(stream.types))


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if pa.types.is_timestamp(kind):
        factor, divisor = (1000, 1) if kind.unit == "ns" else (1, _PER_UNIT[kind.unit])
        values = [None if value is None else value * factor // divisor for value in values]
    return pa.array(values, kind, from_pandas=False)

"""Brings a column, in whatever Arrow form it comes, to the canonical Arrow type of its Spark type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import (
    Outcome,
    arrow_type,
    nulls,
    outcome,
    validity,
    with_parts,
)
from eddyline.model import types as t

_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def read(column: pa.Array | pa.ChunkedArray, kind: t.DataType) -> Outcome:
    """The column's values, from any ordinary layout; a time that does not fit into 64 bits of microseconds fails.

    Dictionaries are decoded, unsigned integers widened, nanoseconds rounded down.

    >>> read(pa.array([-1, None], pa.timestamp("ns")), t.TIMESTAMP_NTZ).values.cast(pa.int64()).to_pylist()
    [-1, None]
    """
    array = _one_array(column)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    target = arrow_type(kind)
    if array.type == target:
        return Outcome(array)
    if kind == t.VOID or pa.types.is_null(array.type):
        return Outcome(nulls(len(array), kind))
    if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME):
        return _times(array, kind)
    if pa.types.is_date64(array.type):
        days = np.asarray(array.view(pa.int64()).fill_null(0)) // 86_400_000
        return outcome(days.astype(np.int32), validity(array), t.DATE)
    if isinstance(kind, t.ArrayType | t.MapType | t.StructType):
        return Outcome(with_parts(array, kind, lambda part, inner: read(part, inner).values))
    if pa.types.is_fixed_size_binary(array.type):
        return Outcome(pc.cast(array, pa.binary()))
    return Outcome(pc.cast(array, target))


def read_dictionary(column: pa.Array | pa.ChunkedArray, kind: t.DataType) -> pa.DictionaryArray | None:
    """A column that comes as a dictionary, its values brought to the canonical type; None for other columns.

    A dictionary with more values than the column has is not worth reading: None for it, too.

    >>> read_dictionary(pa.array(["a", "a", None]).dictionary_encode(), t.STRING).indices.to_pylist()
    [0, 0, None]
    """
    if not pa.types.is_dictionary(column.type):
        return None
    array = _one_array(column)
    if len(array.dictionary) > len(array):
        return None
    values = read(array.dictionary, kind).values
    return array if values is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, values)


def _one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # `combine_chunks` would copy it
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, array.type)
    return array


def _times(array: pa.Array, kind: t.DataType) -> Outcome:
    unit = array.type.unit
    values = np.asarray(array.view(pa.int64()).fill_null(0))
    if unit == "ns":
        return outcome(values // 1000, validity(array), kind)
    factor = _MICROS[unit]
    limit = (2**63 - 1) // factor
    failed = (values > limit) | (values < -limit)
    return outcome(np.where(failed, 0, values) * factor, validity(array), kind, failed)

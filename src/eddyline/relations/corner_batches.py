"""Rows and ends of ranges as Arrow columns, in the type in which a column's values are held, whatever a stream declares.

A stream may declare seconds, and conditions on it speak of microseconds: the matcher takes both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.evaluate.arrays import arrow_type
from eddyline.kernels.ordinals import INFINITY, NAN
from eddyline.model import types as t
from eddyline.model.arrays import Flags
from eddyline.model.catalog import Stream

Longs = npt.NDArray[np.int64]
_NESTED: Final = (t.ArrayType, t.MapType, t.StructType)


def is_flat(row: Mapping[str, Any], stream: Stream) -> bool:
    """Whether a row has values only in columns that are no arrays, maps or structs."""
    return all(value is None or not isinstance(stream.types[name], _NESTED) for name, value in row.items())


def batch_of(rows: Sequence[Mapping[str, Any]], stream: Stream) -> pa.RecordBatch:
    """Flat rows, as the evaluator has them, as a batch; columns that a row does not have are NULL there."""
    arrays = {
        name: pa.array([row.get(name) for row in rows], arrow_type(kind), from_pandas=False)
        for name, kind in stream.types.items()
        if not isinstance(kind, _NESTED)
    }
    return filled_batch(arrays, stream, len(rows))


def filled_batch(arrays: Mapping[str, pa.Array], stream: Stream, size: int) -> pa.RecordBatch:
    """A batch with all columns of a stream, NULL where nothing is given."""
    columns = [
        arrays[name] if name in arrays else pa.nulls(size, stream.schema.field(name).type)
        for name in stream.types
    ]
    return pa.record_batch(columns, names=list(stream.types))


def ordinals_as_column(kind: t.DataType, ordinals: Longs, is_upper: Flags, missing: Flags) -> pa.Array:
    """The values of ordinals (`index/keyed/ordinals.py`), NULL where they are missing.

    Ends beyond those of the type become its least and greatest value. A 32-bit float gets the nearest one that lies inside
    of a range which the ordinal ends, as `is_upper` says, from above or from below.

    >>> ends = np.array([-(2**63), 5, 2**63 - 1])
    >>> upper, missing = np.array([False, True, True]), np.array([False, False, False])
    >>> ordinals_as_column(t.SHORT, ends, upper, missing).to_pylist()
    [-32768, 5, 32767]
    >>> ordinals_as_column(t.DOUBLE, ends, upper, missing).to_pylist()
    [-inf, 2.5e-323, nan]
    """
    if t.is_fractional(kind):
        values: npt.NDArray[Any] = _doubles(ordinals)
        if kind == t.FLOAT:
            values = _floats_inside(values, is_upper)
        return pa.array(values, mask=missing, from_pandas=False)
    if isinstance(kind, t.DecimalType):
        return _decimals(kind, ordinals, missing)
    if kind == t.BOOLEAN:
        return pa.array(ordinals > 0, mask=missing)
    held = arrow_type(kind)
    least, greatest = t.RANGE[kind]
    values = np.clip(ordinals, least, greatest).astype(f"i{held.bit_width // 8}")
    return pa.array(values, mask=missing).view(held)


def _doubles(ordinals: Longs) -> npt.NDArray[np.float64]:
    clipped = np.clip(ordinals, -INFINITY, NAN)
    magnitudes = np.abs(clipped)
    values = magnitudes.view(np.float64)
    return np.where(clipped == NAN, np.nan, np.where(clipped < 0, -values, values))


def _floats_inside(doubles: npt.NDArray[np.float64], is_upper: Flags) -> npt.NDArray[np.float32]:
    # what no float can hold becomes infinite, and is stepped back from there
    with np.errstate(over="ignore", under="ignore"):
        floats = doubles.astype(np.float32)
        outside = np.where(is_upper, floats > doubles, floats < doubles)
        toward = np.where(is_upper, np.float32(-np.inf), np.float32(np.inf))
        return np.where(outside, np.nextafter(floats, toward), floats)


def _decimals(kind: t.DecimalType, ordinals: Longs, missing: Flags) -> pa.Array:
    """Decimals of up to 18 digits: 128 bits, of which the upper half is the sign."""
    largest = 10**kind.precision - 1
    low = np.clip(ordinals, -largest, largest)
    words = np.column_stack([low, low >> 63])
    validity = pa.array(~missing).buffers()[1]
    return pa.Array.from_buffers(
        arrow_type(kind), len(low), [validity, pa.py_buffer(np.ascontiguousarray(words))]
    )

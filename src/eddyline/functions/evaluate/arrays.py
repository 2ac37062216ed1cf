"""Arrow arrays as the evaluator holds them: one canonical Arrow type for each Spark type, and numpy views of them.

Every array inside an evaluation has either one entry for each row of the batch or exactly one, which then stands for
all rows; numpy broadcasts the latter by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.model import types as t

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


class Outcome(NamedTuple):
    """What an operation gives: its values, and where it failed (None: nowhere). Failed entries are NULL."""

    values: pa.Array
    failed: Mask | None = None


_ATOMIC: Final[dict[t.DataType, pa.DataType]] = {
    t.BOOLEAN: pa.bool_(),
    t.BYTE: pa.int8(),
    t.SHORT: pa.int16(),
    t.INT: pa.int32(),
    t.LONG: pa.int64(),
    t.FLOAT: pa.float32(),
    t.DOUBLE: pa.float64(),
    t.STRING: pa.string(),
    t.BINARY: pa.binary(),
    t.DATE: pa.date32(),
    t.TIMESTAMP: pa.timestamp("us", "UTC"),
    t.TIMESTAMP_NTZ: pa.timestamp("us"),
    t.DAY_TIME: pa.duration("us"),
    t.YEAR_MONTH: pa.int32(),
    t.VOID: pa.null(),
}


@lru_cache(maxsize=4096)
def arrow_type(kind: t.DataType) -> pa.DataType:
    """The Arrow type in which values of a Spark type are held.

    >>> str(arrow_type(t.ArrayType(t.DATE))), str(arrow_type(t.DecimalType(10, 2)))
    ('list<item: date32[day]>', 'decimal128(10, 2)')
    """
    if isinstance(kind, t.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, t.ArrayType):
        return pa.list_(arrow_type(kind.element))
    if isinstance(kind, t.MapType):
        return pa.map_(arrow_type(kind.key), arrow_type(kind.value))
    if isinstance(kind, t.StructType):
        return pa.struct([pa.field(name, arrow_type(field)) for name, field in kind.fields])
    return _ATOMIC[kind]


def text_buffers(array: pa.Array) -> tuple[Numbers, Numbers]:
    """The bytes of all texts and their offsets, without a copy; row r is data[offsets[r]:offsets[r + 1]].

    >>> data, offsets = text_buffers(pa.array(["ab", None, "c"]).slice(1))
    >>> bytes(data[offsets[0] : offsets[-1]]), offsets.tolist()
    (b'c', [2, 2, 3])
    """
    _, offsets, data = array.buffers()
    width: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
    views = (
        np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
        np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1],
    )
    for view in views:
        view.flags.writeable = False  # as most of Arrow's buffers are; kernels are compiled for these
    return views


def numpy_type(kind: t.DataType) -> np.dtype[Any]:
    """The numpy type of the numbers underneath a fixed-width Spark type.

    >>> numpy_type(t.DATE), numpy_type(t.TIMESTAMP)
    (dtype('int32'), dtype('int64'))
    """
    return _dtype(_ATOMIC[kind])


def _dtype(kind: pa.DataType) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(_underneath(kind).to_pandas_dtype())
    return found


def _underneath(kind: pa.DataType) -> pa.DataType:
    """The plain number type with the same bits as a date, timestamp or duration."""
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else kind


def length_of(arrays: Iterable[pa.Array]) -> int:
    """The common length of arrays of which some may have one entry for all rows.

    >>> length_of([pa.array([1]), pa.array([1, 2, 3])]), length_of([pa.array([1]), pa.array([])])
    (3, 0)
    """
    lengths = {len(array) for array in arrays} - {1}
    assert len(lengths) <= 1, "arrays of one evaluation are equally long"
    return lengths.pop() if lengths else 1


def stretch(array: pa.Array, length: int) -> pa.Array:
    """The array with `length` entries, repeated if it has one for all rows.

    >>> stretch(pa.array([7]), 3).to_pylist()
    [7, 7, 7]
    """
    if len(array) == length:
        return array
    assert len(array) == 1, "only an array of one entry stands for all rows"
    return array.take(pa.array(np.zeros(length, np.int64)))


def nulls(length: int, kind: t.DataType) -> pa.Array:
    """NULL everywhere."""
    return pa.nulls(length, arrow_type(kind))


def validity(array: pa.Array) -> Mask | None:
    """Where the array is not NULL, or None if it is so nowhere."""
    if array.null_count == 0:
        return None
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def meet(*valid: Mask | None) -> Mask | None:
    """Where all of them hold; None holds everywhere."""
    result: Mask | None = None
    for mask in valid:
        if mask is not None:
            result = mask if result is None else result & mask
    return result


def numbers(array: pa.Array) -> Numbers:
    """The numbers (or truth values) underneath an array, anything at all where it is NULL. Read only.

    >>> numbers(pa.array([1, None], pa.date32())).dtype
    dtype('int32')
    """
    kind = array.type
    if pa.types.is_boolean(kind):
        filled = array.fill_null(False) if array.null_count else array
        return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.bool_)
    buffer = array.buffers()[1]
    dtype = _dtype(kind)
    if buffer is None:
        return np.zeros(len(array), dtype)
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)


def build(values: Numbers, valid: Mask | None, kind: t.DataType) -> pa.Array:
    """An array of the Spark type from the numbers underneath; NULL where not `valid`.

    >>> build(np.array([1, 2], np.int32), np.array([True, False]), t.DATE).type
    DataType(date32[day])
    """
    target = arrow_type(kind)
    if valid is not None and len(valid) != len(values):
        values, valid = np.broadcast_arrays(values, valid)
    if pa.types.is_boolean(target):
        return pa.array(values, target, mask=None if valid is None else ~valid)
    data = np.ascontiguousarray(values, dtype=_dtype(target))
    return from_buffer(data, len(values), valid, target)


def from_buffer(data: Numbers, length: int, valid: Mask | None, target: pa.DataType) -> pa.Array:
    """An Arrow array of a fixed-width type over the bytes of a numpy array."""
    bits = None if valid is None else pa.array(np.ascontiguousarray(valid)).buffers()[1]
    return pa.Array.from_buffers(target, length, [bits, pa.py_buffer(data)])


def outcome(values: Numbers, valid: Mask | None, kind: t.DataType, failed: Mask | None = None) -> Outcome:
    """An outcome of numbers; entries that failed become NULL, and entries that were NULL before have not failed."""
    if failed is None or not failed.any():
        return Outcome(build(values, valid, kind))
    if valid is not None:
        failed = failed & valid
    return Outcome(build(values, meet(valid, ~failed), kind), failed)


def array_of(values: Sequence[object], kind: t.DataType) -> pa.Array:
    """An array from Python values as the model holds them (dates and times as numbers, structs as tuples).

    >>> array_of([0, None], t.DATE).to_pylist()
    [datetime.date(1970, 1, 1), None]
    """
    if isinstance(kind, t.StructType):
        return _struct_array(values, kind)
    if isinstance(kind, t.ArrayType | t.MapType) and _holds_struct(kind):
        return _nested_array(values, kind)
    if kind == t.STRING:
        try:
            return pa.array(values, pa.string())
        except UnicodeEncodeError:
            raw = [None if v is None else str(v).encode("utf-8", "surrogateescape") for v in values]
            return pa.array(raw, pa.binary()).view(pa.string())
    return pa.array(values, arrow_type(kind))


def _holds_struct(kind: t.DataType) -> bool:
    if isinstance(kind, t.ArrayType):
        return _holds_struct(kind.element)
    if isinstance(kind, t.MapType):
        return _holds_struct(kind.key) or _holds_struct(kind.value)
    return isinstance(kind, t.StructType)


def _struct_array(values: Sequence[Any], kind: t.StructType) -> pa.Array:
    columns = [
        array_of([None if value is None else value[i] for value in values], field)
        for i, (_, field) in enumerate(kind.fields)
    ]
    mask = pa.array([value is None for value in values], pa.bool_())
    return struct_array(columns, mask, kind, len(values))


def struct_array(columns: list[pa.Array], null: pa.Array | None, kind: t.StructType, length: int) -> pa.Array:
    """A struct array from its fields' arrays; NULL where `null`."""
    if not columns:
        return pa.array(
            [None if is_null else {} for is_null in null.to_pylist()] if null else [{}] * length,
            pa.struct([]),
        )
    return pa.StructArray.from_arrays(columns, fields=list(arrow_type(kind)), mask=null)


def _nested_array(values: Sequence[Any], kind: t.ArrayType | t.MapType) -> pa.Array:
    flat = [item for value in values if value is not None for item in value]
    lengths = np.array([0 if value is None else len(value) for value in values], np.int64)
    valid = np.array([value is not None for value in values], np.bool_)
    if isinstance(kind, t.ArrayType):
        return list_array(array_of(flat, kind.element), lengths, valid, kind)
    keys = array_of([key for key, _ in flat], kind.key)
    return map_array(keys, array_of([item for _, item in flat], kind.value), lengths, valid, kind)


def offsets(lengths: Numbers, valid: Mask | None) -> pa.Array:
    """Where lists of the given lengths start and the last one ends; NULL where they are."""
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]).astype(np.int32)
    if valid is None:
        return pa.array(ends)
    return pa.array(ends, mask=np.concatenate([~valid, np.zeros(1, np.bool_)]))


def list_array(elements: pa.Array, lengths: Numbers, valid: Mask | None, kind: t.ArrayType) -> pa.Array:
    """Lists of the given lengths (0 where NULL) over elements laid end to end."""
    return pa.ListArray.from_arrays(offsets(lengths, valid), elements, type=arrow_type(kind))


def map_array(
    keys: pa.Array, items: pa.Array, lengths: Numbers, valid: Mask | None, kind: t.MapType
) -> pa.Array:
    """Maps of the given sizes (0 where NULL) over keys and values laid end to end."""
    return pa.MapArray.from_arrays(offsets(lengths, valid), keys, items, type=arrow_type(kind))


def with_parts(
    array: pa.Array, kind: t.DataType, change: Callable[[pa.Array, t.DataType], pa.Array]
) -> pa.Array:
    """Structs, lists or maps of the Spark type over what `change` makes of their fields, elements, keys and values."""
    if isinstance(kind, t.StructType):
        fields = [change(field, k) for field, (_, k) in zip(array.flatten(), kind.fields, strict=True)]
        valid = validity(array)
        return struct_array(fields, None if valid is None else pa.array(~valid), kind, len(array))
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    inside = entries(array)
    if isinstance(kind, t.ArrayType):
        return list_array(change(inside.parts[0], kind.element), inside.lengths, inside.valid, kind)
    assert isinstance(kind, t.MapType), "structs, lists and maps are all there is"
    keys, items = inside.parts
    return map_array(change(keys, kind.key), change(items, kind.value), inside.lengths, inside.valid, kind)


class Entries(NamedTuple):
    """The elements of a list array (one part) or map array (keys and values), end to end, without those under NULL."""

    parts: tuple[pa.Array, ...]
    lengths: Numbers  # of each list, 0 where NULL
    valid: Mask | None

    @property
    def owners(self) -> Numbers:
        """For every element the number of its list."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def entries(array: pa.Array) -> Entries:
    """Take lists or maps apart, whatever the array's offset.

    >>> entries(pa.array([[1], None, [2, 3]]).slice(1)).parts[0].to_pylist()
    [2, 3]
    """
    valid = validity(array)
    offsets = np.asarray(array.offsets, dtype=np.int64)
    lengths = np.diff(offsets)
    parts = (array.keys, array.items) if pa.types.is_map(array.type) else (array.values,)
    if valid is None or not (lengths[~valid] > 0).any():
        return Entries(
            tuple(part.slice(offsets[0], offsets[-1] - offsets[0]) for part in parts), lengths, valid
        )
    lengths = np.where(valid, lengths, 0)
    starts = np.repeat(offsets[:-1] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    chosen = pa.array(starts + np.arange(len(starts)))
    return Entries(tuple(part.take(chosen) for part in parts), lengths, valid)


def values_of(array: pa.Array, kind: t.DataType) -> list[Any]:
    """Python values of an array as the model holds them.

    >>> values_of(pa.array([1, None], pa.date32()), t.DATE)
    [1, None]
    """
    if isinstance(kind, t.StructType):
        columns = [values_of(field, k) for field, (_, k) in zip(array.flatten(), kind.fields, strict=True)]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(array))
        return [row if ok else None for row, ok in zip(rows, array.is_valid().to_pylist(), strict=True)]
    if isinstance(kind, t.ArrayType | t.MapType):
        return _nested_values(array, kind)
    if kind == t.STRING:
        try:
            return list(array.to_pylist())
        except UnicodeDecodeError:
            raw = array.view(pa.binary()).to_pylist()
            return [None if v is None else v.decode("utf-8", "surrogateescape") for v in raw]
    plain = _underneath(array.type)
    return list((array if plain == array.type else array.view(plain)).to_pylist())


def _nested_values(array: pa.Array, kind: t.ArrayType | t.MapType) -> list[Any]:
    inside = entries(array)
    if isinstance(kind, t.ArrayType):
        flat = values_of(inside.parts[0], kind.element)
    else:
        keys, items = inside.parts
        flat = list(zip(values_of(keys, kind.key), values_of(items, kind.value), strict=True))
    ends = np.cumsum(inside.lengths)
    starts = ends - inside.lengths
    lists = [flat[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    if inside.valid is None:
        return lists
    return [item if ok else None for item, ok in zip(lists, inside.valid.tolist(), strict=True)]

"""Arrow's ways to lay out the same values, brought to the ordinary ones that every function of Arrow knows.

extension types          what they are stored as
run-end encoded          one entry for each row
string_view, binary_view string, binary
list_view                list
dictionary               stays one, unless its values come in one of these layouts
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import entries, offsets, validity

Column: TypeAlias = pa.Array | pa.ChunkedArray


def is_ordinary(kind: pa.DataType) -> bool:
    """Whether an Arrow type, inner ones included, is laid out in an ordinary way.

    >>> is_ordinary(pa.list_(pa.string())), is_ordinary(pa.list_(pa.string_view()))
    (True, False)
    """
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_run_end_encoded(kind) or _is_view(kind):
        return False
    if pa.types.is_dictionary(kind):
        return is_ordinary(kind.value_type)
    return all(is_ordinary(kind.field(i).type) for i in range(kind.num_fields))


def ordinary(column: Column) -> pa.Array:
    """The same values in an ordinary layout.

    >>> ordinary(pc.run_end_encode(pa.array(["a", "a", None]))).to_pylist()
    ['a', 'a', None]
    """
    if isinstance(column, pa.ChunkedArray):  # not all layouts can be put together before
        chunks = [ordinary(chunk) for chunk in column.chunks]
        return pa.concat_arrays(chunks) if chunks else ordinary(pa.nulls(0, column.type))
    kind = column.type
    if is_ordinary(kind):
        return column
    if isinstance(kind, pa.BaseExtensionType):
        return ordinary(column.storage)
    if pa.types.is_run_end_encoded(kind):
        return _decoded_runs(column)
    if pa.types.is_dictionary(kind):
        return ordinary(column.dictionary).take(column.indices)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return pc.cast(column, pa.string() if pa.types.is_string_view(kind) else pa.binary())
    return _structs(column) if pa.types.is_struct(kind) else _lists(column)


def ordinary_type(kind: pa.DataType) -> pa.DataType:
    """The type that values of an Arrow type have in an ordinary layout.

    >>> ordinary_type(pa.run_end_encoded(pa.int32(), pa.string_view()))
    DataType(string)
    """
    return kind if is_ordinary(kind) else ordinary(pa.nulls(0, kind)).type


def _is_view(kind: pa.DataType) -> bool:
    return any(is_view(kind) for is_view in _VIEWS)


_VIEWS = (
    pa.types.is_string_view,
    pa.types.is_binary_view,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def _decoded_runs(array: pa.RunEndEncodedArray) -> pa.Array:
    rows = np.arange(array.offset, array.offset + len(array))
    runs = np.searchsorted(np.asarray(array.run_ends), rows, side="right")
    return ordinary(array.values).take(pa.array(runs))


def _structs(array: pa.StructArray) -> pa.Array:
    fields = [ordinary(field) for field in array.flatten()]
    named = [pa.field(name.name, field.type) for name, field in zip(array.type, fields, strict=True)]
    valid = validity(array)
    return pa.StructArray.from_arrays(fields, fields=named, mask=None if valid is None else pa.array(~valid))


def _lists(array: pa.Array) -> pa.Array:
    """Lists and maps of any kind."""
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        return ordinary(pc.cast(array, pa.list_(kind.value_type)))
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        valid = validity(array)
        sizes = np.asarray(array.sizes)
        lengths = sizes if valid is None else np.where(valid, sizes, 0)
        return pa.ListArray.from_arrays(offsets(lengths, valid), ordinary(array.flatten()))
    inside = entries(array)
    parts = [ordinary(part) for part in inside.parts]
    rebuilt = pa.MapArray if pa.types.is_map(kind) else pa.ListArray
    return rebuilt.from_arrays(offsets(inside.lengths, inside.valid), *parts)

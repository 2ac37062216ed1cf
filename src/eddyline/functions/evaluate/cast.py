"""Conversion between types: which conversion applies to which pair, and nested types part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import cast_numbers, cast_times, read_text, write_text
from eddyline.functions.evaluate.arrays import (
    Mask,
    Outcome,
    entries,
    list_array,
    map_array,
    nulls,
    struct_array,
    validity,
)
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call

Conversion: TypeAlias = Callable[[pa.Array, t.DataType, t.DataType, Zone], Outcome]


def _family(kind: t.DataType) -> str:
    if kind in t.INTEGRAL:
        return "integral"
    return "fractional" if kind in t.FRACTIONAL else kind.name


_TABLE: Final[dict[tuple[str, str], Conversion]] = {
    **cast_numbers.CONVERSIONS,
    **cast_times.CONVERSIONS,
    **read_text.CONVERSIONS,
    **write_text.CONVERSIONS,
}


def convert(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """An array of one Spark type as another; inside nested values a failing part becomes NULL by itself.

    >>> from eddyline.functions.zones import find_zone
    >>> convert(pa.array(["1", "x"]), t.STRING, t.INT, find_zone("UTC")).values.to_pylist()
    [1, None]
    """
    if source == target:
        return Outcome(array)
    if source == t.VOID:
        return Outcome(nulls(len(array), target))
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        return _convert_lists(array, source, target, zone)
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        return _convert_maps(array, source, target, zone)
    if isinstance(source, t.StructType) and isinstance(target, t.StructType):
        return _convert_structs(array, source, target, zone)
    return _TABLE[_family(source), _family(target)](array, source, target, zone)


def _convert_lists(array: pa.Array, source: t.ArrayType, target: t.ArrayType, zone: Zone) -> Outcome:
    inside = entries(array)
    elements, failed = convert(inside.parts[0], source.element, target.element, zone)
    lists = list_array(elements, inside.lengths, inside.valid, target)
    return Outcome(lists, _rows_with(failed, inside.owners, len(array)))


def _convert_maps(array: pa.Array, source: t.MapType, target: t.MapType, zone: Zone) -> Outcome:
    """A map fails as a whole where a key does: there are no NULL keys."""
    inside = entries(array)
    keys, bad_keys = convert(inside.parts[0], source.key, target.key, zone)
    items, bad_items = convert(inside.parts[1], source.value, target.value, zone)
    lost = _rows_with(bad_keys, inside.owners, len(array))
    failed = _rows_with(bad_items, inside.owners, len(array))
    if lost is None:
        return Outcome(map_array(keys, items, inside.lengths, inside.valid, target), failed)
    kept = pa.array(np.flatnonzero(~lost[inside.owners]))
    valid = ~lost if inside.valid is None else inside.valid & ~lost
    maps = map_array(keys.take(kept), items.take(kept), np.where(lost, 0, inside.lengths), valid, target)
    return Outcome(maps, lost if failed is None else lost | failed)


def _convert_structs(array: pa.Array, source: t.StructType, target: t.StructType, zone: Zone) -> Outcome:
    fields: list[pa.Array] = []
    failed: Mask | None = None
    for field, (_, old), (_, new) in zip(array.flatten(), source.fields, target.fields, strict=True):
        values, bad = convert(field, old, new, zone)
        fields.append(values)
        failed = bad if failed is None else failed if bad is None else failed | bad
    valid = validity(array)
    return Outcome(
        struct_array(fields, None if valid is None else pa.array(~valid), target, len(array)), failed
    )


def _rows_with(failed: Mask | None, owners: np.ndarray, length: int) -> Mask | None:
    """Rows in whose list an element failed."""
    if failed is None or not failed.any():
        return None
    rows = np.zeros(length, np.bool_)
    rows[owners[failed]] = True
    return rows


def _cast(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return convert(arguments[0], call.arguments[0].type, call.type, zone)


def _try_cast(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(_cast(call, arguments, zone).values)


KERNELS = {"cast": _cast, "try_cast": _try_cast}

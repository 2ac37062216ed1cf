"""Fields of structs, elements of arrays, values of maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate.arrays import (
    Entries,
    Mask,
    Numbers,
    Outcome,
    build,
    entries,
    length_of,
    meet,
    nulls,
    numbers,
    stretch,
    validity,
)
from eddyline.functions.evaluate.compare import compare
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call


def _get_field(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.arguments[0].type
    assert isinstance(kind, t.StructType), "only structs have fields"
    names = [name for name, _ in kind.fields]
    return Outcome(arguments[0].flatten()[names.index(arguments[1][0].as_py())])


def _element(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    length = length_of(arguments)
    lists = entries(stretch(arguments[0], length))
    index = np.broadcast_to(numbers(arguments[1]), (length,)).astype(np.int64)
    valid = meet(lists.valid, validity(stretch(arguments[1], length)))
    outside = (index < 0) | (index >= lists.lengths)
    starts = np.cumsum(lists.lengths) - lists.lengths
    taken = ~outside if valid is None else ~outside & valid
    values = lists.parts[0].take(pa.array(starts + index, mask=~taken))
    failed = outside if valid is None else outside & valid
    return Outcome(values, failed if failed.any() else None)


def _found(inside: Entries, needle: pa.Array, kind: t.DataType) -> tuple[Numbers, pa.Array]:
    """For every element its list, and whether it equals that list's needle."""
    owners = inside.owners
    wanted = needle if len(needle) == 1 else needle.take(pa.array(owners))
    return owners, compare("eq", stretch(inside.parts[0], len(owners)), wanted, kind)


def _rows(owners: Numbers, hit: Mask, length: int) -> Mask:
    rows = np.zeros(length, np.bool_)
    rows[owners[hit]] = True
    return rows


def _map_value(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.arguments[0].type
    assert isinstance(kind, t.MapType), "only maps have values under keys"
    length = length_of(arguments)
    inside = entries(stretch(arguments[0], length))
    owners, equal = _found(inside, arguments[1], kind.key)
    places = np.flatnonzero(np.broadcast_to(numbers(equal.fill_null(False)), owners.shape))
    chosen = np.full(length, -1, np.int64)
    chosen[owners[places][::-1]] = places[::-1]  # the first of several equal keys
    return Outcome(inside.parts[1].take(pa.array(chosen, mask=chosen < 0)))


def _array_contains(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.arguments[0].type
    assert isinstance(kind, t.ArrayType), "only arrays contain elements"
    length = length_of(arguments)
    inside = entries(stretch(arguments[0], length))
    if length == 0:
        return Outcome(nulls(0, t.BOOLEAN))
    owners, equal = _found(inside, arguments[1], kind.element)
    hit = _rows(owners, numbers(equal.fill_null(False)), length)
    unknown = _rows(owners, numbers(inside.parts[0].is_null()), length)
    valid = meet(inside.valid, validity(stretch(arguments[1], length)), hit | ~unknown)
    return Outcome(build(hit, valid, t.BOOLEAN))


def _size(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    inside = entries(arguments[0])
    return Outcome(build(inside.lengths.astype(np.int32), inside.valid, t.INT))


KERNELS = {
    "get_field": _get_field,
    "element": _element,
    "map_value": _map_value,
    "array_contains": _array_contains,
    "size": _size,
}

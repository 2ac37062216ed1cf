"""Arrays (lists), maps (lists of pairs) and structs (tuples)."""

from __future__ import annotations

from typing import Any

from eddyline.model import types as t
from eddyline.reference.compare import compare
from eddyline.reference.failure import Failure
from eddyline.reference.numbers.arithmetic import wrap
from eddyline.reference.text import joined


def get_field(struct: t.DataType, value: tuple[Any, ...], name: str) -> Any:
    """The field of that name, spelled as in the type or, failing that, in other case."""
    assert isinstance(struct, t.StructType), "only structs have fields"
    names = [field for field, _ in struct.fields]
    if name not in names:
        names = [field.lower() for field in names]
        name = name.lower()
    return value[names.index(name)]


def element(values: list[Any], index: int) -> Any:
    """By index from 0; fails outside, and so for every negative index."""
    index = wrap(t.INT, index)  # Spark looks at no more of a bigint
    if not 0 <= index < len(values):
        raise Failure(f"no element {index} among {len(values)}")
    return values[index]


def map_value(map_type: t.DataType, pairs: list[tuple[Any, Any]], key: Any) -> Any:
    assert isinstance(map_type, t.MapType), "only maps are looked up by key"
    for found, value in pairs:
        if compare(map_type.key, found, key) == 0:
            return value
    return None


def array_contains(array: t.DataType, values: list[Any], wanted: Any) -> bool | None:
    """True if an element equals; else NULL if any is NULL."""
    assert isinstance(array, t.ArrayType), "only arrays have elements"
    if any(value is not None and compare(array.element, value, wanted) == 0 for value in values):
        return True
    return None if None in values else False


def concat(*parts: Any) -> Any:
    """All strings, binaries or arrays one after the other."""
    if isinstance(parts[0], str):
        return joined(list(parts))
    whole = parts[0][:0]
    for part in parts:
        whole = whole + part
    return whole

"""Queries that are found by a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from eddyline.config import IndexSettings
from eddyline.index.boxes import Boxes
from eddyline.index.keyed.boxes import keyed_boxes
from eddyline.index.keyed.choose import choose
from eddyline.index.keyed.keyed import KeyedIndex, KeyedTable, build_keyed
from eddyline.index.kinds.kind import Get, Put
from eddyline.index.kinds.packing import pack_arrays, pack_cutting, unpack_cutting
from eddyline.model.predicate import Predicate

NAME: Final = "keyed"
_ARRAYS: Final = ("packed", "starts", "results", "bounds", "leasts", "minima")


def build(
    predicates: Sequence[Predicate], slots: Sequence[int], settings: IndexSettings
) -> tuple[KeyedIndex | None, Sequence[int]]:
    """Those whose alternatives name rare values, where enough of them do."""
    accesses, left = choose([predicates[slot] for slot in slots], settings)
    if not accesses:
        return None, slots
    return build_keyed(accesses, slots), [slots[place] for place in left]


def boxes(index: KeyedIndex) -> Iterator[Boxes]:
    """The queries that are plain boxes."""
    return keyed_boxes(index)


def pack(index: KeyedIndex, put: Put) -> Any:
    """As JSON and arrays."""
    return {
        "keys": [pack_cutting(cutting, put) for cutting in index.keys],
        "checks": [pack_cutting(cutting, put) for cutting in index.checks],
        "tables": [[t.keys, t.checks, t.columns, pack_arrays(t, _ARRAYS, put)] for t in index.tables],
        "repeated": put(index.repeated),
    }


def unpack(data: Any, get: Get) -> KeyedIndex:
    """What `pack` put away."""
    tables = []
    for keys, checks, columns, arrays in data["tables"]:
        sides = tuple([(check, above) for check, above in columns])
        loaded = {name: get(file) for name, file in arrays.items()}
        tables.append(KeyedTable(tuple(keys), tuple(checks), sides, **loaded))
    keys, checks = (tuple([unpack_cutting(c, get) for c in data[name]]) for name in ("keys", "checks"))
    return KeyedIndex(keys, checks, tuple(tables), get(data["repeated"]))

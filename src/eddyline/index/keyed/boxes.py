"""Plain boxes among the queries of a keyed index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from eddyline.index.boxes import Boxes, key_ordinals
from eddyline.index.keyed.keyed import KeyedIndex, KeyedTable, strides
from eddyline.index.keyed.ordinals import GREATEST, LEAST, Ordinals, has_ordinals
from eddyline.kernels.keyed import FAN

Places = npt.NDArray[np.int64]


def keyed_boxes(index: KeyedIndex) -> Iterator[Boxes]:
    """Those of each table: queries that have one entry in all of them, and no other ranges than of ordinals."""
    entries = np.concatenate([table.results for table in index.tables])
    numbers, counts = np.unique(entries, return_counts=True)
    single = np.zeros(int(numbers.max(initial=-1)) + 1, np.bool_)
    single[numbers[counts == 1]] = True
    for table in index.tables:
        if all(has_ordinals(index.checks[check].subject.type) for check in table.checks):
            yield _boxes(index, table, np.flatnonzero(single[table.results]))


def _boxes(index: KeyedIndex, table: KeyedTable, chosen: Places) -> Boxes:
    places = _key_places(index, table, chosen)
    keys = [key_ordinals(index.keys[key], place) for key, place in zip(table.keys, places, strict=True)]
    lows = np.full((len(chosen), len(table.checks)), LEAST, np.int64)
    highs = np.full((len(chosen), len(table.checks)), GREATEST, np.int64)
    stride = len(table.results) + FAN
    for number, (check, above) in enumerate(table.columns):
        bounds = table.bounds[number * stride : number * stride + len(table.results)][chosen]
        if above:
            highs[:, table.checks.index(check)] = ~bounds
        else:
            lows[:, table.checks.index(check)] = bounds
    subjects = np.array([*table.keys, *(len(index.keys) + check for check in table.checks)], np.int32)
    return Boxes(
        table.results[chosen],
        index.cuttings,
        np.broadcast_to(subjects, (len(chosen), len(subjects))),
        _beside(keys, lows),
        _beside(keys, highs),
    )


def _beside(keys: list[Ordinals], ends: Ordinals) -> Ordinals:
    return np.column_stack([*keys, ends]) if keys else ends


def _key_places(index: KeyedIndex, table: KeyedTable, chosen: Places) -> list[Places]:
    """For each key subject the places of the constants that the chosen entries have."""
    if not table.keys:
        return []
    key = np.searchsorted(table.starts, chosen, "right") - 1
    if len(table.keys) == 1:
        return [key]
    sizes = [len(index.keys[number].constants) for number in table.keys]
    packed = table.packed[key].astype(np.int64)
    return [packed // stride % (size + 1) for stride, size in zip(strides(sizes), sizes, strict=True)]

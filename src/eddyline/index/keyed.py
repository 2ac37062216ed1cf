"""Selective access: queries found by a point of one subject, the rest of their conditions checked as ranges of ids.

    symbol = 'ACME' AND price > 10 AND volume >= 500      access: symbol       checks: price, volume

    key (region id of symbol)   entries, by the lower bound of price
    17                          [ 3..9  40..99 ]  [ 5..9  10..99 ]  [ 6..6  0..7 ] ...
                                 price  volume

All queries with the same access and check subjects share one table. Inside a key entries are sorted by the first
check's lower bound, so candidates are a prefix; of the second check the least lower bound of every 16 entries is kept,
which skips most of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.index.choose import Access
from eddyline.index.cutting import Cutting, cut
from eddyline.model.expression import Expression
from eddyline.model.regions import Regions

GROUP: Final = 16
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class KeyedTable:
    """Queries of one access subject and one list of check subjects.

    Entries of key k are those from starts[k] to starts[k + 1], `lows[0]` ascending among them; groups of GROUP entries
    start anew with each key, group_starts[k] being the first of key k. results[i] is the query number of entry i.
    """

    access: int
    checks: tuple[int, ...]
    starts: npt.NDArray[np.int64]
    lows: UInt32
    highs: UInt32
    results: npt.NDArray[np.int32]
    group_starts: npt.NDArray[np.int64]
    group_lows: UInt32

    @cached_property
    def longest(self) -> int:
        """Most entries of one key."""
        return int(np.diff(self.starts).max(initial=0))

    @property
    def bytes(self) -> int:
        """Memory of the table."""
        arrays = (self.starts, self.lows, self.highs, self.results, self.group_starts, self.group_lows)
        return sum(array.nbytes for array in arrays)


def build_table(
    subjects: Sequence[int],
    keys_in_all: int,
    keys: npt.NDArray[np.int64],
    lows: UInt32,
    highs: UInt32,
    results: npt.NDArray[np.int32],
) -> KeyedTable:
    """A table of entries: `subjects` are the access subject and the check subjects; bounds have a row for each check."""
    order = np.lexsort((lows[0], keys)) if len(lows) else np.argsort(keys, kind="stable")
    lows, highs = np.ascontiguousarray(lows[:, order]), np.ascontiguousarray(highs[:, order])
    starts = np.searchsorted(keys[order], np.arange(keys_in_all + 1)).astype(np.int64)
    group_starts = np.concatenate([[0], np.cumsum(-(-np.diff(starts) // GROUP))]).astype(np.int64)
    second = lows[1] if len(lows) > 1 else np.zeros(len(keys), np.uint32)
    group_lows = _group_lows(second, starts, group_starts)
    access, *checks = subjects
    return KeyedTable(access, tuple(checks), starts, lows, highs, results[order], group_starts, group_lows)


def _group_lows(values: UInt32, starts: npt.NDArray[np.int64], group_starts: npt.NDArray[np.int64]) -> UInt32:
    """Least value of each group of entries."""
    if not len(values):
        return np.empty(0, np.uint32)
    sizes = np.diff(group_starts)
    keys = np.repeat(np.arange(len(sizes)), sizes)
    firsts = starts[keys] + GROUP * (np.arange(int(group_starts[-1])) - group_starts[keys])
    return np.minimum.reduceat(values, firsts)


@dataclass(frozen=True, slots=True)
class KeyedIndex:
    """All keyed queries of a segment: the subjects they use, and one table for each combination of subjects."""

    cuttings: tuple[Cutting, ...]
    tables: tuple[KeyedTable, ...]

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(table.bytes for table in self.tables) + sum(cutting.bytes for cutting in self.cuttings)


def build_keyed(accesses: Sequence[Access], numbers: Sequence[int]) -> KeyedIndex:
    """Compile keyed queries; access i belongs to query numbers[access.number]."""
    sets: dict[Expression, list[Regions]] = {}
    shapes: dict[tuple[Expression, ...], list[Access]] = {}
    for access in accesses:
        ordered = sorted(access.checks, key=lambda check: repr(check.subject))
        shape = (access.access.subject, *(check.subject for check in ordered))
        shapes.setdefault(shape, []).append(Access(access.number, access.access, tuple(ordered)))
        for condition in (access.access, *ordered):
            sets.setdefault(condition.subject, []).append(condition.regions)
    cuttings = tuple([cut(subject, found) for subject, found in sets.items()])
    places = {subject: place for place, subject in enumerate(sets)}
    tables = []
    for shape, found in shapes.items():
        subjects = [places[subject] for subject in shape]
        tables.append(_table(subjects, cuttings, found, numbers))
    return KeyedIndex(cuttings, tuple(tables))


def _table(
    subjects: list[int], cuttings: tuple[Cutting, ...], accesses: list[Access], numbers: Sequence[int]
) -> KeyedTable:
    """Bounds of all queries of one shape, worked out a subject at a time, and an entry for each key."""
    lows, highs = [], []
    for place, subject in enumerate(subjects[1:]):
        low, high = _bounds([access.checks[place].regions for access in accesses], cuttings[subject])
        lows.append(low)
        highs.append(high)
    key_cuts = [access.access.regions.cuts[0::2] for access in accesses]
    keys = cuttings[subjects[0]].ids_of([cut_ for cuts in key_cuts for cut_ in cuts])
    owner = np.repeat(np.arange(len(accesses)), [len(cuts) for cuts in key_cuts])
    results = np.array([numbers[access.number] for access in accesses], np.int32)[owner]
    shape = (len(lows), len(accesses))
    low_rows = np.array(lows, np.uint32).reshape(shape)[:, owner]
    high_rows = np.array(highs, np.uint32).reshape(shape)[:, owner]
    return build_table(subjects, cuttings[subjects[0]].size, keys, low_rows, high_rows, results)


def _bounds(sets: list[Regions], cutting: Cutting) -> tuple[UInt32, UInt32]:
    """First and last id of sets that are one range each."""
    low = np.zeros(len(sets), np.int64)
    high = np.full(len(sets), cutting.nan - 1, np.int64)
    firsts = [(i, regions.cuts[0]) for i, regions in enumerate(sets) if not regions.inside]
    lasts = [
        (i, regions.cuts[-1]) for i, regions in enumerate(sets) if regions.inside or len(regions.cuts) == 2
    ]
    low[[i for i, _ in firsts]] = cutting.ids_of([cut_ for _, cut_ in firsts])
    high[[i for i, _ in lasts]] = cutting.ids_of([cut_ for _, cut_ in lasts]) - 1
    with_nan = [i for i, regions in enumerate(sets) if regions.nan and cutting.nan != cutting.null]
    high[with_nan] = cutting.nan
    return low.astype(np.uint32), high.astype(np.uint32)

"""Segments: tuples of one SteM, clustered by key, with their lineages; never changed once they are made.

See `kernels/join.py` for the layout. Lineages lie side by side in the order of the tuples; where they are long and many are
equal, each distinct one is kept once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.join.keys import FACTOR, Codes
from eddyline.join.spill import Folder
from eddyline.kernels.join import cluster, hash_lists, index_roles, intern_lists
from eddyline.model.arrays import Flags, Integers

Array = npt.NDArray[Any]

LONG_LIST: Final = 16  # roles of a lineage, on average; shorter ones are read faster where their tuples are
# Nanoseconds, measured: one more tuple of a key, one more role of it, a probe by role.
PAIR_COST: Final = 6.0
ROLE_COST: Final = 2.0
PROBE_COST: Final = 30.0
# an index takes some 15 bytes per role, and time to be made: so it has to be so much better
CROWDED: Final = 3.0
MOST_ENTRIES: Final = 2**31 - 1  # of all lineages of a segment


@dataclass(frozen=True, eq=False)
class Tuples:
    """Tuples in any order. `lists[begins[i]:ends[i]]` is the lineage of tuple i; positions count a stream's arrivals."""

    keys: Codes
    times: Codes
    positions: Codes
    begins: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    lists: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """All columns, as kernels take them."""
        return self.keys, self.times, self.positions, self.begins, self.ends, self.lists

    def picked(self, which: Flags) -> Tuples:
        """Some of them."""
        return Tuples(
            self.keys[which],
            self.times[which],
            self.positions[which],
            self.begins[which],
            self.ends[which],
            self.lists,
        )


@dataclass(frozen=True, eq=False)
class RoleIndex:
    """Each tuple and role of a segment, by buckets of key and role; in `tuples` are places in the segment."""

    start: npt.NDArray[np.int32]
    tuples: npt.NDArray[np.int32]
    roles: npt.NDArray[np.int32]
    shift: int

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All columns, as kernels take them."""
        return self.start, self.tuples, self.roles


@dataclass(frozen=True, eq=False)
class Segment:
    """Tuples in the order of their buckets, at least one.

    shift               the bucket is what is left of a key's product when it is shifted by so many bits
    times, positions    the least and the highest one
    longest             length of the longest lineage
    index               where it pays to look for roles
    """

    start: npt.NDArray[np.int32]
    tuples: Tuples
    shift: int
    times: tuple[int, int]
    positions: tuple[int, int]
    longest: int
    index: RoleIndex | None = None
    is_spilled: bool = False

    def __len__(self) -> int:
        return len(self.tuples)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """The start of each bucket and all columns of the tuples, as kernels take them."""
        return (self.start, *self.tuples.columns)

    @cached_property
    def nbytes(self) -> int:
        """How many bytes it takes, in memory or in a file."""
        index = () if self.index is None else self.index.arrays
        return sum(array.nbytes for array in (*self.arrays, *index))

    def moved(self, rows: Integers) -> Segment:
        """With roles known by other dense ids, rows[old] each; those of which that is -1 are gone."""
        lists = rows[self.tuples.lists]
        stays = lists >= 0
        places = np.zeros(len(lists) + 1, np.int32)
        np.cumsum(stays, out=places[1:])
        begins, ends = places[self.tuples.begins], places[self.tuples.ends]
        left = lists[stays].astype(np.int32)
        tuples = replace(self.tuples, begins=begins, ends=ends, lists=left)
        index = None if self.index is None else _index_of(tuples)
        return replace(self, tuples=tuples, index=index, is_spilled=False)

    def spilled(self, folder: Folder) -> Segment:
        """The same in a file, read where it is looked at."""
        held = () if self.index is None else self.index.arrays
        start, *columns = folder.arrays((*self.arrays, *held))
        index = (
            None
            if self.index is None
            else replace(self.index, start=columns[6], tuples=columns[7], roles=columns[8])
        )
        return replace(self, start=start, tuples=Tuples(*columns[:6]), index=index, is_spilled=True)


def segment_of(tuples: Tuples) -> Segment:
    """A segment of tuples, of which there is at least one."""
    count = len(tuples)
    bits = max(1, (count - 1).bit_length())
    interned = _interned(tuples)
    tuples = tuples if interned is None else interned
    entries = int((tuples.ends - tuples.begins).sum(dtype=np.int64)) if interned is None else 0
    assert entries <= MOST_ENTRIES, (
        "segments are merged and batches are taken in parts that are not too large"
    )
    start, buckets = np.zeros((1 << bits) + 1, np.int32), np.empty(count, np.int32)
    placed = Tuples(
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(entries, np.int32) if interned is None else tuples.lists,
    )
    cluster(*tuples.columns, FACTOR, 64 - bits, interned is None, start, buckets, *placed.columns)
    times = int(tuples.times.min()), int(tuples.times.max())
    positions = int(tuples.positions.min()), int(tuples.positions.max())
    longest = int((tuples.ends - tuples.begins).max())
    index = _index_of(placed) if interned is None and _is_crowded(start, count, entries) else None
    return Segment(start, placed, 64 - bits, times, positions, longest, index)


def _is_crowded(start: npt.NDArray[np.int32], tuples: int, entries: int) -> bool:
    """Whether a probe by key would look at so many roles that a few probes by role take less time."""
    if entries == 0 or entries > LONG_LIST * tuples:
        return False
    in_bucket = np.diff(start).astype(np.float64)
    near = float((in_bucket * in_bucket).sum()) / tuples  # tuples in the bucket of a tuple, on average
    length = entries / tuples
    return near * (PAIR_COST + ROLE_COST * length) > CROWDED * PROBE_COST * length


def _index_of(tuples: Tuples) -> RoleIndex:
    entries = len(tuples.lists)
    bits = max(1, (entries - 1).bit_length())
    start = np.zeros((1 << bits) + 1, np.int32)
    index = RoleIndex(start, np.empty(entries, np.int32), np.empty(entries, np.int32), 64 - bits)
    lineages = tuples.keys, tuples.begins, tuples.ends, tuples.lists
    index_roles(*lineages, FACTOR, index.shift, *index.arrays)
    return index


def tuples_of(segments: Sequence[Segment]) -> Tuples:
    """All tuples of several segments."""
    parts = [segment.tuples for segment in segments]
    shifts = np.cumsum([0, *(len(part.lists) for part in parts[:-1])], dtype=np.int64)
    assert int(shifts[-1]) + len(parts[-1].lists) <= MOST_ENTRIES, "too many lineages for one segment"
    moved = [int(shift) for shift in shifts]
    return Tuples(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.begins + np.int32(shift) for part, shift in zip(parts, moved, strict=True)]),
        np.concatenate([part.ends + np.int32(shift) for part, shift in zip(parts, moved, strict=True)]),
        np.concatenate([part.lists for part in parts]),
    )


def _interned(tuples: Tuples) -> Tuples | None:
    """With each distinct lineage once; None if they are short, or most are distinct."""
    count, lengths = len(tuples), tuples.ends - tuples.begins
    entries = int(lengths.sum(dtype=np.int64))
    if entries < LONG_LIST * count:
        return None
    hashes = np.empty(count, np.uint64)
    hash_lists(tuples.begins, tuples.ends, tuples.lists, hashes)
    if 2 * len(np.unique(hashes)) > count:
        return None
    lists = np.empty(entries, np.int32)
    begins, ends, *scratch = (np.empty(count, np.int32) for _ in range(4))
    table = np.full(2 << (count - 1).bit_length(), -1, np.int32)
    filled = intern_lists(
        hashes, tuples.begins, tuples.ends, tuples.lists, table, *scratch, lists, begins, ends
    )
    return replace(tuples, begins=begins, ends=ends, lists=lists[:filled].copy())

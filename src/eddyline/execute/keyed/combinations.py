"""Rows whose combination of several key values is in a table: picked for some tables at once, then found in each.

    ranks of a row  --screen-->  candidates  --finder of table 1-->  rows and keys
                                              --finder of table 2-->  rows and keys

A screen looks at every row and costs the most, so a table by (a, b, c) shares that of a table by (a, b) if few
combinations of a and b are in either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from eddyline.execute.keyed.key_lookup import Map, Ranks
from eddyline.index.keyed.keyed import KeyedTable, strides
from eddyline.kernels import combinations as kernels
from eddyline.model.arrays import Integers

Found = tuple[KeyedTable, Integers, Integers]
BITS_A_KEY: Final = 32  # of a filter: one row in some hundreds is looked at in vain
MAX_FILTER: Final = 23  # logarithm of the bits of the largest filter: 1 MiB, what a core has of fast cache
CELLS_A_KEY: Final = 64  # combinations for each that is a key, up to which all have a bit of their own
SHARED: Final = 8  # one candidate in so many rows, at most, is worth a screen for several tables
SCRATCH: Final = 4  # numbers for every row
_FACTOR: Final = 0x9E3779B1  # odd; its powers are the factors of a hash


class Combined:
    """Tables by several subjects with one screen."""

    def __init__(self, screen: _Prefilter, finders: Sequence[_Finder]) -> None:
        self._screen, self._finders = screen, finders

    def find(self, ranks: Ranks, scratch: Integers) -> Iterator[Found]:
        """Rows and keys for each table; they lie in the scratch, (SCRATCH, rows), and are gone at the next one."""
        candidates, packed, picked, keys = scratch
        count = self._screen.pick(ranks, candidates, packed)
        for finder in self._finders:
            found = finder.find(ranks, candidates[:count], packed, picked, keys)
            yield finder.table, picked[:found], keys[:found]


def combine(tables: Sequence[KeyedTable], sizes: Sequence[int]) -> list[Combined]:
    """The tables, as few screens as pay; sizes: how many constants each key subject has."""
    hosts = [_Cells(table, sizes) for table in tables if _is_dense(table, sizes)]
    shared: list[list[_Finder]] = [[host] for host in hosts]
    combined = []
    for table in tables:
        if _is_dense(table, sizes):
            continue
        finder = _Several(table, sizes)
        place = next((i for i, host in enumerate(hosts) if host.take_in(table, sizes)), None)
        if place is None:
            combined.append(Combined(finder, [finder]))
        else:
            shared[place].append(finder)
    return combined + [Combined(host, finders) for host, finders in zip(hosts, shared, strict=True)]


class _Prefilter(Protocol):
    def pick(self, ranks: Ranks, candidates: Integers, packed: Integers) -> int:
        """Write the rows that may be found, and what finders of the same subjects need; returns how many."""


class _Finder(Protocol):
    table: KeyedTable

    def find(
        self, ranks: Ranks, candidates: Integers, packed: Integers, picked: Integers, keys: Integers
    ) -> int:
        """Write the candidates that are found, and their keys; returns how many."""


class _Cells:
    """A table with few combinations: each has a bit, and its key is how many are set before it."""

    def __init__(self, table: KeyedTable, sizes: Sequence[int]) -> None:
        self.table = table
        self._subjects, own = np.array(table.keys), strides([sizes[key] for key in table.keys])
        self._strides = np.array(own, np.uint32)
        used = np.zeros(-(-_combinations(table, sizes) // 64) * 64, bool)
        used[table.packed] = True
        self._cells = self._screen = np.packbits(used, bitorder="little").view(np.uint64)
        counts = used.reshape(-1, 64).sum(axis=1)
        self._ranks = (np.cumsum(counts) - counts).astype(np.int32)

    def take_in(self, other: KeyedTable, sizes: Sequence[int]) -> bool:
        """Pick rows for another table too, if it has the same subjects among its own and not too many rows pass."""
        if not set(self.table.keys) <= set(other.keys):
            return False
        digits = _digits(other, sizes)[[other.keys.index(key) for key in self.table.keys]]
        used = np.unpackbits(self._screen.view(np.uint8), bitorder="little")
        used[(digits * self._strides[:, None]).sum(axis=0)] = 1
        if SHARED * int(used.sum()) > len(used):
            return False
        self._screen = np.packbits(used, bitorder="little").view(np.uint64)
        return True

    def pick(self, ranks: Ranks, candidates: Integers, packed: Integers) -> int:
        count: int = kernels.screen_cells(
            ranks, self._subjects, self._strides, self._screen.view(np.uint16), candidates, packed
        )
        return count

    def find(
        self, ranks: Ranks, candidates: Integers, packed: Integers, picked: Integers, keys: Integers
    ) -> int:
        count: int = kernels.rank(self._cells, self._ranks, candidates, packed, picked, keys)
        return count


class _Several:
    """A table with too many combinations for that: a filter of hashes, and a map."""

    def __init__(self, table: KeyedTable, sizes: Sequence[int]) -> None:
        self.table = table
        self._subjects, own = np.array(table.keys), strides([sizes[key] for key in table.keys])
        self._strides, self._map = np.array(own, np.uint64), Map(table.packed)
        factors = np.array([_FACTOR ** (i + 1) % 2**32 for i in range(len(own))], np.uint32)
        bits = min(MAX_FILTER, max(6, (BITS_A_KEY * len(table.packed) - 1).bit_length()))
        shift, filter_ = np.uint32(32 - bits), np.zeros(1 << (bits - 6), np.uint64)
        hashes = (_digits(table, sizes) * factors[:, None]).sum(axis=0, dtype=np.uint32)
        kernels.set_bits(hashes, shift, filter_)
        self._filter = self._subjects, factors, shift, filter_

    def pick(self, ranks: Ranks, candidates: Integers, packed: Integers) -> int:
        count: int = kernels.screen_combinations(ranks, *self._filter, candidates)
        return count

    def find(
        self, ranks: Ranks, candidates: Integers, packed: Integers, picked: Integers, keys: Integers
    ) -> int:
        entries = self._strides, *self._map.entries
        count: int = kernels.resolve(ranks, *self._filter, *entries, candidates, picked, keys)
        return count


def _is_dense(table: KeyedTable, sizes: Sequence[int]) -> bool:
    """Whether a bit for every combination is not much more than a filter would need."""
    return _combinations(table, sizes) <= min(CELLS_A_KEY * len(table.packed), 1 << MAX_FILTER)


def _combinations(table: KeyedTable, sizes: Sequence[int]) -> int:
    """How many combinations of ranks there are; a size itself is a place too."""
    return prod(sizes[key] + 1 for key in table.keys)


def _digits(table: KeyedTable, sizes: Sequence[int]) -> npt.NDArray[np.uint32]:
    """The ranks that each of a table's keys is packed of: (subjects, keys)."""
    own = [sizes[key] for key in table.keys]
    bases = np.array([strides(own), own], np.uint64)[:, :, None]
    digits: npt.NDArray[np.uint64] = table.packed // bases[0] % (bases[1] + np.uint64(1))
    return digits.astype(np.uint32)

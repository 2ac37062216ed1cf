"""A few matches of every query, chosen by a chance that never varies.

A row's lot is a hash of its number in the history; a query's samples are the matches with the lowest lots. So they are
spread evenly over its matches, and neither the size of batches nor other queries change them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from eddyline.backtest.values import Row
from eddyline.model.arrays import Integers

Lots = npt.NDArray[np.uint64]


def lots(first: int, count: int) -> Lots:
    """The lots of `count` rows from row `first` of the history on (splitmix64).

    >>> bool((lots(5, 3) == lots(0, 8)[5:]).all())
    True
    """
    x = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Samples:
    """Up to `size` rows of every query."""

    def __init__(self, queries: int, size: int) -> None:
        self._size = size
        self._bar = np.full(queries, np.iinfo(np.uint64).max)  # only lots below it can still get in
        self._chosen: list[list[tuple[int, int, Row]]] = [[] for _ in range(queries)]  # lot, ordinal, row
        self._candidates: list[tuple[Integers, Integers, Lots]] = []

    def rows(self, query: int) -> tuple[Row, ...]:
        """The samples of a query, in the order of the history."""
        return tuple(row for _, _, row in sorted(self._chosen[query], key=lambda kept: kept[1]))

    def add(self, start: int, ordinal: int, count: int, row: Integers, number: Integers) -> None:
        """Note the matches of a block of `count` rows: from `start` on in the stretch, `ordinal` in the history."""
        lot = lots(ordinal, count)[row]
        possible = lot < self._bar[number]
        row, number, lot = row[possible], number[possible], lot[possible]
        if not len(row) or not self._size:
            return
        order = np.lexsort((lot, number))
        row, number, lot = row[order], number[order], lot[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        rank = np.arange(len(number)) - np.repeat(starts, np.diff(starts, append=len(number)))
        few = rank < self._size
        self._candidates.append((row[few] + start, number[few], lot[few]))

    def wanted(self) -> Integers:
        """Places in the stretch whose rows are needed."""
        return np.concatenate([*(row for row, _, _ in self._candidates), np.empty(0, np.int64)])

    def keep(self, rows: dict[int, Row], ordinal: int) -> None:
        """Take the rows that were asked for; the stretch, which began at `ordinal` of the history, ends."""
        touched = set()
        for row, number, lot in self._candidates:
            for place, query, drawn in zip(row.tolist(), number.tolist(), lot.tolist(), strict=True):
                self._chosen[query].append((drawn, ordinal + place, rows[place]))
                touched.add(query)
        self._candidates = []
        self._trim(touched)

    def merge(self, other: Samples) -> None:
        """Take in the samples of another part of the history."""
        for mine, theirs in zip(self._chosen, other._chosen, strict=True):
            mine += theirs
        self._trim(query for query, theirs in enumerate(other._chosen) if theirs)

    def _trim(self, queries: Iterable[int]) -> None:
        """Give up what is more than wanted."""
        for query in queries:
            kept = sorted(self._chosen[query], key=lambda entry: entry[:2])[: self._size]
            self._chosen[query] = kept
            if len(kept) == self._size:
                self._bar[query] = kept[-1][0]

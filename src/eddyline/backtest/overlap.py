"""How many matches queries have in common, counted block by block.

Of a row that matches queries 0, 3 and 7, of which 0 and 3 are under test, the pairs (0,3) (0,7) (3,0) (3,7) are counted.
Queries that match few rows of a block are paired row by row; those that match many by a product of matrices:

    rows        0 1 2 3 ...
    tested   0  1 1 0 1            all  0  1 1 0 1
             1  0 1 1 1                 1  0 1 1 1         tested × allᵀ = shared matches of every pair
                                        2  1 1 1 1

Memory is bounded: a table of all pairs where that is small, else of the pairs met, the least of them given up when there
are too many (then `exact` is false). Time is bounded too: where rows match very many queries, every second, fourth, ...
row of a block is counted for two, four, ... and the figures are estimates.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.model.arrays import Integers

_TABLE: Final = 1 << 22  # pairs up to which all have a place of their own: 32 MiB
_MET: Final = 1 << 21  # pairs that are remembered where there are more
_CHUNK: Final = 1 << 22  # pairs expanded at once
_WORK: Final = 1 << 26  # steps a block may take before rows are left out
_HEAVY: Final = 32  # a query is heavy if it matches one row in so many, or more
_CHEAP: Final = 64  # steps of a product of matrices that take the time of one pair row by row


class Overlaps:
    """Shared matches of each of `tested` queries, numbered first, with each of all `queries`.

    >>> overlaps = Overlaps(tested=1, queries=3)
    >>> overlaps.add(4, np.array([0, 0, 1, 1, 1]), np.array([0, 2, 0, 1, 2]))
    >>> overlaps.largest(0, range(3), 5)
    [(2, 2), (1, 1)]
    """

    def __init__(
        self, tested: int, queries: int, *, work: int = _WORK, table: int = _TABLE, met: int = _MET
    ) -> None:
        self.tested, self.queries = tested, queries
        self.estimated = np.zeros(tested, np.bool_)
        self._work = work
        self._pairs: _PairMatrix | _Met = (
            _PairMatrix(tested, queries) if tested * queries <= table else _Met(tested, queries, met)
        )

    @property
    def exact(self) -> bool:
        """Whether no pair was given up."""
        return self._pairs.exact

    def add(self, rows: int, row: Integers, number: Integers) -> None:
        """Count a block of so many rows by its matches, by row."""
        mine = number < self.tested
        if not mine.any():
            return
        counts = np.bincount(number, minlength=self.queries)
        heavy = counts * _HEAVY >= rows
        weight = self._weight(rows, row, number, mine, heavy)
        if weight > 1:
            self.estimated[np.unique(number[mine])] = True
            # the rows in the middle of every stride; the last stride may have none
            kept = row % weight == weight // 2
            row, number, mine = row[kept], number[kept], mine[kept]
        loud = heavy[number]
        self._expand(rows, row, number, mine & ~loud, np.ones(len(row), np.bool_), weight)
        self._expand(rows, row, number, mine & loud, ~loud, weight)
        self._multiply(row, number, mine & loud, loud, weight)

    def merge(self, other: Overlaps) -> None:
        """Add the pairs of another part of the history."""
        self.estimated |= other.estimated
        self._pairs.merge(other._pairs)

    def _weight(self, rows: int, row: Integers, number: Integers, mine: Any, heavy: Any) -> int:
        """Of how many rows one is looked at, so that the work stays within its bound."""
        loud = heavy[number]
        everyone, soft = np.bincount(row, minlength=rows), np.bincount(row[~loud], minlength=rows)
        work = int(everyone[row[mine & ~loud]].sum()) + int(soft[row[mine & loud]].sum())
        work += int(heavy[: self.tested].sum()) * int(heavy.sum()) * rows // _CHEAP
        weight = 1
        while work > self._work * weight and weight < rows:
            weight *= 2
        return weight

    def _expand(self, rows: int, row: Integers, number: Integers, left: Any, right: Any, weight: int) -> None:
        """Count pairs row by row: matches flagged in `left` with those in `right`."""
        row_l, number_l = row[left], number[left]
        number_r = number[right]
        sizes = np.bincount(row[right], minlength=rows)
        starts = np.cumsum(sizes) - sizes
        each = sizes[row_l]
        ends = np.cumsum(each)
        first = 0
        while first < len(row_l):
            base = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, base + _CHUNK, side="right")))
            length = each[first:last]
            within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
            others = number_r[np.repeat(starts[row_l[first:last]], length) + within]
            self._pairs.add(np.repeat(number_l[first:last], length), others, weight)
            first = last

    def _multiply(self, row: Integers, number: Integers, left: Any, right: Any, weight: int) -> None:
        """The same by a product of matrices; sums of at most 2^24 ones are exact in float32."""
        if not left.any():
            return
        lines_l, number_l = np.unique(number[left], return_inverse=True)
        lines_r, number_r = np.unique(number[right], return_inverse=True)
        used, column = np.unique(row[right], return_inverse=True)
        column_l = np.searchsorted(used, row[left])
        step = max(1, min(len(used), _CHUNK * 4 // max(1, len(lines_r))))
        total = np.zeros((len(lines_l), len(lines_r)), np.int64)
        for start in range(0, len(used), step):
            a = _ones(len(lines_l), step, number_l, column_l - start)
            b = _ones(len(lines_r), step, number_r, column - start)
            total += (a @ b.T).astype(np.int64)
        place_l, place_r = np.nonzero(total)
        self._pairs.add_many(lines_l[place_l], lines_r[place_r], total[place_l, place_r] * weight)

    def largest(self, query: int, among: range, size: int) -> list[tuple[int, int]]:
        """The queries among some that share most matches with one, and how many; itself left out."""
        others, shared = self._pairs.of(query)
        keep = (others != query) & (shared > 0) & (others >= among.start) & (others < among.stop)
        others, shared = others[keep], shared[keep]
        order = np.lexsort((others, -shared))[:size]
        return list(zip(others[order].tolist(), shared[order].tolist(), strict=True))


def _ones(lines: int, columns: int, line: Integers, column: Integers) -> npt.NDArray[np.float32]:
    matrix = np.zeros((lines, columns), np.float32)
    inside = (column >= 0) & (column < columns)
    matrix[line[inside], column[inside]] = 1
    return matrix


class _PairMatrix:
    """A place for every pair."""

    exact = True

    def __init__(self, tested: int, queries: int) -> None:
        self._counts = np.zeros((tested, queries), np.int64)

    def add(self, left: Integers, right: Integers, weight: int) -> None:
        keys = left.astype(np.int64) * self._counts.shape[1] + right
        np.add.at(self._counts.reshape(-1), keys, weight)

    def add_many(self, left: Integers, right: Integers, counts: Integers) -> None:
        self._counts[left, right] += counts

    def merge(self, other: _PairMatrix | _Met) -> None:
        assert isinstance(other, _PairMatrix), "both have the same numbers of queries"
        self._counts += other._counts

    def of(self, query: int) -> tuple[Integers, Integers]:
        return np.arange(self._counts.shape[1]), self._counts[query]


class _Met:
    """The pairs met, at most `limit`: the least are given up, so that what is left may count too little."""

    def __init__(self, tested: int, queries: int, limit: int) -> None:
        self.exact = True
        self._queries, self._limit = queries, limit
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[Integers, Integers]] = []
        self._waiting_size = 0

    def add(self, left: Integers, right: Integers, weight: int) -> None:
        keys, counts = np.unique(left.astype(np.int64) * self._queries + right, return_counts=True)
        self._take(keys, counts * weight)

    def add_many(self, left: Integers, right: Integers, counts: Integers) -> None:
        keys = left.astype(np.int64) * self._queries + right
        order = np.argsort(keys)
        self._take(keys[order], counts[order])

    def merge(self, other: _PairMatrix | _Met) -> None:
        assert isinstance(other, _Met), "both have the same numbers of queries"
        self.exact &= other.exact
        for keys, counts in ((other._keys, other._counts), *other._waiting):
            self._take(keys, counts)

    def _take(self, keys: Integers, counts: Integers) -> None:
        self._waiting.append((keys, counts))
        self._waiting_size += len(keys)
        if self._waiting_size >= self._limit:
            self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._waiting)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._waiting)])
        self._waiting, self._waiting_size = [], 0
        merged, places = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(merged), np.int64)
        np.add.at(sums, places, counts)
        if len(merged) > self._limit:
            self.exact = False
            kept = np.sort(np.argsort(-sums, kind="stable")[: self._limit // 2])
            merged, sums = merged[kept], sums[kept]
        self._keys, self._counts = merged, sums

    def of(self, query: int) -> tuple[Integers, Integers]:
        if self._waiting:
            self._merge()
        low, high = np.searchsorted(self._keys, [query * self._queries, (query + 1) * self._queries])
        return self._keys[low:high] % self._queries, self._counts[low:high]

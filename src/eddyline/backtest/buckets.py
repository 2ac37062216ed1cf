"""Counts over an axis in a bounded number of buckets, however long the history turns out to be.

When a row falls outside, buckets merge until all rows fit again:

    width 1 min    | 3 | 0 | 4 | 1 | 9 |            a row an hour later
    width 5 min    |      17           | 0 | 0 | ...           | 1 |

The result does not depend on the order of rows: the final width is the least step that holds all of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.backtest.axis import Axis, Positions
from eddyline.backtest.values import Scale
from eddyline.model.arrays import Flags, Integers

FEWEST: Final = 32  # so many of the widest buckets hold all that 64 bits can say


class Buckets:
    """How many rows, and how many matches of each query, stand in every bucket.

    >>> buckets = Buckets(Axis("row"), queries=1, limit=FEWEST)
    >>> buckets.add(np.arange(100), None, row=np.array([0, 9]), number=np.array([0, 0]))
    >>> scale, rows, matches = buckets.result()
    >>> scale.width, rows[:3].tolist(), matches[0, :3].tolist()
    (5, [5, 5, 5], [1, 1, 0])
    """

    def __init__(self, axis: Axis, queries: int, limit: int) -> None:
        assert limit >= FEWEST, "the widest steps have to hold everything"
        self.axis = axis
        self.off_axis = np.zeros(queries, np.int64)
        self.rows_off_axis = 0
        self._counts = np.zeros((queries + 1, limit), np.int64)  # the last line counts rows
        self._level = 0
        self._start = 0  # bucket number of the first column
        self._span: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Width of a bucket, now."""
        return self.axis.steps[self._level]

    def add(self, positions: Positions, known: Flags | None, row: Integers, number: Integers) -> None:
        """Count the rows of a block, and its matches: pairs of a row of the block and a query's number."""
        self.add_rows(positions, known)
        if known is not None:
            placed = known[row]
            np.add.at(self.off_axis, number[~placed], 1)
            row, number = row[placed], number[placed]
        self.add_matches(positions[row], number)

    def add_rows(self, positions: Positions, known: Flags | None) -> None:
        """Count rows."""
        if known is not None:
            self.rows_off_axis += int(len(known) - known.sum())
        inside = positions if known is None else positions[known]
        if len(inside):
            self._cover(int(inside.min()), int(inside.max()))
            columns = inside // self.width - self._start
            self._counts[-1] += np.bincount(columns, minlength=self._counts.shape[1])

    def add_matches(self, positions: Positions, number: Integers) -> None:
        """Count matches, each where it stands; there is a row that was counted before and after each, or in its place."""
        columns = positions // self.width - self._start
        np.add.at(self._counts.reshape(-1), number.astype(np.int64) * self._counts.shape[1] + columns, 1)

    def merge(self, other: Buckets) -> None:
        """Add the counts of another part of the history."""
        self.off_axis += other.off_axis
        self.rows_off_axis += other.rows_off_axis
        if other._span is None:
            return
        self._cover(*other._span)
        factor, used = self.width // other.width, other._used
        assert factor, "what covers more has buckets at least as wide"
        targets = np.array([(other._start + column) // factor - self._start for column in range(used)])
        borders = np.flatnonzero(np.diff(targets, prepend=-1))
        self._counts[:, targets[borders]] += np.add.reduceat(other._counts[:, :used], borders, axis=1)

    @property
    def _used(self) -> int:
        """How many columns are in use."""
        return 0 if self._span is None else self._span[1] // self.width - self._start + 1

    def _cover(self, low: int, high: int) -> None:
        """Make room for all positions from `low` to `high`."""
        if self._span is None:
            self._span = (low, low)
            self._start = low // self.width
        low, high = min(low, self._span[0]), max(high, self._span[1])
        limit = self._counts.shape[1]
        level = self._level
        while high // self.axis.steps[level] - low // self.axis.steps[level] >= limit:
            level += 1
        self._move(level, low // self.axis.steps[level])
        self._span = (low, high)

    def _move(self, level: int, start: int) -> None:
        if (level, start) == (self._level, self._start):
            return
        assert self._span is not None, "there is something to move"
        used = self._used
        factor = self.axis.steps[level] // self.width
        # Python's integers: positions near both ends of 64 bits would overflow
        targets = np.array([(self._start + column) // factor - start for column in range(used)])
        borders = np.flatnonzero(np.diff(targets, prepend=-1))
        merged = np.add.reduceat(self._counts[:, :used], borders, axis=1)
        self._counts[:] = 0
        self._counts[:, targets[borders]] = merged
        self._level, self._start = level, start

    def result(self) -> tuple[Scale, Integers, Integers]:
        """The scale, rows of every bucket, and matches of every query in every bucket."""
        axis, width = self.axis, self.width
        used = self._used
        start = self._start * width
        labels = tuple(axis.text(start + column * width) for column in range(used + 1)) if used else ()
        scale = Scale(axis.kind, axis.column, start, width, labels, axis.step_text(width))
        return scale, self._counts[-1, :used], self._counts[:-1, :used]

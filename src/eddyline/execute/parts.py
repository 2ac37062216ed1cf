"""What executors leave behind, as parts of `Matches`: counted, listed and paired only when somebody asks.

Executors speak of slots. What these are called in the set is looked up last, once for each match that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.execute.pool import LINE, POOL
from eddyline.kernels import pairs as kernels
from eddyline.kernels.sliced import add_counts
from eddyline.kernels.sorting import sort_digits
from eddyline.model.arrays import Integers
from eddyline.model.masks import WORDS, Masks
from eddyline.model.matches import sorted_pairs
from eddyline.model.numbering import Numbering

STREAMED: Final = 1 << 22  # bytes from which row numbers go past the caches
# pairs from which that is quicker: seven times, where there are a hundred thousand
SORTED_BY_DIGITS: Final = 4_096


@dataclass(frozen=True, slots=True)
class MaskPart:
    """Matches kept as masks."""

    masks: Masks
    numbering: Numbering | None = None

    def numbered(self, numbering: Numbering) -> MaskPart:
        """The same, its queries being numbered otherwise."""
        return self if numbering.is_plain else replace(self, numbering=numbering.after(self.numbering))

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        return numbers_of(self.numbering, self.masks.numbers), self._counts()

    def _counts(self) -> npt.NDArray[np.int64]:
        m = self.masks
        counts = np.zeros(m.results, np.int64)
        for block in range(m.blocks):
            add_counts(m.words, block * m.results * WORDS, m.results, counts)
        return counts

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        m = self.masks
        places = np.flatnonzero(m.numbers == slot_of(self.numbering, number))
        if not len(places):
            return np.empty(0, np.int64)
        rows = np.empty(m.rows, np.int64)
        return self._of_batch(rows[: kernels.query_rows(m.words, m.blocks, m.results, int(places[0]), rows)])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""
        m = self.masks
        total, order, turned = self._to_turn()
        rows, found = (POOL.take(total + kernels.SLACK, np.int32) for _ in range(2))
        streaming = rows.nbytes > STREAMED and rows.ctypes.data % LINE == 0
        kernels.all_pairs(m.words, m.blocks, order, turned, rows, found, streaming)
        return self._of_batch(rows[:total]), self._numbers(found[:total], order)

    def lists(self, rows: int) -> tuple[Integers, Integers]:
        """Where the queries of each of the batch's rows start, and their numbers."""
        m = self.masks
        total, order, turned = self._to_turn()
        starts, found = np.empty(m.rows + 1, np.int64), POOL.take(total + kernels.SLACK, np.int32)
        kernels.all_lists(m.words, m.blocks, order, turned, starts, found)
        if m.selected is not None:
            counts = np.zeros(rows + 1, np.int64)
            counts[m.selected + 1] = np.diff(starts)
            starts = np.cumsum(counts)
        return starts, self._numbers(found[:total], order)

    def _to_turn(self) -> tuple[int, npt.NDArray[np.int32], npt.NDArray[np.uint64]]:
        """How many pairs there are, the results by slot, which is by number too, and scratch to turn masks."""
        order = np.argsort(self.masks.numbers, kind="stable").astype(np.int32)
        turned = POOL.take(-(-self.masks.results // 64) * kernels.COLUMN, np.uint64)
        return int(self._counts().sum()), order, turned

    def _numbers(self, places: Integers, order: npt.NDArray[np.int32]) -> Integers:
        """Query numbers for places in that order, found in one step."""
        slots = self.masks.numbers[order]
        if not len(slots) or (int(slots[0]) == 0 and int(slots[-1]) == len(slots) - 1):
            return numbers_of(self.numbering, places)
        return numbers_of(self.numbering, slots)[places]

    def _of_batch(self, rows: Integers) -> Integers:
        """Rows of the batch for rows among those that were looked at."""
        return rows if self.masks.selected is None else self.masks.selected[rows]


@dataclass(frozen=True, slots=True)
class PairPart:
    """Matches kept as pairs, by row within a table."""

    row: Integers
    slot: Integers
    numbering: Numbering | None = None

    def numbered(self, numbering: Numbering) -> PairPart:
        """The same, its queries being numbered otherwise."""
        return self if numbering.is_plain else replace(self, numbering=numbering.after(self.numbering))

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        counts = np.bincount(self.slot) if len(self.slot) else np.empty(0, np.int64)
        slots = np.flatnonzero(counts)
        return numbers_of(self.numbering, slots), counts[slots]

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        return np.sort(self.row[self.slot == slot_of(self.numbering, number)])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""
        row, slot = self._sorted()
        return row, numbers_of(self.numbering, slot)

    def _sorted(self) -> tuple[Integers, Integers]:
        if len(self.row) < SORTED_BY_DIGITS:
            return sorted_pairs(self.row, self.slot)
        width = int(self.slot.max()).bit_length()
        bits = int(self.row.max()).bit_length() + width
        if bits > 62:
            return sorted_pairs(self.row, self.slot)
        packed = self.row.astype(np.int64) << width | self.slot
        packed = sort_digits(packed, POOL.take(len(packed), np.int64), bits)
        slot = packed & ((1 << width) - 1)
        return (packed >> width).astype(self.row.dtype), slot.astype(self.slot.dtype)


def numbers_of(numbering: Numbering | None, slots: Integers) -> Integers:
    """What slots are called; they are numbers themselves where nobody said otherwise."""
    return slots if numbering is None else numbering.numbers(slots)


def slot_of(numbering: Numbering | None, number: int) -> int:
    """The slot of a number, -1 if there is none."""
    return number if numbering is None else numbering.slot(number)

"""What executors leave behind, as parts of `Matches`: counted, listed and paired only when somebody asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eddyline.kernels import sliced as kernels
from eddyline.model.masks import BLOCK, WORDS, Masks

Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class MaskPart:
    """Matches kept as masks."""

    masks: Masks

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        m = self.masks
        counts = np.zeros(m.results, np.int64)
        for block in range(m.blocks):
            kernels.add_counts(m.words, block * m.results * WORDS, m.results, counts)
        return m.numbers, counts

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        m = self.masks
        places = np.flatnonzero(m.numbers == number)
        if not len(places):
            return np.empty(0, np.int64)
        rows = np.empty(m.rows, np.int64)
        return self._of_batch(rows[: kernels.query_rows(m.words, m.blocks, m.results, int(places[0]), rows)])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""
        m = self.masks
        total = int(self.counts()[1].sum())
        rows, found = np.empty(total, np.int64), np.empty(total, np.int32)
        order, scratch = np.argsort(m.numbers).astype(np.int64), np.empty(BLOCK + 1, np.int64)
        kernels.all_pairs(m.words, m.blocks, m.results, order, m.numbers, scratch, rows, found)
        return self._of_batch(rows), found

    def _of_batch(self, rows: Integers) -> Integers:
        """Rows of the batch for rows among those that were looked at."""
        return rows if self.masks.selected is None else self.masks.selected[rows]


@dataclass(frozen=True, slots=True)
class PairPart:
    """Matches kept as pairs, by row within a table."""

    row: Integers
    number: Integers

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        counts = np.bincount(self.number) if len(self.number) else np.empty(0, np.int64)
        numbers = np.flatnonzero(counts)
        return numbers, counts[numbers]

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        return np.sort(self.row[self.number == number])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""
        order = np.lexsort((self.number, self.row))
        return self.row[order], self.number[order]

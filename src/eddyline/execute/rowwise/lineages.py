"""What the row-wise executor leaves behind: the tuples that matched, their GRBs, and the steps of a single tuple."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eddyline.execute.parts import numbers_of, slot_of
from eddyline.kernels import rowwise as kernels
from eddyline.model.arrays import Integers
from eddyline.model.asc import ASC, Words, subject_text
from eddyline.model.numbering import Numbering
from eddyline.model.visit_order import Counters

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lineages:
    """The tuples that matched anything and the GRB of each, a part of `Matches`.

    row ascends; grb is (tuples, words), its bit j belonging to slots[j]. Pairs come by number if slots ascend.
    """

    row: Rows
    grb: Words
    slots: npt.NDArray[np.int32]
    counters: Counters
    numbering: Numbering | None = None

    def numbered(self, numbering: Numbering) -> Lineages:
        """The same, its queries being numbered otherwise."""
        return self if numbering.is_plain else replace(self, numbering=numbering.after(self.numbering))

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        words = self.grb.shape[1]
        found = np.zeros(words * 64, np.int64)
        kernels.add_counts(self.grb.reshape(-1), len(self.row), words, found)
        return numbers_of(self.numbering, self.slots), found[: len(self.slots)]

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        places = np.flatnonzero(self.slots == slot_of(self.numbering, number))
        if not len(places):
            return np.empty(0, np.int64)
        word, bit = divmod(int(places[0]), 64)
        hit = (self.grb[:, word] >> np.uint64(bit)) & np.uint64(1)
        return np.asarray(self.row[hit == 1])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row and bit."""
        flat = self.grb.reshape(-1)
        total = kernels.ones(flat)
        rows, found = np.empty(total, np.int64), np.empty(total, np.int64)
        many = total > len(self.slots)  # then looking up the slots first is less work
        own = numbers_of(self.numbering, self.slots) if many else self.slots
        kernels.all_pairs(flat, self.row, self.grb.shape[1], own, rows, found)
        return rows, found if many else numbers_of(self.numbering, found)


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of a tuple: the ASC, the region of the tuple's value, and the GRB afterwards."""

    asc: ASC
    region: int
    grb: str

    def __str__(self) -> str:
        return f"{subject_text(self.asc.subject)} in {self.asc.name(self.region)}: {self.grb}"

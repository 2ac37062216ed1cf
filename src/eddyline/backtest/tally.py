"""What a back-test has found so far on one stream, or on two that are joined: small, whatever the history.

Tallies of parts of a history add up to that of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np

from eddyline.backtest.axis import Axis, Positions
from eddyline.backtest.buckets import FEWEST, Buckets
from eddyline.backtest.extremes import Extremes
from eddyline.backtest.lots import Lots
from eddyline.backtest.overlap import Overlaps
from eddyline.backtest.rows import Shown
from eddyline.backtest.samples import Samples
from eddyline.backtest.settings import Settings, within
from eddyline.model.arrays import Flags, Integers

_CELLS: Final = 1 << 20  # counts over the axis, all queries of a stream together
_KEPT: Final = 100_000  # sample rows, all queries of a stream together


class Matched(Protocol):
    """Rows of a history, or pairs of rows, that queries match; they are known by their places here."""

    @property
    def ordinal(self) -> int:
        """How many come before the first in the whole history."""

    def lots(self, start: int, size: int) -> Lots:
        """By which samples are chosen, of some of them."""

    def fetch(self, axis: Axis, places: Integers) -> Mapping[int, Shown]:
        """Some of them as a report shows them."""


class Tally:
    """Counts, ends, samples and overlaps of `tested` queries, numbered first, among `every`.

    Invariant: what it holds does not depend on the order in which stretches and other tallies came, except for overlaps
    that are estimated or that were given up.
    """

    def __init__(self, axis: Axis, tested: int, every: int, settings: Settings) -> None:
        self.axis, self.tested = axis, tested
        self.buckets = Buckets(axis, tested, within(settings.buckets, _CELLS, tested, least=FEWEST))
        self.samples = Samples(tested, within(settings.samples, _KEPT, tested, least=1))
        self.first, self.last = Extremes(tested, 1), Extremes(tested, -1)
        self.overlaps = Overlaps(tested, every)
        self.totals = np.zeros(every, np.int64)
        self.covered = np.zeros(tested, np.int64)
        self.rows = 0

    def add(
        self,
        stretch: Matched,
        start: int,
        size: int,
        pairs: tuple[Integers, Integers],
        places: tuple[Positions, Flags | None],
    ) -> None:
        """Count a block of `size` rows of a stretch: its pairs (rows counted from the block's first) and its places."""
        row, number = self._take(stretch, start, size, pairs, places)
        self.buckets.add(*places, row, number)
        self.rows += size

    def add_rows(self, positions: Positions, known: Flags | None) -> None:
        """Count rows whose matches come later, as pairs."""
        self.buckets.add_rows(positions, known)
        self.rows += len(positions)

    def add_pairs(self, found: Matched, matches: tuple[Integers, Integers], positions: Positions) -> None:
        """Count pairs of rows that were counted before: which pair satisfies which join, and where each stands."""
        pair, number = self._take(found, 0, len(positions), matches, (positions, None))
        self.buckets.add_matches(positions[pair], number)

    def _take(
        self,
        stretch: Matched,
        start: int,
        size: int,
        pairs: tuple[Integers, Integers],
        places: tuple[Positions, Flags | None],
    ) -> tuple[Integers, Integers]:
        """Take in a block, but for counts over the axis: of these gives the pairs of queries under test."""
        row, number = pairs
        self.totals += np.bincount(number, minlength=len(self.totals))
        self._cover(size, row, number)
        self.overlaps.add(size, row, number)
        mine = number < self.tested
        row, number = row[mine], number[mine]
        self.samples.add(start, stretch.lots(start, size), row, number)
        for end in (self.first, self.last):
            end.add(start, stretch.ordinal + start, *places, row, number)
        return row, number

    def _cover(self, size: int, row: Integers, number: Integers) -> None:
        """Count matches of queries under test on rows that an existing query matches too."""
        if self.tested == len(self.totals):
            return
        mine = number < self.tested
        held = np.zeros(size, np.bool_)
        held[row[~mine]] = True
        np.add.at(self.covered, number[mine], held[row[mine]])

    def keep(self, stretch: Matched) -> None:
        """Take what is to be shown out of a stretch whose blocks were all added."""
        wanted = np.unique(np.concatenate([self.first.wanted(), self.last.wanted(), self.samples.wanted()]))
        rows = stretch.fetch(self.axis, wanted)
        self.samples.keep(rows, stretch.ordinal)
        for end in (self.first, self.last):
            end.keep(rows)

    def samples_of(self, query: int) -> tuple[Shown, ...]:
        """A few matches of a query under test other than its first and its last."""
        return self.samples.rows(query, (self.first.ordinal(query), self.last.ordinal(query)))

    def merge(self, other: Tally) -> None:
        """Take in what was found on another part of the history."""
        self.buckets.merge(other.buckets)
        self.samples.merge(other.samples)
        self.first.merge(other.first)
        self.last.merge(other.last)
        self.overlaps.merge(other.overlaps)
        self.totals += other.totals
        self.covered += other.covered
        self.rows += other.rows

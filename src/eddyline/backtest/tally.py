"""What a back-test has found so far on one stream: small, and tallies of parts of a history add up to that of the whole."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.backtest.axis import Axis, Positions
from eddyline.backtest.buckets import FEWEST, Buckets
from eddyline.backtest.extremes import Extremes
from eddyline.backtest.overlap import Overlaps
from eddyline.backtest.rows import Stretch
from eddyline.backtest.samples import Samples
from eddyline.backtest.settings import Settings, within
from eddyline.model.arrays import Flags, Integers

_CELLS: Final = 1 << 20  # counts over the axis, all queries of a stream together
_KEPT: Final = 100_000  # sample rows, all queries of a stream together


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
        stretch: Stretch,
        start: int,
        size: int,
        pairs: tuple[Integers, Integers],
        places: tuple[Positions, Flags | None],
    ) -> None:
        """Count a block of `size` rows of a stretch: its pairs (rows counted from the block's first) and its places."""
        row, number = pairs
        self.totals += np.bincount(number, minlength=len(self.totals))
        self._cover(size, row, number)
        self.overlaps.add(size, row, number)
        mine = number < self.tested
        row, number = row[mine], number[mine]
        positions, known = places
        ordinal = stretch.ordinal + start
        self.buckets.add(positions, known, row, number)
        self.samples.add(start, ordinal, size, row, number)
        for end in (self.first, self.last):
            end.add(start, ordinal, positions, known, row, number)

    def _cover(self, size: int, row: Integers, number: Integers) -> None:
        """Count matches of queries under test on rows that an existing query matches too."""
        if self.tested == len(self.totals):
            return
        mine = number < self.tested
        held = np.zeros(size, np.bool_)
        held[row[~mine]] = True
        np.add.at(self.covered, number[mine], held[row[mine]])

    def keep(self, stretch: Stretch) -> None:
        """Take the rows that are to be shown out of a stretch whose blocks were all added."""
        wanted = np.unique(np.concatenate([self.first.wanted(), self.last.wanted(), self.samples.wanted()]))
        rows = stretch.fetch(self.axis, wanted)
        self.samples.keep(rows, stretch.ordinal)
        for end in (self.first, self.last):
            end.keep(rows)
        self.rows += stretch.batch.num_rows

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

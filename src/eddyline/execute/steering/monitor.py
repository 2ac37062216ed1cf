"""The monitor: looks at some of the live tuples between batches, and keeps count of the time that this takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.config import OrderSettings
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.model.expression import own_columns_of
from eddyline.model.sample import Sample

# tuples of one look, if the batch has so many: with 20 subjects a look at one takes 600 us already
LEAST: Final = 128
QUICK: Final = 0.25  # part of the monitor's time that is kept for quick answers to changes
ROUTINE: Final = 0.2  # part of it in which one may look again although nothing has changed


@dataclass(frozen=True, slots=True)
class MonitorReport:
    """What the monitor looked at and what it took: `inside` of `total` seconds, those of matching included.

    >>> MonitorReport(tuples=5_000, sampled=50, inside=0.25, total=10.0).share
    0.025
    """

    tuples: int
    sampled: int
    inside: float
    total: float

    @property
    def share(self) -> float:
        """Part of the time that was spent in the monitor."""
        return self.inside / self.total if self.total else 0.0


class Monitor:
    """Takes samples at a rate, and says whether there is time for work beside the matching.

    Not safe for threads: `LiveSteering` lets one in at a time.
    """

    def __init__(self, rowwise: Rowwise, settings: OrderSettings) -> None:
        self._rowwise = rowwise
        self._rate, self._share = settings.sample_rate, settings.monitor_share
        self._random = np.random.default_rng(settings.seed)
        self._columns = sorted({n for asc in rowwise.index.ascs for n in own_columns_of(asc.subject)})
        self._owed = 0.0  # tuples that the rate allows and that were not taken yet
        self._tuples = self._sampled = 0
        self._inside = self._total = 0.0

    @property
    def watched(self) -> MonitorReport:
        """What it cost so far."""
        return MonitorReport(self._tuples, self._sampled, self._inside, self._total)

    def matched(self, rows: int, seconds: float) -> None:
        """Take note of a batch."""
        self._tuples += rows
        self._total += seconds
        self._owed = min(self._owed + rows * self._rate, LEAST + 2 * rows * self._rate)

    def spent(self, seconds: float) -> None:
        """Take note of time that went into the monitor, or into what is done with its samples."""
        self._inside += seconds
        self._total += seconds

    def affords(self, seconds: float = 0.0) -> bool:
        """Whether work of so many seconds keeps within the share of time."""
        return self._keeps(seconds, 1 - QUICK)

    def affords_routine(self, seconds: float = 0.0) -> bool:
        """The same for work that most often finds nothing new, of which less is allowed."""
        return self._keeps(seconds, ROUTINE)

    def spares(self, seconds: float) -> bool:
        """The same for a quick answer to a change, for which a part of the share is kept."""
        return self._keeps(seconds, 1.0)

    def _keeps(self, seconds: float, part: float) -> bool:
        share = 1.0 if self._share == 1 else part * self._share
        return self._inside + seconds <= share * (self._total + seconds)

    def due(self, rows: int) -> bool:
        """Whether tuples of a batch of so many are to be taken."""
        return self._owed >= min(rows, LEAST)

    def look(self, evaluation: Evaluation, rows: int, most: int | None = None) -> Sample:
        """The regions of some tuples of a batch that was matched: those that are due, at most so many."""
        count = min(int(self._owed), rows, rows if most is None else most)
        self._owed -= count
        return self.sample(evaluation, rows, count)

    def sample(self, evaluation: Evaluation, rows: int, count: int) -> Sample:
        """The regions of so many tuples of a batch, whatever it takes."""
        self._sampled += count
        places = self.places(rows, count)
        some = evaluation.some(pa.array(places), self._columns) if count < rows else evaluation
        return Sample(self._rowwise.index.ascs, self._rowwise.regions(some, count))

    def alive(self, evaluation: Evaluation, rows: int, subjects: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Which share of a few tuples of a batch is not dropped by each of some subjects alone."""
        index, count = self._rowwise.index, min(rows, LEAST)
        columns = sorted({n for i in subjects for n in own_columns_of(index.ascs[i].subject)})
        some = evaluation.some(pa.array(self.places(rows, count)), columns)
        found = self._rowwise.regions(some, count, subjects) + index.starts[list(subjects), None]
        return np.asarray(index.alive[found].mean(axis=1))

    def places(self, rows: int, count: int) -> npt.NDArray[np.int64]:
        """One place of each of `count` equal stretches, so that no rhythm of the rows meets that of the sample."""
        drawn = (np.arange(count) + self._random.random(count)) * (rows / count)
        return np.minimum(drawn.astype(np.int64), rows - 1)

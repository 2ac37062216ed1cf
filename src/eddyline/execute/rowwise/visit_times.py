"""What a visit to each subject takes, from the running times of batches: finding the region, and ANDing the bitmaps."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.index.rowwise.asc import AscIndex
from eddyline.order.strategies.adaptive import VisitCosts

MEASURED_ROWS: Final = 2_048  # in smaller batches what a call takes anyway would count as time of the rows
NEWEST: Final = 0.25  # weight of a new time beside those before
MOST: Final = 2.0  # times those before is what a new one counts for
NUMBER: Final = 2e-9  # seconds of locating a value, as long as nothing is measured
TEXT: Final = 20e-9
WORD: Final = 0.15e-9  # of ANDing one word


class VisitTimes:
    """Seconds of locating one value of each subject, and of ANDing one word of a bitmap.

    Other threads may write at the same time: a time is lost then, which is of no importance.
    """

    def __init__(self, index: AscIndex) -> None:
        self._locating = [TEXT if isinstance(each.constants, tuple) else NUMBER for each in index.cuttings]
        self._word = WORD
        self._words = index.table.shape[0] * index.table.shape[2]

    def located(self, subject: int, rows: int, seconds: float) -> None:
        """Take note of the time in which the values of so many rows were located."""
        self._locating[subject] = _averaged(self._locating[subject], seconds / rows)

    def visited(self, rows: int, dropped: npt.NDArray[np.int64], seconds: float) -> None:
        """Take note of the time of ANDing, for rows of which so many were dropped at each position."""
        visits = rows * len(dropped) - int(np.cumsum(dropped)[:-1].sum())
        self._word = _averaged(self._word, seconds / max(1, visits * self._words))

    @property
    def costs(self) -> VisitCosts:
        """Seconds of a visit to each subject. Micro-arrows are not proposed: all subjects would have to be located."""
        visiting = self._words * self._word
        return VisitCosts(tuple([locating + visiting for locating in self._locating]))


def _averaged(known: float, new: float) -> float:
    """A new time beside those before; one batch may have been disturbed, or have had kernels to load."""
    return known + NEWEST * (min(new, MOST * known) - known)

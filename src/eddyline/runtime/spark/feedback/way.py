"""Which way large batches of a segment go, by what comparisons of all ways say now and then."""

from __future__ import annotations

from typing import Final

from eddyline.execute.steering.choice import CHANGED, FIRST_TRY
from eddyline.execute.steering.protocol import Way
from eddyline.runtime.spark.feedback.tally import SegmentTally

BETTER: Final = (
    0.9  # part of the time in use below which another way is taken: one comparison is not very sure
)
LAST_TRY: Final = 512  # batches between two comparisons, at most


class SegmentWay:
    """The way of one segment; a batch in which tasks compare counts as a try."""

    def __init__(self, in_use: Way) -> None:
        self.in_use = in_use
        self._wait = 0  # batches until the next try
        self._interval = FIRST_TRY
        self._usual: float | None = None  # seconds of a tuple in the first batch after the last try

    @property
    def wants(self) -> bool:
        """Whether it is time to compare."""
        return self._wait <= 0

    def note(self, tally: SegmentTally) -> None:
        """Take note of a batch."""
        if tally.compared:
            self._compare(tally)
        elif tally.tuples:
            self._wait -= 1
            each = tally.seconds / tally.tuples
            if self._usual is None:
                self._usual = each
            elif each > CHANGED * self._usual:
                self.ask_again()

    def ask_again(self) -> None:
        """What was compared may hold no longer."""
        self._wait, self._interval, self._usual = 0, FIRST_TRY, None

    def _compare(self, tally: SegmentTally) -> None:
        best = min(tally.ways, key=tally.ways.__getitem__)
        if tally.ways[best] < BETTER * tally.ways.get(self.in_use, float("inf")):
            self.in_use, self._interval = best, FIRST_TRY
        else:
            self._interval = min(2 * self._interval, LAST_TRY)
        self._wait, self._usual = self._interval, None

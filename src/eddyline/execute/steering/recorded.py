"""Steering as somebody else has decided: in a given order and a given way, of which a listener is told.

Nothing is decided here, so that the same batch takes the same way again wherever and whenever it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from eddyline.execute.rowwise.lineages import Lineages
from eddyline.execute.steering.protocol import Job, Steering, Way
from eddyline.functions.evaluate import Evaluation
from eddyline.model.matches import SegmentPart
from eddyline.model.visit_order import Counters, VisitOrder

Passed = Callable[[Evaluation, int, float], None]
"""Is told of every batch: its rows, and the seconds of the processor that it took."""

WARM_ROWS: Final = 512  # go each way before the ways are compared: kernels may have to be loaded


class RecordedSteering:
    """For one thread at a time. Batches of up to `small` rows go row by row, whatever the way of the others is."""

    expects_drops = False

    def __init__(
        self, sequence: VisitOrder, way: Way, *, small: int = 0, passed: Passed | None = None
    ) -> None:
        self.sequence = sequence
        self._way: Way = way
        self._small, self._passed = small, passed
        self._tuples = self._visited = self._dropped = 0

    @property
    def counters(self) -> Counters:
        """What the tuples that went row by row have visited so far."""
        return Counters(self._tuples, self._visited, self._dropped, ())

    def pick(self, job: Job, rows: int) -> tuple[Way, bool]:
        return "row by row" if rows <= self._small else self._way, self._passed is not None

    def surprised(self, evaluation: Evaluation, rows: int, *, gives_up: bool) -> VisitOrder | None:
        return self.sequence

    def visited(self, evaluation: Evaluation, rows: int, found: Lineages, seconds: float) -> None:
        self._tuples += found.counters.tuples
        self._visited += found.counters.visited
        self._dropped += found.counters.dropped

    def filtered(self, few: bool) -> None:
        """Nothing is expected of the next batch."""

    def took(self, job: Job, way: Way, evaluation: Evaluation, rows: int, seconds: float) -> None:
        assert self._passed is not None, "time is wanted only for somebody who listens"
        self._passed(evaluation, rows, seconds)


class Steered(Protocol):
    """An executor that has several ways."""

    @property
    def ways(self) -> tuple[Way, ...]: ...

    def match(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[SegmentPart]: ...


def compare_ways(
    executor: Steered, sequence: VisitOrder, columns: Sequence[str], evaluation: Evaluation, rows: int
) -> dict[Way, float]:
    """Seconds that the first rows of a batch take in each way; their matches are let go, and no visit counts."""

    def seconds(way: Way, rows: int) -> float:
        some = evaluation.some(pa.array(np.arange(rows)), columns)  # nothing is computed yet
        started = thread_time()
        executor.match(some, rows, RecordedSteering(sequence, way), 1)
        return thread_time() - started

    for way in executor.ways:
        seconds(way, min(rows, WARM_ROWS))
    return {way: seconds(way, rows) for way in executor.ways}

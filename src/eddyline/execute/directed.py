"""A segment evaluated as somebody else has decided: in a given order, row by row or not, and told what came of it.

Nothing is decided here, so that the same batch takes the same way again wherever and whenever it is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from eddyline.config import FIXED_ORDER
from eddyline.execute.choice import Choice, Way
from eddyline.execute.ordered import Ordered
from eddyline.execute.segment import WAYS, SegmentExecutor
from eddyline.functions.evaluate import Evaluation
from eddyline.model.matches import SegmentPart
from eddyline.model.sequence import Counters, Sequence

WARM_ROWS: Final = 512  # go each way before the ways are compared: kernels may have to be loaded


@dataclass(frozen=True, slots=True)
class Direction:
    """How batches are evaluated: in which order row by row, and which way those go that are not small."""

    sequence: Sequence
    way: Way = "sliced"


class Listener(Protocol):
    """Who is told of every batch."""

    def passed(self, executor: DirectedExecutor, evaluation: Evaluation, rows: int, seconds: float) -> None:
        """A batch of so many rows was evaluated in so many seconds of the processor."""
        ...


class _Given(Choice):
    """Chooses nothing: the way is given, and no time is noted."""

    def __init__(self, way: Way) -> None:
        super().__init__((way,))
        self._way = way

    def pick(self, task: str, rows: int) -> tuple[Way, bool]:
        """The way that was given."""
        return self._way, False


class DirectedExecutor(SegmentExecutor):
    """Shares all that is compiled with the executor that it is made of; for one thread at a time."""

    def __init__(self, base: SegmentExecutor, direction: Direction, listener: Listener) -> None:
        super().__init__(base.segment, FIXED_ORDER)
        self.name, self.rescues = base.name, base.rescues
        self._direction = direction
        self._listener = listener
        _share(base, self, direction)

    def match(self, evaluation: Evaluation, rows: int, *, threads: int = 1) -> list[SegmentPart]:
        """The matches of a batch, of which the listener is told."""
        started = thread_time()
        parts = super().match(evaluation, rows, threads=threads)
        self._listener.passed(self, evaluation, rows, thread_time() - started)
        return parts

    def compared(self, evaluation: Evaluation, rows: int) -> dict[Way, float]:
        """Seconds that a batch takes in each way; its matches are let go."""
        twin = SegmentExecutor(self.segment, FIXED_ORDER)  # whose visits do not count
        _share(self, twin, self._direction)
        ways = WAYS if self._drops else WAYS[:2]
        for way in ways:
            _seconds(twin, evaluation, min(rows, WARM_ROWS), way)
        return {way: _seconds(twin, evaluation, rows, way) for way in ways}

    def counters(self) -> Counters:
        """What the tuples that were evaluated row by row have visited so far."""
        if self.segment.rowwise is None:
            return Counters(0, 0, 0, ())
        report = self.ordered.report()
        return Counters(report.tuples, report.visited, report.dropped, ())


def _share(base: SegmentExecutor, other: SegmentExecutor, direction: Direction) -> None:
    """Let another executor of a segment have what was made for the first, and go the way that it is told."""
    other.__dict__["sliced"] = base.sliced
    other.__dict__["keyed"] = base.keyed
    if base.segment.rowwise is not None:
        other.__dict__["rowwise"] = base.rowwise
        other.__dict__["choice"] = _Given(direction.way)
        other.__dict__["ordered"] = Ordered(base.rowwise[0], FIXED_ORDER, direction.sequence)


def _seconds(executor: SegmentExecutor, evaluation: Evaluation, rows: int, way: Way) -> float:
    some = evaluation.some(pa.array(np.arange(rows)), executor.segment.columns)  # nothing is computed yet
    started = thread_time()
    executor._match_by(way, some, rows)
    return thread_time() - started

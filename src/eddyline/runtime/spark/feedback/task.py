"""In a worker: the segments of a task evaluated as the batch's record says, and what there is to tell of them.

    record of the batch --> DirectedExecutor a segment --> matches
                                   |
                                   +--> times and visits of all tuples, regions of some --> the task's summary

Which tuples are looked at depends on the batch and the partition alone, so that a replay tells the same of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time
from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.choice import Way
from eddyline.execute.directed import DirectedExecutor, Direction
from eddyline.execute.monitor import Monitor
from eddyline.execute.segment import SegmentExecutor
from eddyline.functions.evaluate import Evaluation
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.feedback.tally import Regions, SegmentTally
from eddyline.runtime.spark.versions.orders import Orders

LEAST_ROWS: Final = 1_024  # of an Arrow batch that is looked at: a look takes half a millisecond
LOOK: Final = 128  # tuples of a look
MOST: Final = 256  # tuples that a task tells of
MOST_BYTES: Final = 32_768  # of all regions that a task tells, unpacked
SHARE: Final = 0.03  # of a task's time for matching may be spent on looks after the first
MOST_COSTS: Final = 1_000  # subjects, of which what a visit takes is told
COMPARED_ROWS: Final = 32_768  # at most, in a comparison of the ways
COMPARING_TASKS: Final = 2  # of a batch


@dataclass(frozen=True, slots=True)
class Directions:
    """How the segments of a batch are evaluated; others go their own way.

    Whether tuples are to be looked at, and the segments of which all ways are to be timed.
    """

    orders: Orders = ()
    look: bool = True
    compare: frozenset[str] = frozenset()


UNDIRECTED: Final = Directions()


class TaskFeedback:
    """One task's segments: `queries` is the set, evaluated as told."""

    def __init__(
        self,
        queries: QuerySet,
        stream: str,
        directions: Directions,
        *,
        batch_id: int,
        partition: int,
    ) -> None:
        seed = batch_id << 20 | partition
        self._compare = set(directions.compare) if partition < COMPARING_TASKS else set()
        known = {order.segment: order for order in directions.orders}
        executors = list(queries.segments)
        self._watched: dict[str, _Watched] = {}
        told = sum([name_of(e) in known for e in executors])
        for place, base in enumerate(executors):
            order, index = known.get(name_of(base)), base.segment.rowwise
            if order is None or index is None or base.segment.stream != stream:
                continue
            if order.fits(index.ascs.ascs):
                room = MOST_BYTES // told if directions.look else 0
                watched = _Watched(self, base, room, seed)
                executors[place] = DirectedExecutor(base, Direction(order.sequence, order.way), watched)
                self._watched[order.segment] = watched
        self.queries = queries.served_by(executors) if self._watched else queries

    def tallies(self) -> dict[str, SegmentTally]:
        """What the task tells of each segment."""
        return {name: watched.tally() for name, watched in self._watched.items()}

    def takes_part(self, segment: str) -> bool:
        """Whether the ways of a segment are to be compared now: once in a task."""
        if segment not in self._compare:
            return False
        self._compare.remove(segment)
        return True


class _Watched:
    """One segment of a task."""

    def __init__(self, task: TaskFeedback, base: SegmentExecutor, most_bytes: int, seed: int) -> None:
        self._task = task
        rowwise = base.rowwise[0]
        self._room = min(MOST, most_bytes // (4 * max(1, len(rowwise.index.ascs))))
        self._monitor = Monitor(rowwise, OrderSettings(strategy="fixed", seed=seed))
        self._executor: DirectedExecutor | None = None
        self._problem = ""
        self._regions: list[Regions] = []
        self._taken = self._tuples = self._compared = 0
        self._seconds = self._watching = 0.0
        self._ways: dict[Way, float] = {}

    def passed(self, executor: DirectedExecutor, evaluation: Evaluation, rows: int, seconds: float) -> None:
        """Take note of a batch, and look at it if there is time."""
        self._executor = executor
        self._tuples += rows
        self._seconds += seconds
        if rows < LEAST_ROWS or self._problem:
            return
        started = thread_time()
        try:
            self._look(executor, evaluation, rows)
        except Exception as error:  # nobody is to miss matches for what is told beside them
            self._problem = f"what batches tell cannot be found out: {type(error).__name__}: {error}"
        self._watching += thread_time() - started

    def tally(self) -> SegmentTally:
        """All of it."""
        if self._executor is None:
            return SegmentTally()
        counters = self._executor.counters()
        none = np.empty((0, 0), np.int32)
        return SegmentTally(
            tuples=self._tuples,
            by_row=counters.tuples,
            visited=counters.visited,
            dropped=counters.dropped,
            compared=self._compared,
            seconds=self._seconds,
            watching=self._watching,
            ways=self._ways,
            costs=self._costs(),
            problem=self._problem,
            regions=np.concatenate(self._regions, axis=1) if self._regions else none,
        )

    def _costs(self) -> tuple[float, ...]:
        assert self._executor is not None, "only what was evaluated has costs"
        found = self._executor.rowwise[0].times.costs.visit
        return found if len(found) <= MOST_COSTS else ()

    def _look(self, executor: DirectedExecutor, evaluation: Evaluation, rows: int) -> None:
        if self._task.takes_part(name_of(executor)):
            self._compare(executor, evaluation, min(rows, COMPARED_ROWS))
        count = min(LOOK, self._room - self._taken)
        if count > 0 and (not self._taken or self._watching <= SHARE * self._seconds):
            self._regions.append(self._monitor.sample(evaluation, rows, count).regions)
            self._taken += count

    def _compare(self, executor: DirectedExecutor, evaluation: Evaluation, rows: int) -> None:
        self._ways = executor.compared(evaluation, rows)
        self._compared = rows


def name_of(executor: SegmentExecutor) -> str:
    """What a segment is called where it is saved."""
    return executor.name or ""

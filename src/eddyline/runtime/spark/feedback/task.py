"""In a worker: the segments of a task evaluated as the batch's record says, and what there is to tell of them.

    record of the batch --> RecordedSteering of a segment --> matches
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
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.monitor import Monitor
from eddyline.execute.steering.protocol import Way
from eddyline.execute.steering.recorded import compare_ways
from eddyline.functions.evaluate import Evaluation
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.feedback.tally import Regions, SegmentTally
from eddyline.runtime.spark.versions.orders import Orders, SegmentOrder

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
        executors = list(queries.executors())
        self._watched: dict[str, _SegmentWatch] = {}
        told = sum([name_of(e) in known for e in executors])
        for place, base in enumerate(executors):
            order, index = known.get(name_of(base)), base.ascs
            if order is None or index is None or base.segment.stream != stream or not order.fits(index.ascs):
                continue
            room = MOST_BYTES // told if directions.look else 0
            watched = _SegmentWatch(self, base, order, room, seed)
            executors[place] = base.steered(watched.steering)
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


class _SegmentWatch:
    """One segment of a task."""

    def __init__(
        self, task: TaskFeedback, base: SegmentExecutor, order: SegmentOrder, most_bytes: int, seed: int
    ) -> None:
        unkeyed, steering = base.unkeyed, base.recorded(order.sequence, order.way, self._passed)
        assert unkeyed is not None and steering is not None, "an order fits only what can be steered"
        self.steering = steering
        self._task, self._name, self._columns = task, order.segment, base.segment.columns
        self._unkeyed = unkeyed
        self._room = min(MOST, most_bytes // (4 * max(1, len(unkeyed.rowwise.index.ascs))))
        self._monitor = Monitor(unkeyed.rowwise, OrderSettings(strategy="fixed", seed=seed))
        self._problem = ""
        self._regions: list[Regions] = []
        self._taken = self._tuples = self._compared = 0
        self._seconds = self._watching = 0.0
        self._ways: dict[Way, float] = {}

    def _passed(self, evaluation: Evaluation, rows: int, seconds: float) -> None:
        """Take note of a batch, and look at it if there is time."""
        self._tuples += rows
        self._seconds += seconds
        if rows < LEAST_ROWS or self._problem:
            return
        started = thread_time()
        try:
            self._look(evaluation, rows)
        except Exception as error:  # nobody is to miss matches for what is told beside them
            self._problem = f"what batches tell cannot be found out: {type(error).__name__}: {error}"
        self._watching += thread_time() - started

    def tally(self) -> SegmentTally:
        """All of it."""
        if not self._tuples:
            return SegmentTally()
        counters = self.steering.counters
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
        found = self._unkeyed.rowwise.times.costs.visit
        return found if len(found) <= MOST_COSTS else ()

    def _look(self, evaluation: Evaluation, rows: int) -> None:
        if self._task.takes_part(self._name):
            self._compared = min(rows, COMPARED_ROWS)
            sequence = self.steering.sequence
            self._ways = compare_ways(self._unkeyed, sequence, self._columns, evaluation, self._compared)
        count = min(LOOK, self._room - self._taken)
        if count > 0 and (not self._taken or self._watching <= SHARE * self._seconds):
            self._regions.append(self._monitor.sample(evaluation, rows, count).regions)
            self._taken += count


def name_of(executor: SegmentExecutor) -> str:
    """What a segment is called where it is saved."""
    return executor.name or ""

"""On the driver: the orders of one source's batches, each found from what the batches before it told.

    pin of batch n    orders() --> written down with the batch's version --> workers
    after batch n     tallies of the workers --> learn(), beside everything else --> orders() of a later batch

`learn` is called by one thread at a time, and what it finds takes the place of what was known as a whole. So a pin never
waits for it: what is not ready yet is for the batch after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import thread_time
from typing import Final

from eddyline.config import OrderSettings
from eddyline.execute.segment import SegmentExecutor
from eddyline.model.asc import ASC
from eddyline.order.carry_over import carry_over
from eddyline.order.sample_table import compile_kernels
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.feedback.segment import SegmentState
from eddyline.runtime.spark.feedback.tally import SegmentTally
from eddyline.runtime.spark.feedback.task import Directions, name_of
from eddyline.runtime.spark.versions.orders import Orders, SegmentOrder

COMPARING: Final = 0.01  # of the workers' time may go into comparisons of ways
WARM: Final = 5.0  # seconds of work before anything is looked at: kernels for it take a quarter to load


@dataclass(frozen=True, slots=True)
class BatchTold:
    """What a batch told: its orders, the tallies by segment, seconds of the workers' work and of the whole batch."""

    orders: Orders
    tallies: Mapping[str, SegmentTally]
    working: float
    seconds: float


@dataclass(frozen=True, slots=True)
class _LearnedOrder:
    """What is known of a segment: the next batch's order, and how many tuples have told of it."""

    ascs: tuple[ASC, ...]
    order: SegmentOrder
    tuples: int


class SourceFeedback:
    """Orders of one source; `recorded` are those of its last batch, which hold on after a start."""

    def __init__(self, settings: OrderSettings, recorded: Orders = ()) -> None:
        self._settings = settings
        self._recorded = {order.segment: order for order in recorded}
        self._learned: Mapping[str, _LearnedOrder] = {}
        self._states: dict[str, SegmentState] = {}
        self._working = self._watching = self._comparing = 0.0
        self._seconds = self._inside = self._told = 0.0
        self._compare: frozenset[str] = frozenset()  # segments of which the next batch is to compare the ways

    def directions(self, orders: Orders) -> Directions:
        """How a batch of these orders is evaluated now; only the orders have to be the same in a replay."""
        affords = self._watching <= self._settings.monitor_share * self._working
        return Directions(orders, look=affords and self._working >= WARM, compare=self._compare)

    def taken(self) -> float:
        """Seconds that were spent here since this was last asked."""
        inside = self._inside
        self._told, spent = inside, inside - self._told
        return spent

    def orders(self, queries: QuerySet, stream: str) -> Orders:
        """The orders of a version's segments: as found; as carried over from another one, for those that are new."""
        if self._settings.strategy == "fixed":
            return ()
        learned = self._learned
        return tuple([self._order(executor, learned) for executor in executors_of(queries, stream)])

    def learn(self, queries: QuerySet, stream: str, told: BatchTold) -> None:
        """Look at what a batch told, as far as there is time, and find other orders."""
        if told.orders:
            compile_kernels()  # which is not what orders cost
        started = thread_time()
        spent = self._inside
        self._seconds += told.seconds
        self._working += told.working
        executors = {name_of(executor): executor for executor in executors_of(queries, stream)}
        states = {}
        for order in told.orders:
            if order.segment in executors:
                known = self._states.get(order.segment)
                state = known or SegmentState(executors[order.segment], order, self._settings)
                tally = told.tallies.get(order.segment)
                if tally is not None:  # tasks may be killed, and then nothing is told
                    state.learn(
                        order, tally, lambda more: self._affords(spent + thread_time() - started + more)
                    )
                    self._watching += tally.watching
                    self._comparing += tally.watching if tally.compared else 0.0
                states[order.segment] = state
        self._states = states
        self._learned = {name: _LearnedOrder(s.ascs, s.order(name), s.tuples) for name, s in states.items()}
        self._compare = self._to_compare()
        self._inside = spent + thread_time() - started

    def _order(self, executor: SegmentExecutor, learned: Mapping[str, _LearnedOrder]) -> SegmentOrder:
        name = name_of(executor)
        if name in learned:
            return learned[name].order
        index, steering = executor.ascs, executor.recorded()
        assert index is not None and steering is not None, "only segments with ASCs have an order"
        ascs = index.ascs
        recorded = self._recorded.get(name)
        if recorded is not None and recorded.fits(ascs):
            return recorded
        before = max(learned.values(), key=lambda one: one.tuples, default=None)
        if before is None or not before.ascs:
            return SegmentOrder.made(name, ascs, steering.sequence)
        sequence = carry_over(before.order.sequence, before.ascs, ascs)
        return SegmentOrder.made(name, ascs, sequence, before.order.way)

    def _affords(self, seconds: float) -> bool:
        return seconds <= self._settings.monitor_share * self._seconds

    def _to_compare(self) -> frozenset[str]:
        if self._working < WARM or self._comparing > COMPARING * self._working:
            return frozenset()
        return frozenset(name for name, state in self._states.items() if state.way.wants)


def executors_of(queries: QuerySet, stream: str) -> Iterable[SegmentExecutor]:
    """The segments of a stream that have an order."""
    for executor in queries.executors():
        if executor.segment.stream == stream and executor.ascs is not None:
            yield executor

"""One segment's order and way, reconsidered with what each batch tells of its tuples."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.rowwise.visit_times import VisitTimes
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.choice import CHANGED, FIRST_TRY
from eddyline.execute.steering.protocol import Way
from eddyline.execute.steering.rearranging import Affords, Rearranging
from eddyline.index.rowwise.asc import with_candidates
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.adaptive import VisitCosts
from eddyline.runtime.spark.feedback.tally import SegmentTally
from eddyline.runtime.spark.versions.orders import SegmentOrder

MOST: Final = 512  # tuples of a batch that are looked at, however many tasks it has
# tuples: with 500 in a sample, a check of 10,000 is off by a tenth in one case of thirty
STANDS_FOR: Final = 20
# part of the time in use below which another way is taken: one comparison is not very sure
BETTER: Final = 0.9
LAST_TRY: Final = 512  # batches between two comparisons, at most


class SegmentState:
    """What is measured of a segment, from the order on that it had when it was first seen."""

    def __init__(self, executor: SegmentExecutor, order: SegmentOrder, settings: OrderSettings) -> None:
        index = executor.ascs
        assert index is not None, "only segments with ASCs have an order"
        self.ascs = (with_candidates(index) if settings.strategy == "hybrid" else index).ascs
        self.way = SegmentWay(order.way)
        self.tuples = 0
        self._order = order
        self._costs = VisitTimes(index).costs  # until something is told
        self._rearranging = Rearranging(self.ascs, order.sequence, settings, costs=lambda: self._costs)

    def learn(self, order: SegmentOrder, tally: SegmentTally, affords: Affords) -> None:
        """Take note of a batch that went through an order; find another one if the tuples ask for it."""
        self.tuples += tally.tuples
        if len(tally.costs) == len(self.ascs):
            self._costs = VisitCosts(tally.costs)
        before = self._rearranging.sequence
        sample = _sample(self.ascs, tally)
        self._think(sample, affords)
        self._watch(order, tally, sample, affords)
        self.way.note(tally)
        if self._rearranging.sequence != before:
            self.way.ask_again()

    def _watch(
        self, order: SegmentOrder, tally: SegmentTally, sample: Sample | None, affords: Affords
    ) -> None:
        """See whether the order still fits; one that was found a moment ago is seen with the tuples it was found from."""
        rearranging = self._rearranging
        sequence, was_measuring = rearranging.sequence, rearranging.measuring
        counters = _counted(tally) if order.sequence == sequence else None
        if counters is None and sample is not None:
            counters = _expected(sample, sequence)
        if counters is None:
            return
        rearranging.passed(counters, 0)
        rearranging.startled = False  # the whole answer is as quick as a first one would be
        if rearranging.measuring and not was_measuring:
            self._think(sample, affords)

    def _think(self, sample: Sample | None, affords: Affords) -> None:
        if sample is not None and self._rearranging.wants:
            self._rearranging.add(sample)
        self._rearranging.think(affords)

    def order(self, name: str) -> SegmentOrder:
        """The order that is the best known."""
        sequence, way = self._rearranging.sequence, self.way.in_use
        if (self._order.sequence, self._order.way) != (sequence, way):
            self._order = SegmentOrder.made(name, self.ascs, sequence, way)
        return self._order


class SegmentWay:
    """Which way large batches of one segment go, by comparisons of all ways now and then; such a batch counts as a try."""

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


def _sample(ascs: tuple[ASC, ...], tally: SegmentTally) -> Sample | None:
    """Some of the tuples that tasks told of, evenly from all of them."""
    if len(tally.regions) != len(ascs) or not tally.regions.size:
        return None
    count = tally.regions.shape[1]
    places = np.linspace(0, count - 1, min(count, MOST)).astype(np.int64)
    return Sample(ascs, np.ascontiguousarray(tally.regions[:, places]))


def _counted(tally: SegmentTally) -> Counters | None:
    """What the order did to the batch, if all of it went row by row."""
    if not tally.by_row or tally.by_row != tally.tuples:
        return None
    return Counters(tally.tuples, tally.visited, tally.dropped, ())


def _expected(sample: Sample, sequence: VisitOrder) -> Counters:
    """What an order does to a sample; each of its tuples stands for some others, so that chance does not look like drift."""
    found = count_visits(sample, sequence)
    return Counters(STANDS_FOR * found.tuples, STANDS_FOR * found.visited, STANDS_FOR * found.dropped, ())

"""`adaptive`: the order of least expected time, which counts what a visit to each subject takes.

Visits to a text cost more than those to a number, and one visit by a micro-arrow more than one in step. So orders are
compared by measured time a visit, and the one in force is left only for one that is clearly better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from eddyline.model.asc import ASC
from eddyline.model.sample import Sample, words_of
from eddyline.model.visit_order import VisitOrder
from eddyline.order.exact import best_order
from eddyline.order.improve_arrows import improve_arrows
from eddyline.order.improve_order import improve_order
from eddyline.order.sample_table import Costs, Ending, SampleTable

EXACT_SUBJECTS: Final = 8
EXACT_WORDS: Final = 1 << 16  # GRB words of all sets of subjects: about a millisecond
KICKS: Final = 2  # with less, orders of 15 dependent subjects were 4% worse on average
WORTH: Final = 0.98  # part of the old time below which a new order is worth a change


@dataclass(frozen=True, slots=True)
class VisitCosts:
    """What a visit to each subject takes, in any unit, and `word` for each word of the GRB, whatever the subject.

    `arrow` is how many times as much it is if micro-arrows are followed; without it none are proposed.
    """

    visit: tuple[float, ...]
    arrow: float | None = None
    word: float = 0.0

    def of_visits(self, queries: int) -> Costs:
        """A visit to each subject, with so many queries."""
        return np.array(self.visit, np.float64) + self.word * words_of(queries)


def expected_time(
    sample: Sample, sequence: VisitOrder, costs: VisitCosts, ending: Ending = "dropped"
) -> float:
    """What a tuple takes on average."""
    return _time(SampleTable(sample), sequence, costs, ending)


class Adaptive:
    """Looks at whole periods, each by itself: ready after the first.

    ending: where the executor lets go of a tuple.
    """

    name: Final[Literal["adaptive"]] = "adaptive"

    def __init__(
        self,
        ascs: Sequence[ASC],
        start: VisitOrder,
        costs: VisitCosts | None = None,
        ending: Ending = "dropped",
    ) -> None:
        self.ascs = tuple(ascs)
        self.costs = costs or VisitCosts((1.0,) * len(self.ascs))
        assert len(self.costs.visit) == len(self.ascs), "every subject has a cost"
        self.ending: Ending = ending
        self.ready = len(self.ascs) < 2
        self._sequence = start

    def observe(self, sample: Sample) -> None:
        if not sample.tuples or len(self.ascs) < 2:
            return
        self.ready = True
        met = SampleTable(sample)
        if self._cannot_be_better(met):
            return
        times = {each: _time(met, each, self.costs, self.ending) for each in self._rivals(met)}
        best = min(times, key=times.__getitem__)
        if times[best] < WORTH * times[self._sequence]:
            self._sequence = best

    def propose(self) -> VisitOrder:
        return self._sequence

    def _cannot_be_better(self, met: SampleTable) -> bool:
        """Whether the order in force is as good as if each tuple that ends early did so after the cheapest visit."""
        costs = self.costs.of_visits(met.sample.queries)
        ways = met.ways(self._sequence, costs, ending=self.ending)
        least = np.where(ways.ended == 0, costs.sum(), costs.min()).sum()
        return not self._sequence.arrows and bool(WORTH * ways.spent.sum() <= least)

    def _rivals(self, met: SampleTable) -> list[VisitOrder]:
        """Sequences that are worth comparing: the one in force, the best order found, and both with other arrows."""
        costs = self.costs.of_visits(met.sample.queries)
        found = self._best(met, costs)
        if self.costs.arrow is None:
            return [self._sequence, found]
        plain = dict.fromkeys((VisitOrder(self._sequence.subjects), found))
        return [self._sequence, found, *(improve_arrows(met, each, costs=costs) for each in plain)]

    def _best(self, met: SampleTable, costs: Costs) -> VisitOrder:
        """Of few subjects the best order there is; where orders are alike, the one that decides all queries soonest."""
        sample = met.sample
        work = sample.tuples * sample.words << len(self.ascs)
        if len(self.ascs) <= EXACT_SUBJECTS and work <= EXACT_WORDS:
            return best_order(met, costs, ending=self.ending, ties="completed")
        starts = (met.greedy(costs), self._sequence.subjects)
        return VisitOrder(improve_order(met, starts, costs=costs, ending=self.ending, kicks=KICKS))


def _time(met: SampleTable, sequence: VisitOrder, costs: VisitCosts, ending: Ending) -> float:
    spent = met.ways(sequence, costs.of_visits(met.sample.queries), ending=ending).spent
    factor = costs.arrow or 1.0 if sequence.arrows else 1.0
    return factor * float(spent.sum()) / max(1, len(spent))

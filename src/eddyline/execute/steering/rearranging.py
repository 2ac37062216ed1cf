"""Orders reconsidered: a strategy is fed period by period, and starts anew when what is watched has changed.

    measuring   -- period, period, ... strategy ready -->   in force   -- every lambda: changed by mu? -->   measuring

`adaptive` begins with a short period and doubles it, so that it answers soon and settles later; it looks again after a
long while even if nothing has changed: another order may have become the better one. When visits change, `promote` is the
quick answer, long before a whole order is found, and a whole one if the data is again as it once was.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.errors import EddylineError
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample, words_of
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.drift import Watch
from eddyline.order.strategies.adaptive import VisitCosts
from eddyline.order.strategies.factory import make_strategy
from eddyline.order.strategies.strategy import Strategy

FIRST_PERIOD: Final = 128  # tuples of the first look of `adaptive`: 10 ms with 20 subjects and 1,000 queries
LAST_PERIOD: Final = 256
# checks after which `adaptive` looks again, changed or not; doubled when that finds nothing
LOOK_AGAIN: Final = 100
SELDOM: Final = 1 << 16
GUESSED: Final = 5e-9  # seconds of a first step for each tuple, word of its GRB and pair of subjects
Affords = Callable[[float], bool]
Clock = Callable[[], float]


class Rearranging:
    """The sequence in force for a set of ASCs, and what is measured to find the next one.

    `problem` says why the strategy gave up, if it did: the sequence in force then stays. `costs` tells what visits take,
    for `adaptive`; without it they are all alike.
    """

    def __init__(
        self,
        ascs: tuple[ASC, ...],
        start: VisitOrder,
        settings: OrderSettings,
        *,
        costs: Callable[[], VisitCosts] | None = None,
        clock: Clock = thread_time,
    ) -> None:
        self.ascs, self.settings = ascs, settings
        self._costs, self._clock = costs, clock
        self.sequence = start
        self.rearranged = 0
        self.problem: str | None = None
        self.is_routine = False  # whether nothing has changed since the last time
        self.startled = False  # a change was noticed, and nothing has been done about it yet
        self._adaptive = settings.strategy == "adaptive"
        self._watch = Watch(settings)
        self._strategy: Strategy | None = None
        self._held: list[Sample] = []
        self._tuples = self._unseen = 0  # kept for the next step; passed since the last
        self._period = settings.period
        self._gap = LOOK_AGAIN
        words = words_of(ascs[0].queries) if ascs else 0
        self._seconds = GUESSED * words * len(ascs) ** 2  # of a sampled tuple in the last step
        self._remembered: dict[int, VisitOrder] = {}  # what was found, by the subject that comes first
        self._start()

    @property
    def measuring(self) -> bool:
        """Whether a strategy is at work."""
        return self._strategy is not None

    @property
    def wants(self) -> bool:
        """Whether samples are wanted: not while there is no time for those that are kept, or there never would be."""
        return self.measuring and self._tuples < self._period

    @property
    def has_period(self) -> bool:
        """Whether the next step has all the tuples that it looks at."""
        return self.measuring and self._tuples >= self._period

    @property
    def most(self) -> int | None:
        """How many tuples are of use; None for any number: strategies of the papers take a period for every step."""
        return self._period - self._tuples if self._adaptive else None

    @property
    def step_seconds(self) -> float:
        """What the next step will take."""
        return self._seconds * self._period

    def add(self, sample: Sample) -> None:
        """Keep the tuples of a sample for the next steps."""
        self._held.append(sample)
        self._tuples += sample.tuples

    def passed(self, counters: Counters, ones: int) -> None:
        """Batches went through the sequence in force; asked once in lambda tuples whether it still fits."""
        if self.settings.strategy == "fixed" or self.problem or len(self.ascs) < 2:
            return
        if self.measuring and not self._adaptive:
            return
        if self._watch.add_counters(counters, ones, self.ascs[0].queries):
            self.startled = True
            self._watch = Watch(self.settings)
            if not self.measuring:
                self._start()
        else:
            self.unseen(counters.tuples)

    def unseen(self, tuples: int) -> None:
        """So many tuples passed that tell nothing."""
        self._unseen += tuples
        long_ago = self._unseen >= self._gap * self.settings.check_every
        if self._adaptive and long_ago and not (self.measuring or self.problem or len(self.ascs) < 2):
            self._gap = min(2 * self._gap, SELDOM)
            self._start()
            self.is_routine = True

    def think(self, affords: Affords) -> None:
        """Show periods to the strategy, as long as there are any and time for it."""
        spent = 0.0
        while self._strategy is not None and self.has_period:
            if not affords(spent + self.step_seconds):
                return
            spent += self._step(self._strategy)

    def _step(self, strategy: Strategy) -> float:
        """One period; gives the seconds that it took."""
        started = self._clock()
        sample = self._taken()
        try:
            strategy.observe(sample)
        except EddylineError as error:  # matching goes on whatever order is in force
            self.give_up(error.message)
        else:
            if strategy.ready:
                self._publish(strategy)
        seconds = self._clock() - started
        self._seconds = seconds / sample.tuples
        return seconds

    def give_up(self, problem: str) -> None:
        """Leave the order as it is, for a reason that is reported."""
        self.problem, self._strategy = problem, None

    def promote(self, subject: int) -> None:
        """Put a subject first: in the order that was found when it last was, or in front of the others, and measure on."""
        others = [number for number in self.sequence.subjects if number != subject]
        known = self._remembered.get(subject)
        self.sequence = known or VisitOrder((subject, *others))
        self.rearranged += 1
        self._watch = Watch(self.settings)
        if known is None or self.measuring:
            self._start()

    def _start(self) -> None:
        """Measure anew, from the sequence in force on."""
        settings = self.settings
        self._strategy = None
        self.is_routine = False
        self._period = min(FIRST_PERIOD, settings.period) if self._adaptive else settings.period
        self._tuples = self._unseen = 0
        self._held.clear()
        costs = self._costs() if self._costs is not None else None
        strategy = make_strategy(
            settings.strategy, self.ascs, settings=settings, start=self.sequence, costs=costs
        )
        if strategy.ready:
            self._period = settings.period
            self._publish(strategy)
        else:
            self._strategy = strategy

    def _taken(self) -> Sample:
        """The oldest tuples that were kept, one period of them."""
        held = Sample(self.ascs, np.concatenate([sample.regions for sample in self._held], axis=1))
        self._held.clear()
        self._tuples = held.tuples - self._period
        if self._tuples:
            self._held.append(held.part(self._period, held.tuples))
        return Sample(self.ascs, np.ascontiguousarray(held.regions[:, : self._period]))

    def _publish(self, strategy: Strategy) -> None:
        found = strategy.propose()
        if found.subjects:
            self._remembered[found.subjects[0]] = found
        if found != self.sequence:
            self.sequence = found
            self.rearranged += 1
            self._gap = LOOK_AGAIN
        self._watch = Watch(self.settings)
        last = min(LAST_PERIOD, self.settings.period)
        if self._adaptive and self._period < last:
            self._period = min(2 * self._period, last)
        elif self.settings.strategy != "ticket":  # the lottery goes on
            self._strategy = None

"""Steering that follows the data: the order of the subjects, and which way is the quickest; safe for threads."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import thread_time
from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.rowwise.lineages import Lineages
from eddyline.execute.rowwise.rowwise import ATTEMPTED_ROWS, Rowwise
from eddyline.execute.steering.choice import Choice, Chosen
from eddyline.execute.steering.monitor import Monitor, MonitorReport
from eddyline.execute.steering.protocol import Job, Way
from eddyline.execute.steering.rearranging import Affords, Clock, Rearranging
from eddyline.functions.evaluate import Evaluation
from eddyline.kernels.rowwise import ones
from eddyline.model.asc import ASC, covered
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.carry_over import carry_over
from eddyline.order.sample_table import compile_kernels

log = logging.getLogger("eddyline.match")
TOGETHER: Final = 32  # batches that are looked at together
TOGETHER_ROWS: Final = 2_000  # or fewer, if they have so many rows
# batches in a row that are given up before nothing is expected of the first subject any more
GIVEN_UP: Final = 3


@dataclass(frozen=True, slots=True)
class OrderReport:
    """What an order did so far: ASCs visited and seconds of matching side by side, and what the monitor took of it.

    `order` is the sequence in words. `problem` says why the strategy gave up, if it did. `chosen` tells of
    batches that may be evaluated in another way.
    """

    strategy: str
    sequence: VisitOrder
    order: str
    rearranged: int
    tuples: int
    visited: int
    dropped: int
    seconds: float
    watched: MonitorReport
    problem: str | None = None
    chosen: tuple[Chosen, ...] = ()

    @property
    def visited_each(self) -> float:
        """ASCs visited by a tuple on average."""
        return self.visited / self.tuples if self.tuples else 0.0

    @property
    def nanoseconds_each(self) -> float:
        """Time of a tuple on average, the monitor's left out."""
        return 1e9 * self.seconds / self.tuples if self.tuples else 0.0

    def __str__(self) -> str:
        lines = [
            f"{self.strategy}, rearranged {self.rearranged} times: {self.tuples} tuples visited {self.visited_each:.2f} "
            f"ASCs each in {self.nanoseconds_each:.0f} ns each; the monitor looked at {self.watched.sampled} of them "
            f"in {100 * self.watched.share:.1f}% of the time",
            *(f"  {line}" for line in self.order.splitlines()),
            *(f"  {each}" for each in self.chosen),
        ]
        if self.problem:
            lines.append(f"  the order stays as it is: {self.problem}")
        return "\n".join(lines)


class LiveSteering:
    """Decides for one segment, batch by batch, by what the batches before have told.

    A batch is matched in one order from beginning to end. What it tells is looked at when it is done, by one thread at a
    time, and a new order is in force from the next batch on. Small batches are looked at together: a call for one row
    takes 20 us, of which looking at each alone would take 3. Where several subjects drop tuples by themselves and the one
    at the front suddenly does not, another takes its place before the batch goes on.

    `small` is the size up to which batches go row by row in any case; `ways` are those between which there is a choice
    for the others, the first of them where there is none. `before` has steered segments that this one takes the place
    of: their order and choice are kept as far as they still fit.
    """

    def __init__(
        self,
        rowwise: Rowwise,
        settings: OrderSettings,
        *,
        small: int = 0,
        ways: tuple[Way, ...] = ("row by row",),
        before: Iterable[LiveSteering] = (),
        clock: Clock = thread_time,
    ) -> None:
        self.settings = settings
        self._rowwise, self._clock = rowwise, clock
        replaced = list(before)
        ascs = rowwise.index.ascs
        self._rearranging = Rearranging(
            ascs, _start(rowwise, replaced), settings, costs=lambda: rowwise.times.costs, clock=clock
        )
        self._monitor = Monitor(rowwise, settings)
        self.sequence = self._rearranging.sequence
        self._counts_ones = settings.drift == "selectivity"
        adapts = settings.strategy == "adaptive"
        self._fronts = tuple([asc.number for asc in ascs if adapts and covered([asc])])  # drop tuples alone
        self.expects_drops = False  # whether the first subject dropped most tuples of the last batch
        self._given_up = 0  # batches
        self._answering = 0.0  # seconds that the last quick answer took
        self._thinking = threading.Lock()
        self._done: deque[tuple[Counters, float, int]] = deque()  # batches not looked at yet
        self._waiting = 0  # rows of these
        self._tuples = self._visited = self._dropped = 0
        self._seconds = 0.0
        self._small, self._usual = small, ways[0]
        self._rearranged = 0  # orders of the past when the choice was last told
        self.choice = self._chooser(ways, replaced) if adapts and len(ways) > 1 else None

    @property
    def tuples(self) -> int:
        """How many tuples were counted so far."""
        return self._tuples

    @property
    def ascs(self) -> tuple[ASC, ...]:
        """What tuples visit."""
        return self._rowwise.index.ascs

    def pick(self, job: Job, rows: int) -> tuple[Way, bool]:
        if rows <= self._small:
            return "row by row", False
        choice = self.choice
        if choice is None:
            return self._usual, False
        try:
            return choice.pick(job, rows)
        except MemoryError:
            raise
        except Exception as error:
            self._choose_no_more(error)
            return self._usual, False

    def took(self, job: Job, way: Way, evaluation: Evaluation, rows: int, seconds: float) -> None:
        choice = self.choice
        try:
            if choice is not None:
                self._learn(choice, job, way, evaluation, rows, seconds)
        except MemoryError:
            raise
        except Exception as error:
            self._choose_no_more(error)

    def surprised(self, evaluation: Evaluation, rows: int, *, gives_up: bool) -> VisitOrder | None:
        """The order is reconsidered at once; None if no subject drops tuples any more."""
        sequence = self.sequence
        self._answer_now(evaluation, rows)
        if gives_up and self.sequence is sequence:
            self._given_up += 1
            self.expects_drops = self._given_up % GIVEN_UP > 0
            return None
        return self.sequence

    def visited(self, evaluation: Evaluation, rows: int, found: Lineages, seconds: float) -> None:
        if rows >= ATTEMPTED_ROWS and len(self._fronts) > 1:
            first = self.sequence.subjects[0]
            self.expects_drops = first in self._fronts and 2 * found.counters.survivors[0] <= rows
        possible = int(ones(found.grb.reshape(-1))) if self._counts_ones else 0
        self._done.append((found.counters, seconds, possible))
        self._waiting += rows
        if self._waiting >= TOGETHER_ROWS or len(self._done) >= TOGETHER:
            self._aside(lambda: self._think(evaluation, rows))

    def filtered(self, few: bool) -> None:
        self.expects_drops = few and len(self._fronts) > 1

    def report(self) -> OrderReport | None:
        """What was done so far; None if no tuple was looked at."""
        with self._thinking:
            self._add_up()
            if not self._monitor.watched.tuples:
                return None
            return OrderReport(
                self.settings.strategy,
                self.sequence,
                self.sequence.explain(self.ascs, max_arrows=8),
                self._rearranging.rearranged,
                self._tuples,
                self._visited,
                self._dropped,
                self._seconds,
                self._monitor.watched,
                self._rearranging.problem,
                tuple(self.choice.chosen()) if self.choice else (),
            )

    def _chooser(self, ways: tuple[Way, ...], before: Iterable[LiveSteering]) -> Choice | None:
        """Begins with the choice, of those before, that took the most time."""
        used = [each.choice for each in before if each.choice is not None]
        try:
            return Choice(ways, max(used, key=lambda choice: choice.seconds, default=None))
        except MemoryError:
            raise
        except Exception as error:
            self._choose_no_more(error)
            return None

    def _choose_no_more(self, error: Exception) -> None:
        """Matches are found without a choice just as well, only not always in the quickest way."""
        self.choice = None
        log.error("batches are no longer evaluated in the quickest way: %r", error, exc_info=error)

    def _learn(
        self, choice: Choice, job: Job, way: Way, evaluation: Evaluation, rows: int, seconds: float
    ) -> None:
        """The order of the other way is reconsidered as well, or it would never look better."""
        stood = choice.note(job, rows, way, seconds)
        if not choice.is_warm:
            return
        if way != "row by row":
            self._look(evaluation, rows, stood * rows, stood * seconds)
        rearranged = self._rearranging.rearranged
        if rearranged != self._rearranged:
            self._rearranged = rearranged
            choice.ask_again()

    def _look(self, evaluation: Evaluation, rows: int, tuples: int, seconds: float) -> None:
        """Look at a batch that was matched in another way, as so many tuples were in so many seconds since the last."""

        def work() -> None:
            self._monitor.matched(tuples, seconds)
            self._rearranging.unseen(tuples)
            self._think(evaluation, rows)

        self._aside(work)

    def _aside(self, work: Callable[[], None]) -> None:
        """Work that no match depends on, unless another thread is at it; where it fails, the order stays as it is."""
        if self._thinking.acquire(blocking=False):
            try:
                work()
            except MemoryError:
                raise
            except Exception as error:
                if self._rearranging.problem is None:
                    log.error("the order of subjects stays as it is: %r", error, exc_info=error)
                self._rearranging.give_up(f"{type(error).__name__}: {error}")
            finally:
                self._thinking.release()

    def _think(self, evaluation: Evaluation, rows: int) -> None:
        """Look at a batch and those before, and put another order in force if that is what comes of it."""
        self._add_up()
        rearranging, monitor = self._rearranging, self._monitor
        if rearranging.startled:
            self._answer(evaluation, rows)
        affords = monitor.affords_routine if rearranging.is_routine else monitor.affords
        if rearranging.measuring and affords(rearranging.step_seconds):
            started = self._clock()
            if rearranging.wants and monitor.due(rows):
                rearranging.add(monitor.look(evaluation, rows, rearranging.most))
            monitor.spent(self._clock() - started)
            if rearranging.has_period:
                self._step(affords)
        self.sequence = rearranging.sequence

    def _step(self, affords: Affords) -> None:
        """Show what was looked at to the strategy. Its kernels are loaded here: a process of few batches needs none."""
        compile_kernels()  # seconds, the first time on a machine, for which the monitor would have to save for long
        started = self._clock()
        self._rearranging.think(affords)
        self._monitor.spent(self._clock() - started)

    def _answer_now(self, evaluation: Evaluation, rows: int) -> None:
        """In the middle of a batch, unless another thread thinks already."""

        def work() -> None:
            self._answer(evaluation, rows)
            self.sequence = self._rearranging.sequence

        self._aside(work)

    def _answer(self, evaluation: Evaluation, rows: int) -> None:
        """Put the subject first that drops the most tuples at once, if several could: a tenth of a millisecond."""
        self._rearranging.startled = False
        if len(self._fronts) < 2 or not self._monitor.spares(self._answering):
            return
        started = self._clock()
        best = self._fronts[int(np.argmin(self._monitor.alive(evaluation, rows, self._fronts)))]
        if best != self._rearranging.sequence.subjects[0]:
            self._rearranging.promote(best)
        self._answering = self._clock() - started
        self._monitor.spent(self._answering)

    def _add_up(self) -> None:
        """Count the batches that were done since."""
        tuples = visited = dropped = ones_left = self._waiting = 0
        seconds = 0.0
        while self._done:
            counters, took, possible = self._done.popleft()
            tuples += counters.tuples
            visited += counters.visited
            dropped += counters.dropped
            seconds += took
            ones_left += possible
        if not tuples:
            return
        self._tuples += tuples
        self._visited += visited
        self._dropped += dropped
        self._seconds += seconds
        self._monitor.matched(tuples, seconds)
        self._rearranging.passed(Counters(tuples, visited, dropped, ()), ones_left)


def _start(rowwise: Rowwise, before: Iterable[LiveSteering]) -> VisitOrder:
    """The order, of those before, that most tuples went through, as far as it still fits."""
    most = max(before, key=lambda steering: steering.tuples, default=None)
    if most is None or not most.sequence.subjects:
        return rowwise.sequence
    return carry_over(most.sequence, most.ascs, rowwise.index.ascs)

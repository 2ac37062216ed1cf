"""The row-wise executor with an order that follows the data: the changing state of one segment, safe for threads."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.choice import Chosen
from eddyline.execute.lineages import Lineages, Rows
from eddyline.execute.monitor import Monitor, Watched
from eddyline.execute.rearranging import Affords, Clock, Rearranging
from eddyline.execute.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.kernels.rowwise import ones
from eddyline.model.asc import covered
from eddyline.model.sequence import Counters, Sequence
from eddyline.order.met import compile_kernels

log = logging.getLogger("eddyline.match")
TOGETHER: Final = 32  # batches that are looked at together
TOGETHER_ROWS: Final = 2_000  # or fewer, if they have so many rows
TIMED_ROWS: Final = 2_048  # rows from which a batch is timed by the time of the processor
ANSWERED_ROWS: Final = (
    512  # rows from which a batch whose first subject drops few tuples may be answered at once
)
GIVEN_UP: Final = (
    3  # batches in a row that are given up before nothing is expected of the first subject any more
)


@dataclass(frozen=True, slots=True)
class OrderReport:
    """What an order did so far: ASCs visited and seconds of matching side by side, and what the monitor took of it.

    `order` is the sequence in words. `problem` says why the strategy gave up, if it did. `chosen` tells of
    batches that may be evaluated in another way.
    """

    strategy: str
    sequence: Sequence
    order: str
    rearranged: int
    tuples: int
    visited: int
    dropped: int
    seconds: float
    watched: Watched
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


class Ordered:
    """Evaluates plain conjunctions row by row, in the order in force.

    A batch is matched in one order from beginning to end. What it tells is looked at when it is done, by one thread at a
    time, and a new order is in force from the next batch on. Small batches are looked at together: a call for one row
    takes 20 us, of which looking at each alone would take 3. Where several subjects drop tuples by themselves and the one
    at the front suddenly does not, another takes its place before the batch goes on.
    """

    def __init__(
        self,
        rowwise: Rowwise,
        settings: OrderSettings,
        start: Sequence | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        self.rowwise = rowwise
        self.settings = settings
        self._quick, self._exact = clock or perf_counter, clock or thread_time
        ascs = rowwise.index.ascs
        self._rearranging = Rearranging(
            ascs,
            start or rowwise.sequence,
            settings,
            costs=lambda: rowwise.times.costs,
            clock=self._exact,
        )
        self._monitor = Monitor(rowwise, settings)
        self._sequence = self._rearranging.sequence
        self._counts_ones = settings.drift == "selectivity"
        adapts = settings.strategy == "adaptive"
        self._fronts = tuple([asc.number for asc in ascs if adapts and covered([asc])])  # drop tuples alone
        self._front_drops = False  # whether the first subject dropped most tuples of the last batch
        self._given_up = 0  # batches
        self._answering = 0.0  # seconds that the last quick answer took
        self._thinking = threading.Lock()
        self._done: deque[tuple[Counters, float, int]] = deque()  # batches not looked at yet
        self._waiting = 0  # rows of these
        self._tuples = self._visited = self._dropped = 0
        self._seconds = 0.0

    @property
    def sequence(self) -> Sequence:
        """The order in force."""
        return self._sequence

    @property
    def tuples(self) -> int:
        """How many tuples were counted so far."""
        return self._tuples

    @property
    def rearranged(self) -> int:
        """How often another order was put in force."""
        return self._rearranging.rearranged

    def match(self, evaluation: Evaluation, rows: int) -> Lineages:
        """The tuples that match and their queries."""
        found = self._match(evaluation, rows, gives_up=False)
        assert found is not None, "only attempts are given up"
        return found

    def attempt(self, evaluation: Evaluation, rows: int) -> Lineages | None:
        """As `match`; None if the first subject does not drop tuples any more, and no other does."""
        return self._match(evaluation, rows, gives_up=True)

    def _match(self, evaluation: Evaluation, rows: int, *, gives_up: bool) -> Lineages | None:
        clock = self._quick if rows < TIMED_ROWS else self._exact  # the better one takes a microsecond
        started = clock()
        found = self._visited_in_order(evaluation, rows, gives_up)
        if found is None:
            return None
        seconds = clock() - started
        possible = int(ones(found.grb.reshape(-1))) if self._counts_ones else 0
        self._done.append((found.counters, seconds, possible))
        self._waiting += rows
        is_time = self._waiting >= TOGETHER_ROWS or len(self._done) >= TOGETHER
        if is_time:
            self._aside(lambda: self._think(evaluation, rows))
        return found

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

    def _visited_in_order(self, evaluation: Evaluation, rows: int, gives_up: bool) -> Lineages | None:
        """The tuples that are left in the end; the order is thought over at once if it does not keep what it promised."""
        sequence = self._sequence
        if self._front_drops and rows >= ANSWERED_ROWS:
            found = self.rowwise.attempt(evaluation, rows, sequence)
            if found is not None:
                return found
            self._answer_now(evaluation, rows)
            if gives_up and self._sequence is sequence:
                self._given_up += 1
                self._front_drops = self._given_up % GIVEN_UP > 0
                return None
        found = self.rowwise.match(evaluation, rows, sequence=self._sequence)
        if rows >= ANSWERED_ROWS and len(self._fronts) > 1:
            first = self._sequence.subjects[0]
            self._front_drops = first in self._fronts and 2 * found.counters.survivors[0] <= rows
        return found

    def few_left(self, evaluation: Evaluation, rows: int) -> Rows | None:
        """Rows that the first subjects leave, for another executor, if these are few."""
        found = self.rowwise.few_left(evaluation, rows, self._sequence)
        if found is None and self._front_drops:
            self._answer_now(evaluation, rows)
            found = self.rowwise.few_left(evaluation, rows, self._sequence)
        self._front_drops = found is not None and len(self._fronts) > 1
        return found

    def look(self, evaluation: Evaluation, rows: int, tuples: int, seconds: float) -> None:
        """Look at a batch that was matched in another way, as so many tuples were in so many seconds since the last."""

        def work() -> None:
            self._monitor.matched(tuples, seconds)
            self._rearranging.unseen(tuples)
            self._think(evaluation, rows)

        self._aside(work)

    def report(self) -> OrderReport:
        """What was done so far."""
        with self._thinking:
            self._add_up()
            return OrderReport(
                self.settings.strategy,
                self._sequence,
                self._sequence.explain(self.rowwise.index.ascs, max_arrows=8),
                self._rearranging.rearranged,
                self._tuples,
                self._visited,
                self._dropped,
                self._seconds,
                self._monitor.watched,
                self._rearranging.problem,
            )

    def _think(self, evaluation: Evaluation, rows: int) -> None:
        """Look at a batch and those before, and put another order in force if that is what comes of it."""
        self._add_up()
        rearranging, monitor = self._rearranging, self._monitor
        if rearranging.startled:
            self._answer(evaluation, rows)
        affords = monitor.affords_routine if rearranging.is_routine else monitor.affords
        if rearranging.measuring and affords(rearranging.step_seconds):
            started = self._exact()
            if rearranging.wants and monitor.due(rows):
                rearranging.add(monitor.look(evaluation, rows, rearranging.most))
            monitor.spent(self._exact() - started)
            if rearranging.has_period:
                self._step(affords)
        self._sequence = rearranging.sequence

    def _step(self, affords: Affords) -> None:
        """Show what was looked at to the strategy. Its kernels are loaded here: a process of few batches needs none."""
        compile_kernels()  # seconds, the first time on a machine, for which the monitor would have to save for long
        started = self._exact()
        self._rearranging.think(affords)
        self._monitor.spent(self._exact() - started)

    def _answer_now(self, evaluation: Evaluation, rows: int) -> None:
        """In the middle of a batch, unless another thread thinks already."""

        def work() -> None:
            self._answer(evaluation, rows)
            self._sequence = self._rearranging.sequence

        self._aside(work)

    def _answer(self, evaluation: Evaluation, rows: int) -> None:
        """Put the subject first that drops the most tuples at once, if several could: a tenth of a millisecond."""
        self._rearranging.startled = False
        if len(self._fronts) < 2 or not self._monitor.spares(self._answering):
            return
        started = self._exact()
        best = self._fronts[int(np.argmin(self._monitor.alive(evaluation, rows, self._fronts)))]
        if best != self._rearranging.sequence.subjects[0]:
            self._rearranging.promote(best)
        self._answering = self._exact() - started
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

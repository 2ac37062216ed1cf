"""The row-wise executor with an order that follows the data: the changing state of one segment, safe for threads."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Final

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.choice import Chosen
from eddyline.execute.lineages import Lineages
from eddyline.execute.monitor import Monitor, Watched
from eddyline.execute.rearranging import Rearranging
from eddyline.execute.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.kernels.rowwise import ones
from eddyline.model.asc import covered
from eddyline.model.sequence import Counters, Sequence

TOGETHER: Final = 32  # tiny batches that are looked at together
TOGETHER_ROWS: Final = 512  # rows from which a batch is not tiny


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
    time, and a new order is in force from the next batch on. Tiny batches are looked at together: a call for one row
    takes 20 us, of which looking at each alone would take 3.
    """

    def __init__(self, rowwise: Rowwise, settings: OrderSettings, start: Sequence | None = None) -> None:
        self.rowwise = rowwise
        self.settings = settings
        self._immediate = settings.pruning == "immediate"
        self._rearranging = Rearranging(rowwise.index.ascs, start or rowwise.sequence, settings)
        self._monitor = Monitor(rowwise, settings)
        self._sequence = self._rearranging.sequence
        self._counts_ones = self._rearranging.drift == "selectivity"
        ascs = rowwise.index.ascs if settings.strategy == "adaptive" else ()
        self._fronts = tuple([asc.number for asc in ascs if covered([asc])])  # that drop tuples by themselves
        self._answering = 0.0  # seconds that the last quick answer took
        self._thinking = threading.Lock()
        self._done: deque[tuple[Counters, float, int]] = deque()  # batches not looked at yet
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

    def match(self, evaluation: Evaluation, rows: int) -> Lineages:
        """The tuples that match and their queries."""
        clock = perf_counter if rows < TOGETHER_ROWS else thread_time  # the better one takes a microsecond
        started = clock()
        found = self.rowwise.match(evaluation, rows, sequence=self._sequence, immediate=self._immediate)
        seconds = clock() - started
        possible = int(ones(found.grb.reshape(-1))) if self._counts_ones else 0
        self._done.append((found.counters, seconds, possible))
        is_time = rows >= TOGETHER_ROWS or len(self._done) >= TOGETHER
        if is_time and self._thinking.acquire(blocking=False):
            try:
                self._think(evaluation, rows)
            finally:
                self._thinking.release()
        return found

    @property
    def wants(self) -> bool:
        """Whether a look at a batch would be of use."""
        return self._rearranging.measuring

    def look(self, evaluation: Evaluation, rows: int, seconds: float) -> None:
        """Look at a batch that was matched in another way, which took so many seconds."""
        if self._thinking.acquire(blocking=False):
            try:
                self._monitor.matched(rows, seconds)
                self._think(evaluation, rows)
            finally:
                self._thinking.release()

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
        if self._rearranging.startled:
            self._answer(evaluation, rows)
        if not self._rearranging.measuring or (self._rearranging.wants and not self._monitor.due(rows)):
            self._sequence = self._rearranging.sequence
            return
        started = thread_time()
        if self._rearranging.wants:
            sample = self._monitor.look(evaluation, rows, self._rearranging.most)
            if sample is not None:
                self._rearranging.add(sample)
        self._rearranging.think(self._monitor.affords)
        self._sequence = self._rearranging.sequence
        self._monitor.spent(thread_time() - started)

    def _answer(self, evaluation: Evaluation, rows: int) -> None:
        """Put the subject first that drops the most tuples at once, if several could: a fraction of a millisecond."""
        self._rearranging.startled = False
        if len(self._fronts) < 2 or not self._monitor.spares(self._answering):
            return
        started = thread_time()
        best = self._fronts[int(np.argmin(self._monitor.alive(evaluation, rows, self._fronts)))]
        if best != self._rearranging.sequence.subjects[0]:
            self._rearranging.promote(best)
        self._answering = thread_time() - started
        self._monitor.spent(self._answering)

    def _add_up(self) -> None:
        """Count the batches that were done since."""
        tuples = visited = dropped = ones_left = 0
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

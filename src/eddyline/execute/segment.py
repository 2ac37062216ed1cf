"""The executors of one segment behind one face."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from time import thread_time
from typing import Any, Final

from eddyline.config import FIXED_ORDER, OrderSettings
from eddyline.execute.choice import Choice, Way
from eddyline.execute.keyed import Keyed
from eddyline.execute.once import once
from eddyline.execute.ordered import Ordered, OrderReport
from eddyline.execute.parts import MaskPart, PairPart
from eddyline.execute.rowwise import Rowwise
from eddyline.execute.sliced import Counts, Sliced
from eddyline.functions.evaluate import Evaluation
from eddyline.index.asc import with_candidates
from eddyline.index.segment import Segment
from eddyline.kernels.sorting import add_numbers
from eddyline.model.asc import one_is_spare
from eddyline.model.matches import Integers, SegmentPart
from eddyline.order.carry_over import carry_over

log = logging.getLogger("eddyline.match")
Counted = tuple[Integers, Integers]  # slots, and how many tuples match each
WAYS: Final[tuple[Way, ...]] = ("sliced", "row by row", "filtered")


class SegmentExecutor:
    """Evaluates all queries of a segment; each executor is made when it is first wanted.

    `before` are executors of segments that this one takes the place of: their order and choice are kept as far as they still fit.
    `name` is what the segment is called where it is saved, everywhere the same.
    """

    def __init__(
        self,
        segment: Segment,
        order: OrderSettings = FIXED_ORDER,
        before: Iterable[SegmentExecutor] = (),
    ) -> None:
        self.segment = segment
        self.order = order
        replaced = list(before) if segment.rowwise is not None else []
        self._before, self._choice_before = _most_seen(replaced), _most_used(replaced)
        self.name: str | None = None
        self._rearranged = 0  # orders of the past when the choice was last told
        # What has taken its place since it failed, see `rescue.py`: none or one. A list, so that the executors that are made
        # for this segment batch by batch (`directed.py`) share what was found out.
        self.rescues: list[Any] = []

    @once
    def sliced(self) -> Sliced:
        """Serves batches that are not evaluated row by row."""
        return Sliced(self.segment.sliced)

    @once
    def keyed(self) -> Keyed:
        """Serves queries that are found by a value."""
        return Keyed(self.segment.keyed)

    @once
    def rowwise(self) -> tuple[Rowwise, Sliced]:
        """Serve the batches that are evaluated row by row: plain conjunctions, and the other queries."""
        index = self.segment.rowwise
        assert index is not None, "the segment has no row-wise form"
        ascs = with_candidates(index.ascs) if self.order.strategy == "hybrid" else index.ascs
        return Rowwise(ascs, index.sequence), Sliced(index.rest)

    @once
    def ordered(self) -> Ordered:
        """The row-wise executor with the order that is in force."""
        rowwise, before, self._before = self.rowwise[0], self._before, None
        if before is None or not before.sequence.subjects:
            return Ordered(rowwise, self.order)
        start = carry_over(before.sequence, before.rowwise.index.ascs, rowwise.index.ascs)
        return Ordered(rowwise, self.order, start)

    @once
    def choice(self) -> Choice | None:
        """Who chooses for batches that are not small; None where there is nothing to choose from."""
        index = self.segment.rowwise
        wanted = index is not None and index.most_rows is not None and self.order.strategy == "adaptive"
        return Choice(WAYS if self._drops else WAYS[:2], self._choice_before) if wanted else None

    @property
    def _drops(self) -> bool:
        """Whether tuples can be dropped before they have visited all subjects, so that a filter may leave some out."""
        return one_is_spare(self.rowwise[0].index.ascs)

    def match(self, evaluation: Evaluation, rows: int, *, threads: int = 1) -> list[SegmentPart]:
        """The matches of a batch, one part for each executor that has queries."""
        picked = self._picked("match", rows, threads)
        if picked is None:
            parts = self._match(evaluation, rows, self._is_small(rows), threads)
        else:
            choice, way, timed = picked
            started = thread_time() if timed else 0.0
            parts = self._match_by(way, evaluation, rows)
            if timed:
                self._note(choice, "match", way, evaluation, rows, thread_time() - started)
        if self.segment.keyed.tables:
            parts.append(PairPart(*self.keyed.match(evaluation, rows)))
        return parts

    def count(self, evaluation: Evaluation, rows: int, totals: Counts, *, threads: int = 1) -> None:
        """Add the number of matches of each query to totals[its slot], without keeping the matches.

        Nothing is added before everything is counted: where an executor fails, another way begins from the same totals.
        """
        picked = self._picked("count", rows, threads)
        if picked is None:
            found = self._count(evaluation, rows, self._is_small(rows), threads)
        else:
            choice, way, timed = picked
            started = thread_time() if timed else 0.0
            found = [self._count_by(way, evaluation, rows)]
            if timed:
                self._note(choice, "count", way, evaluation, rows, thread_time() - started)
        keyed = self.keyed.match(evaluation, rows)[1] if self.segment.keyed.tables else None
        for slots, counts in found:
            totals[slots] += counts
        if keyed is not None:
            add_numbers(keyed, totals)

    def order_report(self) -> OrderReport | None:
        """What the order of the tuples evaluated row by row did so far; None if there were none."""
        ordered: Ordered | None = self.__dict__.get("ordered")
        if ordered is None:
            return None
        choice: Choice | None = self.__dict__.get("choice")
        return replace(ordered.report(), chosen=tuple(choice.chosen()) if choice else ())

    def _match(self, evaluation: Evaluation, rows: int, by_row: bool, threads: int) -> list[SegmentPart]:
        """The matches of the queries without a key."""
        parts: list[SegmentPart] = []
        if by_row and len(self.ordered.rowwise.index.numbers):
            parts.append(self.ordered.match(evaluation, rows))
        sliced = self.rowwise[1] if by_row else self.sliced
        if sliced.index.program.results:
            parts.append(MaskPart(sliced.match(evaluation, rows, threads=threads)))
        return parts

    def _count(self, evaluation: Evaluation, rows: int, by_row: bool, threads: int) -> list[Counted]:
        found: list[Counted] = []
        if by_row and len(self.ordered.rowwise.index.numbers):
            found.append(self.ordered.match(evaluation, rows).counts())
        sliced = self.rowwise[1] if by_row else self.sliced
        if sliced.index.program.results:
            found.append((sliced.index.numbers, sliced.count(evaluation, rows, threads=threads)))
        return found

    def _match_by(self, way: Way, evaluation: Evaluation, rows: int) -> list[SegmentPart]:
        """The same, in the way that was chosen."""
        if way == "row by row":
            found = self.ordered.attempt(evaluation, rows)
            if found is not None:
                return [found]
        selected = self.ordered.few_left(evaluation, rows) if way == "filtered" else None
        return [MaskPart(self.sliced.match(evaluation, rows, selected=selected))]

    def _count_by(self, way: Way, evaluation: Evaluation, rows: int) -> Counted:
        if way == "row by row":
            found = self.ordered.attempt(evaluation, rows)
            if found is not None:
                return found.counts()
        selected = self.ordered.few_left(evaluation, rows) if way == "filtered" else None
        return self.sliced.index.numbers, self.sliced.count(evaluation, rows, selected=selected)

    def _is_small(self, rows: int) -> bool:
        """Whether a batch of so many rows is evaluated row by row in any case."""
        index = self.segment.rowwise
        return index is not None and index.serves(rows)

    def _picked(self, task: str, rows: int, threads: int) -> tuple[Choice, Way, bool] | None:
        """Who has chosen a way for a batch, which, and whether it is timed; several threads work on sliced batches alone."""
        if threads > 1 or self._is_small(rows):
            return None
        try:
            choice = self.choice
            return None if choice is None else (choice, *choice.pick(task, rows))
        except MemoryError:
            raise
        except Exception as error:
            self._choose_no_more(error)
            return None

    def _choose_no_more(self, error: Exception) -> None:
        """Matches are found without a choice just as well, only not always in the quickest way."""
        self.__dict__["choice"] = None
        log.error("batches are no longer evaluated in the quickest way: %r", error, exc_info=error)

    def _note(
        self, choice: Choice, task: str, way: Way, evaluation: Evaluation, rows: int, seconds: float
    ) -> None:
        """Keep what a batch took."""
        try:
            self._learn(choice, task, way, evaluation, rows, seconds)
        except MemoryError:
            raise
        except Exception as error:
            self._choose_no_more(error)

    def _learn(
        self, choice: Choice, task: str, way: Way, evaluation: Evaluation, rows: int, seconds: float
    ) -> None:
        """The order of the other way is reconsidered as well, or it would never look better."""
        stood = choice.note(task, rows, way, seconds)
        if not choice.is_warm:
            return
        if way != "row by row":
            self.ordered.look(evaluation, rows, stood * rows, stood * seconds)
        if self.ordered.rearranged != self._rearranged:
            self._rearranged = self.ordered.rearranged
            choice.ask_again()


def _most_seen(executors: Iterable[SegmentExecutor]) -> Ordered | None:
    """The order of those that were used which saw the most tuples."""
    made: list[Ordered] = [e.__dict__["ordered"] for e in executors if "ordered" in e.__dict__]
    return max(made, key=lambda ordered: ordered.tuples, default=None)


def _most_used(executors: Iterable[SegmentExecutor]) -> Choice | None:
    """The choice of those that were used which took the most time."""
    made: list[Choice | None] = [e.__dict__.get("choice") for e in executors]
    return max([choice for choice in made if choice], key=lambda choice: choice.seconds, default=None)

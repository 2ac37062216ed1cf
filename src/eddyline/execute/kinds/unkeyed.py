"""Queries without a key: all tuples at once by masks, or each tuple from subject to subject, as steering says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from sys import maxsize
from time import perf_counter, thread_time
from typing import Final, TypeVar

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.executor import Counted, Trial
from eddyline.execute.locating.locate import locator
from eddyline.execute.once import once
from eddyline.execute.parts import MaskPart
from eddyline.execute.pricing.cost_items import Bill, Label, Priced
from eddyline.execute.pricing.unkeyed_items import UnkeyedItems, unkeyed_text
from eddyline.execute.rowwise.lineages import Lineages, Rows
from eddyline.execute.rowwise.rowwise import ATTEMPTED_ROWS, Rowwise
from eddyline.execute.sliced.patterns import Patterns
from eddyline.execute.sliced.sliced import Sliced
from eddyline.execute.steering.protocol import Job, Steering, Way
from eddyline.functions.evaluate import Evaluation
from eddyline.index.cutting import Cutting
from eddyline.index.kinds.unkeyed import UnkeyedIndex
from eddyline.index.rowwise.asc import with_candidates
from eddyline.index.rowwise.rowwise import RowwiseIndex
from eddyline.index.sliced.pattern_groups import PatternGroup
from eddyline.index.sliced.patterns import build_patterns
from eddyline.index.sliced.sliced import SlicedIndex
from eddyline.model.asc import one_is_spare
from eddyline.model.matches import SegmentPart
from eddyline.sql.render import render

Result = TypeVar("Result")
WAYS: Final[tuple[Way, ...]] = ("sliced", "row by row", "filtered")
TIMED_ROWS: Final = 2_048  # rows from which a batch is timed by the time of the processor
MOST_SUBJECTS: Final = 8  # of a sequence are named
SLICED: Final = "its conditions are shared masks, joined by AND and OR for 512 tuples at once"


class UnkeyedExecutor:
    """`small` is the size of batches up to which tuples go row by row in any case; there is a choice for larger ones."""

    def __init__(self, index: UnkeyedIndex, order: OrderSettings) -> None:
        self.index = index
        self._order = order
        rowwise = index.rowwise
        self.small = 0 if rowwise is None else maxsize if rowwise.most_rows is None else rowwise.most_rows
        # some queries go one way, some the other
        self._splits = rowwise is not None and rowwise.most_rows is None
        self._slices = bool(index.sliced.program.results)
        self._visits = rowwise is not None and len(rowwise.ascs.numbers) > 0

    @once
    def sliced(self) -> Sliced:
        """Made when it is first wanted."""
        return Sliced(self.index.sliced)

    @once
    def rowwise(self) -> Rowwise:
        """Serves batches that are evaluated row by row."""
        index = self.index.rowwise
        assert index is not None, "the queries have no row-wise form"
        ascs = with_candidates(index.ascs) if self._order.strategy == "hybrid" else index.ascs
        return Rowwise(ascs, index.sequence)

    @property
    def ways(self) -> tuple[Way, ...]:
        """Between which there is a choice, the usual one first; a filter needs subjects that drop tuples by themselves."""
        if self.index.rowwise is None or self._splits:
            return ("row by row",) if self._splits else ("sliced",)
        return WAYS if one_is_spare(self.rowwise.index.ascs) else WAYS[:2]

    def match(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[SegmentPart]:
        found, masks = self._evaluate("match", self.sliced.match, evaluation, rows, steering, threads)
        parts: list[SegmentPart] = [] if found is None else [found]
        if masks is not None:
            parts.append(MaskPart(masks))
        return parts

    def count(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[Counted]:
        sliced = self.sliced
        found, counts = self._evaluate("count", sliced.count, evaluation, rows, steering, threads)
        counted: list[Counted] = [] if found is None else [found.counts()]
        if counts is not None:
            counted.append((sliced.index.numbers, counts))
        return counted

    def _evaluate(
        self,
        job: Job,
        slice_all: Callable[..., Result],
        evaluation: Evaluation,
        rows: int,
        steering: Steering | None,
        threads: int,
    ) -> tuple[Lineages | None, Result | None]:
        """What came of the queries that went row by row, and of those that were sliced."""
        if steering is None or (
            threads > 1 and rows > self.small
        ):  # threads share the blocks of sliced batches
            return None, slice_all(evaluation, rows, threads=threads)
        way, timed = steering.pick(job, rows)
        started = thread_time() if timed else 0.0
        found = result = None
        if way == "row by row" and self._visits:
            found = self.visit(evaluation, rows, steering, gives_up=not self._splits)
        if self._slices and (found is None or self._splits):
            selected = self.few_left(evaluation, rows, steering) if way == "filtered" else None
            result = slice_all(evaluation, rows, threads=threads, selected=selected)
        if timed:
            steering.took(job, way, evaluation, rows, thread_time() - started)
        return found, result

    def visit(
        self, evaluation: Evaluation, rows: int, steering: Steering, *, gives_up: bool = False
    ) -> Lineages | None:
        """Row by row; None if the first subject does not drop tuples any more, no other does, and there is another way."""
        clock = perf_counter if rows < TIMED_ROWS else thread_time  # the better one takes a microsecond
        started = clock()
        rowwise = self.rowwise
        if steering.expects_drops and rows >= ATTEMPTED_ROWS:
            found = rowwise.attempt(evaluation, rows, steering.sequence)
            if found is None:
                sequence = steering.surprised(evaluation, rows, gives_up=gives_up)
                if sequence is None:
                    return None
                found = rowwise.match(evaluation, rows, sequence=sequence)
        else:
            found = rowwise.match(evaluation, rows, sequence=steering.sequence)
        steering.visited(evaluation, rows, found, clock() - started)
        return found

    def few_left(self, evaluation: Evaluation, rows: int, steering: Steering) -> Rows | None:
        """Rows that the first subjects leave, if these are few: the others match nothing."""
        found = self.rowwise.few_left(evaluation, rows, steering.sequence)
        if found is None and steering.expects_drops:
            sequence = steering.surprised(evaluation, rows, gives_up=False)
            assert sequence is not None, "nobody gives up here"
            found = self.rowwise.few_left(evaluation, rows, sequence)
        steering.filtered(found is not None)
        return found

    def prepare(self) -> None:
        wanted = [self.sliced, *([self.rowwise] if self.index.rowwise is not None else [])]
        assert None not in wanted, "they are made by being asked for"

    def trials(self, evaluation: Evaluation, rows: int) -> Iterator[Trial]:
        sliced, rowwise = self.index.sliced, self.index.rowwise
        for cutting in (*sliced.cuttings, *(rowwise.ascs.cuttings if rowwise is not None else ())):
            yield (cutting.subject,), partial(_located, cutting, evaluation, rows)
        for group in sliced.patterns:
            yield (group.text, *group.calls), partial(_found, group, evaluation)

    def describe(self, slot: int | None) -> list[str]:
        sliced, rowwise = self.index.sliced, self.index.rowwise
        adapts = self._order.strategy == "adaptive"
        if slot is not None:
            return _explain_query(slot, sliced, rowwise, adapts)
        lines = [] if self._splits or not self._slices else [f"sliced: {_sliced_line(sliced)}"]
        if rowwise is not None:
            lines += _rowwise_lines(rowwise, adapts)
        if self._splits and self._slices:
            lines.append(f"  and the others sliced: {_sliced_line(sliced)}")
        return lines

    def price(self, bill: Bill) -> Priced:
        return UnkeyedItems(bill, self.index)

    @staticmethod
    def item_text(label: Label, index: UnkeyedIndex | None) -> str:
        return unkeyed_text(label)


def _located(cutting: Cutting, evaluation: Evaluation, rows: int) -> None:
    locator(cutting).locate(evaluation.values(cutting.subject), np.empty(rows, cutting.id_type))


def _found(group: PatternGroup, evaluation: Evaluation) -> None:
    Patterns(build_patterns(group.calls)).find(evaluation.values(group.text))


def _sliced_line(index: SlicedIndex) -> str:
    program = index.program
    regions = sum(cutting.regions for cutting in index.cuttings)
    hulls = [render(index.cuttings[hull.subject].subject) for hull in index.hulls]
    filtered = (
        f"; every query asks about {', '.join(hulls)}: rows outside may be left out first" if hulls else ""
    )
    return (
        f"{program.results} queries, {len(index.cuttings)} subjects, {index.conditions} distinct conditions, "
        f"{regions} regions, {len(program.steps.targets)} steps, {index.bytes} bytes{filtered}"
    )


def _rowwise_lines(index: RowwiseIndex, adapts: bool) -> list[str]:
    ascs = index.ascs
    regions = sum(asc.regions for asc in ascs.ascs)
    head = (
        f"row by row{_limit(index)}: {len(ascs.numbers)} queries, {len(ascs.ascs)} subjects, {regions} regions, "
        f"{ascs.bytes} bytes"
    )
    return [head, f"  in the sequence {_sequence(index)}{_beginning(index, adapts)}"]


def _limit(index: RowwiseIndex) -> str:
    return "" if index.most_rows is None else f" in batches of up to {index.most_rows} rows"


def _beginning(index: RowwiseIndex, adapts: bool) -> str:
    """What becomes of a sequence that follows the data."""
    if not adapts:
        return ""
    more = "" if index.most_rows is None else "; larger batches come this way where it is quicker"
    return f", to begin with: it follows the data{more} (see order_report)"


def _sequence(index: RowwiseIndex) -> str:
    subjects = [render(index.ascs.ascs[subject].subject) for subject in index.sequence.subjects]
    shown = [
        *subjects[:MOST_SUBJECTS],
        *([f"{len(subjects) - MOST_SUBJECTS} more"] * (len(subjects) > MOST_SUBJECTS)),
    ]
    return " -> ".join(shown)


def _explain_query(slot: int, sliced: SlicedIndex, rowwise: RowwiseIndex | None, adapts: bool) -> list[str]:
    """Who serves a query: an executor for small batches, and one for the others."""
    lines = []
    if slot in sliced.numbers:
        odd = ", being no plain conjunction" if rowwise is not None and rowwise.most_rows is None else ""
        lines.append(f"served sliced{odd}: {SLICED}")
    if rowwise is not None and slot in rowwise.ascs.numbers:
        lines.append(
            f"served row by row{_limit(rowwise)}: a tuple visits the subjects in the sequence {_sequence(rowwise)}, "
            f"those first that leave the fewest queries possible{_beginning(rowwise, adapts)}"
        )
        if rowwise.most_rows is not None:
            lines.append("  because a mask of 512 tuples costs the same for a few of them")
    return lines

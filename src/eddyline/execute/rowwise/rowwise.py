"""The papers' executor (ASC-1, Algorithm 1): every tuple visits the ASCs in a sequence until no query is left.

Subjects are located only as far as tuples get: once the visited subjects are a cover set, tuples are dropped, and as
long as each further subject at least halves them, the next one is located for those that are left.
"""

from __future__ import annotations

from bisect import bisect_left
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locating.locate import Locator, locator
from eddyline.execute.rowwise.lineages import Lineages, Rows, Visit
from eddyline.execute.rowwise.routes import HybridRoute, MacroRoute, Order, Route, route_of
from eddyline.execute.rowwise.visit_times import MEASURED_ROWS, VisitTimes
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.index.rowwise.asc import AscIndex
from eddyline.kernels import rowwise as kernels
from eddyline.model.asc import Words, bits
from eddyline.model.visit_order import Counters, VisitOrder

Ids = npt.NDArray[np.unsignedinteger[Any]]
KEEP_MOST: Final = kernels.CHUNK // 2  # of the first chunk; if more survive, compacting does not pay
TAKE_FROM: Final = 6_144  # in smaller batches locating all rows costs less than taking some of them out
TAKE_TEXT_FROM: Final = 1_024  # the same for values that are not numbers
# of a batch that may be given up when its first rows show that the order does not fit
ATTEMPTED_ROWS: Final = 512
PIECE_WORDS: Final = 1 << 27  # GRBs of at most 1 GiB are written before those of dropped tuples are let go


class Rowwise:
    """Evaluates plain conjunctions tuple by tuple."""

    def __init__(self, index: AscIndex, sequence: VisitOrder | None = None) -> None:
        self.index = index
        self.sequence = sequence or VisitOrder(tuple(range(len(index.ascs))))
        self._locators: list[Locator] = [locator(cutting) for cutting in index.cuttings]
        widest = max([cutting.size for cutting in index.cuttings], default=0)
        self._width: Any = np.uint16 if widest <= 2**16 else np.uint32
        self._table = index.table.reshape(-1)
        self._words = index.table.shape[0] * index.table.shape[2]
        self._last = route_of(index, self.sequence)
        self.times = VisitTimes(index)

    def match(
        self, evaluation: Evaluation, rows: int, *, sequence: VisitOrder | None = None, immediate: bool = True
    ) -> Lineages:
        """The tuples that match and their queries; delayed pruning visits all ASCs before it drops a tuple."""
        sequence = sequence or self.sequence
        assert sorted(sequence.subjects) == list(range(len(self.index.ascs))), "a sequence has all subjects"
        return self.lineages(evaluation, rows, sequence, immediate=immediate)

    def lineages(
        self, evaluation: Evaluation, rows: int, sequence: VisitOrder, *, immediate: bool = True
    ) -> Lineages:
        """GRBs after a sequence of some of the subjects, which is what orders are measured by."""
        route = self._route(sequence)
        if not route.order:
            return self._unvisited(rows)
        if isinstance(route, HybridRoute):
            return self._follow(evaluation, rows, route, immediate)
        found = self._visit(evaluation, rows, route, immediate)
        assert found is not None, "only attempts are given up"
        return found

    def attempt(self, evaluation: Evaluation, rows: int, sequence: VisitOrder) -> Lineages | None:
        """As `match`; None as soon as the first rows show that the subjects at the front do not drop the half of them."""
        route = self._route(sequence)
        if isinstance(route, HybridRoute) or not route.drops:
            return self.match(evaluation, rows, sequence=sequence)
        return self._visit(evaluation, rows, route, True, gives_up=True)

    def _visit(
        self, evaluation: Evaluation, rows: int, route: MacroRoute, immediate: bool, *, gives_up: bool = False
    ) -> Lineages | None:
        """Along a macro-sequence, which is located as far as tuples get."""
        tally = np.zeros(len(route.order), np.int64)
        done = route.cover if immediate else len(route.order)
        ids = np.empty((len(route.order), rows), self._width)
        self._locate(evaluation, route.order[:done], ids, None)
        kept: Rows | None = None
        while done < len(route.order):
            places = self._survivors(route.starts[:done], ids, tally)
            if places is None and kept is None and gives_up:
                return None
            if places is None:
                break
            kept = places if kept is None else kept[places]
            if not len(kept):
                return self._result(kept, np.empty((0, self._words), np.uint64), rows, tally, immediate)
            narrowed = np.empty((len(ids), len(places)), self._width)  # by rows, as kernels want it
            np.take(ids[:done], places, axis=1, out=narrowed[:done])
            ids = narrowed
            self._locate(evaluation, route.order[done : done + 1], ids[done:], kept)
            done += 1
        self._locate(evaluation, route.order[done:], ids[done:], kept)
        places, grb = self._run(route, ids, immediate, tally)
        return self._result(places if kept is None else kept[places], grb, rows, tally, immediate)

    def _follow(self, evaluation: Evaluation, rows: int, route: HybridRoute, immediate: bool) -> Lineages:
        """Along micro-arrows: any subject may come second, so all are located for the rows that the first one leaves."""
        tally = np.zeros(len(route.order), np.int64)
        ids = np.empty((len(self.index.ascs), rows), self._width)
        first, kept = route.order[0], None
        self._locate(evaluation, (first,), ids[first : first + 1], None)
        if immediate:
            alive = self.index.alive[self.index.starts[first] + ids[first].astype(np.int64)]
            if np.count_nonzero(alive) <= rows // 2:
                kept = np.flatnonzero(alive)
                tally[0] = rows - len(kept)
                ids = np.ascontiguousarray(ids[:, kept])
        for number in route.order[1:]:
            self._locate(evaluation, (number,), ids[number : number + 1], kept)
        places, grb = self._run(route, ids, immediate, tally)
        return self._result(places if kept is None else kept[places], grb, rows, tally, immediate)

    def prefilter(self, evaluation: Evaluation, rows: int, subjects: Order) -> Rows:
        """Rows that some query may still match after these subjects, ascending; the others match nothing.

        For the sliced executor, which is then given the surviving rows alone.
        """
        if not subjects:
            return np.arange(rows)
        ids = np.empty((len(subjects), rows), self._width)
        self._locate(evaluation, subjects, ids, None)
        tally = np.zeros(len(subjects), np.int64)
        kept = self._survivors(self.index.starts[list(subjects)], ids, tally, most=rows)
        assert kept is not None
        return kept

    def few_left(self, evaluation: Evaluation, rows: int, sequence: VisitOrder) -> Rows | None:
        """Rows that the first subjects of a sequence do not drop, if these are at most the half of all."""
        route = self._route(sequence)
        if isinstance(route, HybridRoute) or not route.drops:
            return None
        ids = np.empty((route.cover, rows), self._width)
        self._locate(evaluation, route.order[: route.cover], ids, None)
        return self._survivors(route.starts[: route.cover], ids, np.zeros(route.cover, np.int64))

    def trace(
        self, evaluation: Evaluation, row: int, *, sequence: VisitOrder | None = None
    ) -> tuple[Visit, ...]:
        """What one tuple goes through under immediate pruning."""
        visits: list[Visit] = []
        seen: list[int] = []
        grb = ~np.zeros(self._words, np.uint64)
        ids = np.empty(1, self._width)
        route = self._route(sequence or self.sequence)
        number = route.order[0] if route.order else None
        while number is not None:
            asc = self.index.ascs[number]
            value = evaluation.values(asc.subject).slice(row, 1)
            self._locators[number].locate(value, ids)
            region = int(ids[0])
            seen.append(number)
            following = route.following(number, region, seen)
            if not region and self.index.cuttings[number].points_only and isinstance(asc.constants, tuple):
                (met,) = ordered_values(value, asc.subject.type)
                region = 2 * bisect_left(asc.constants, met)  # located as "any other value"
            grb = grb & asc.blocks[:, region].reshape(-1)
            visits.append(Visit(asc, region, bits(grb, asc.queries)))
            number = following if grb.any() else None
        return tuple(visits)

    def regions(
        self, evaluation: Evaluation, rows: int, subjects: Order | None = None
    ) -> npt.NDArray[np.int32]:
        """The region of all or some subjects for every row, (subjects, rows)."""
        wanted = tuple(range(len(self.index.ascs))) if subjects is None else subjects
        ids = np.empty((len(wanted), rows), self._width)
        self._locate(evaluation, wanted, ids, None)
        return ids.astype(np.int32)

    def _route(self, sequence: VisitOrder) -> Route:
        """What is known of a sequence; that of the last one is kept."""
        last = self._last
        if last.sequence is not sequence and last.sequence != sequence:
            last = self._last = route_of(self.index, sequence)
        return last

    def _locate(self, evaluation: Evaluation, order: Order, ids: Ids, kept: Rows | None) -> None:
        """Region ids of all or the given rows, one row of `ids` a subject."""
        for place, number in enumerate(order):
            cutting = self.index.cuttings[number]
            values = evaluation.values(cutting.subject)
            take_from = TAKE_TEXT_FROM if isinstance(cutting.constants, tuple) else TAKE_FROM
            if kept is None:
                self._locate_all(number, values, ids[place])
            elif len(values) < take_from:
                everywhere = np.empty(len(values), self._width)
                self._locators[number].locate(values, everywhere)
                ids[place] = everywhere[kept]
            else:
                self._locators[number].locate(_taken(values, kept), ids[place])

    def _locate_all(self, number: int, values: pa.Array, ids: Ids) -> None:
        """All rows, timed if they are many."""
        started = perf_counter()
        self._locators[number].locate(values, ids)
        if len(values) >= MEASURED_ROWS:
            self.times.located(number, len(values), perf_counter() - started)

    def _survivors(self, starts: Rows, ids: Ids, tally: Rows, most: int = KEEP_MOST) -> Rows | None:
        """Rows whose GRB is not zero; None if they are so many that it is not worth knowing."""
        rows = ids.shape[1]
        table, kept, counted = self.index.table, np.empty(rows, np.int64), np.zeros_like(tally)
        found = kernels.surviving(
            self._table,
            table.shape[1],
            table.shape[0],
            self.index.alive,
            starts,
            ids.reshape(-1),
            rows,
            rows,
            most,
            kept,
            counted,
            np.empty(table.shape[2], np.uint64),
        )
        if found < 0 or (found > rows // 2 and most < rows):
            return None
        tally += counted
        return kept[:found]

    def _run(self, route: Route, ids: Ids, immediate: bool, tally: Rows) -> tuple[Rows, Words]:
        """Places of the tuples that are left in the end, and their GRBs."""
        rows = ids.shape[1]
        step = max(kernels.CHUNK, PIECE_WORDS // self._words)
        before, started = tally.copy(), perf_counter()
        pieces = [
            self._run_piece(route, ids, first, min(first + step, rows), immediate, tally)
            for first in range(0, max(rows, 1), step)
        ]
        if rows >= MEASURED_ROWS and immediate:
            self.times.visited(rows, tally - before, perf_counter() - started)
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([kept for kept, _ in pieces]), np.concatenate([grb for _, grb in pieces])

    def _run_piece(
        self, route: Route, ids: Ids, first: int, last: int, immediate: bool, tally: Rows
    ) -> tuple[Rows, Words]:
        rows, words, table = last - first, self._words, self.index.table
        kept, grbs = np.empty(rows, np.int64), np.empty(rows * words, np.uint64)
        bitmaps = (self._table, table.shape[1], table.shape[0], self.index.alive)
        located = (ids.reshape(-1)[first:], ids.shape[1], rows, immediate)
        if isinstance(route, HybridRoute):
            geb = np.zeros(len(ids), np.int64)
            way = (route.macro, self.index.starts, route.arrows)
            found = kernels.follow(*bitmaps, *way, *located, grbs, kept, tally, geb)
        else:
            scratch = np.empty(kernels.CHUNK, np.int64), np.empty(kernels.CHUNK, np.int64)
            found = kernels.lineages(*bitmaps, route.starts, *located, grbs, kept, tally, *scratch)
        left = grbs[: found * words].reshape(found, words)
        if 2 * found < rows:  # do not hold the memory of the tuples that were dropped
            left = left.copy()
        return first + kept[:found], left

    def _unvisited(self, rows: int) -> Lineages:
        """Before the first subject every query is possible."""
        flags = np.zeros(self._words * 64, np.uint8)
        flags[: len(self.index.numbers)] = 1
        grb = np.packbits(flags, bitorder="little").view(np.uint64)
        left = rows if len(self.index.numbers) else 0
        counters = Counters(rows, 0, rows - left, ())
        return Lineages(np.arange(left), np.tile(grb, (left, 1)), self.index.numbers, counters)

    def _result(self, row: Rows, grb: Words, rows: int, tally: Rows, immediate: bool) -> Lineages:
        survivors: list[int] = []
        left = rows
        for dropped in tally.tolist():
            left -= dropped
            survivors.append(left)
        visited = sum([rows, *survivors[:-1]]) if immediate else rows * len(survivors)
        counters = Counters(rows, visited, rows - left, tuple(survivors))
        return Lineages(row, grb, self.index.numbers, counters)


def _taken(values: pa.Array, rows: Rows) -> pa.Array:
    """Some of the values; plain numbers in the half of the time that Arrow takes for a few rows."""
    kind = values.type
    if values.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return values.take(pa.array(rows))
    return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(values.to_numpy()[rows])])

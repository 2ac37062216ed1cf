"""The papers' executor (ASC-1, Algorithm 1): every tuple visits the ASCs in a sequence until no query is left.

Subjects are located only as far as tuples get: once the visited subjects are a cover set, tuples are dropped, and as
long as each further subject at least halves them, the next one is located for those that are left.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locate import Locator, locator
from eddyline.functions.evaluate import Evaluation
from eddyline.index.asc import AscIndex
from eddyline.kernels import rowwise as kernels
from eddyline.model.asc import ASC, Words, bits, subject_text
from eddyline.model.sequence import Counters, Sequence

Integers = npt.NDArray[np.signedinteger[Any]]
Rows = npt.NDArray[np.int64]
Ids = npt.NDArray[np.unsignedinteger[Any]]
Order = tuple[int, ...]
KEEP_MOST: Final = kernels.CHUNK // 2  # of the first chunk; if more survive, compacting does not pay
TAKE_FROM: Final = 16_384  # in smaller batches locating all rows costs less than taking some of them out
TAKE_TEXT_FROM: Final = 1_024  # the same for values that are not numbers
PIECE_WORDS: Final = 1 << 27  # GRBs of at most 1 GiB are written before those of dropped tuples are let go


@dataclass(frozen=True, slots=True)
class Lineages:
    """The tuples that matched anything and the GRB of each, a part of `Matches`.

    row ascends; grb is (tuples, words), its bit j belonging to query numbers[j]. Pairs come by number if numbers ascend.
    """

    row: Rows
    grb: Words
    numbers: npt.NDArray[np.int32]
    counters: Counters

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        words = self.grb.shape[1]
        found = np.zeros(words * 64, np.int64)
        kernels.add_counts(self.grb.reshape(-1), len(self.row), words, found)
        return self.numbers, found[: len(self.numbers)]

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        places = np.flatnonzero(self.numbers == number)
        if not len(places):
            return np.empty(0, np.int64)
        word, bit = divmod(int(places[0]), 64)
        hit = (self.grb[:, word] >> np.uint64(bit)) & np.uint64(1)
        return np.asarray(self.row[hit == 1])

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row and bit."""
        flat = self.grb.reshape(-1)
        total = kernels.ones(flat)
        rows, numbers = np.empty(total, np.int64), np.empty(total, np.int64)
        kernels.all_pairs(flat, self.row, self.grb.shape[1], self.numbers, rows, numbers)
        return rows, numbers


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of a tuple: the ASC, the region of the tuple's value, and the GRB afterwards."""

    asc: ASC
    region: int
    grb: str

    def __str__(self) -> str:
        return f"{subject_text(self.asc.subject)} in {self.asc.name(self.region)}: {self.grb}"


class Rowwise:
    """Evaluates plain conjunctions tuple by tuple."""

    def __init__(self, index: AscIndex, sequence: Sequence | None = None) -> None:
        self.index = index
        self.sequence = sequence or Sequence(tuple(range(len(index.ascs))))
        self._locators: list[Locator] = [locator(cutting) for cutting in index.cuttings]
        widest = max([cutting.size for cutting in index.cuttings], default=0)
        self._width: Any = np.uint16 if widest <= 2**16 else np.uint32
        self._table = index.table.reshape(-1)
        self._words = index.table.shape[0] * index.table.shape[2]
        self._last = _route(index, self.sequence.subjects)

    def match(
        self, evaluation: Evaluation, rows: int, *, sequence: Sequence | None = None, immediate: bool = True
    ) -> Lineages:
        """The tuples that match and their queries; delayed pruning visits all ASCs before it drops a tuple."""
        sequence = sequence or self.sequence
        assert sorted(sequence.subjects) == list(range(len(self.index.ascs))), "a sequence has all subjects"
        return self.lineages(evaluation, rows, sequence, immediate=immediate)

    def lineages(
        self, evaluation: Evaluation, rows: int, sequence: Sequence, *, immediate: bool = True
    ) -> Lineages:
        """GRBs after a sequence of some of the subjects, which is what orders are measured by."""
        assert not sequence.arrows, "micro-arrows are not followed yet"
        route = self._route(sequence.subjects)
        if not route.order:
            return self._unvisited(rows)
        tally = np.zeros(len(route.order), np.int64)
        done = route.cover if immediate else len(route.order)
        ids = np.empty((len(route.order), rows), self._width)
        self._locate(evaluation, route.order[:done], ids, None)
        kept: Rows | None = None
        while done < len(route.order):
            places = self._survivors(route.starts[:done], ids, tally)
            if places is None:
                break
            kept = places if kept is None else kept[places]
            if not len(kept):
                return self._result(kept, np.empty((0, self._words), np.uint64), rows, tally, immediate)
            ids = np.concatenate([ids[:done, places], np.empty((len(ids) - done, len(places)), self._width)])
            self._locate(evaluation, route.order[done : done + 1], ids[done:], kept)
            done += 1
        self._locate(evaluation, route.order[done:], ids[done:], kept)
        places, grb = self._run(route.starts, ids, immediate, tally)
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

    def trace(
        self, evaluation: Evaluation, row: int, *, sequence: Sequence | None = None
    ) -> tuple[Visit, ...]:
        """What one tuple goes through under immediate pruning."""
        visits: list[Visit] = []
        grb = ~np.zeros(self._words, np.uint64)
        ids = np.empty(1, self._width)
        for number in (sequence or self.sequence).subjects:
            asc = self.index.ascs[number]
            value = evaluation.values(asc.subject).slice(row, 1)
            self._locators[number].locate(value, ids)
            region = int(ids[0])
            if not region and self.index.cuttings[number].points_only and isinstance(asc.constants, tuple):
                region = 2 * bisect_left(asc.constants, value[0].as_py())  # located as "any other value"
            grb = grb & asc.blocks[:, region].reshape(-1)
            visits.append(Visit(asc, region, bits(grb, asc.queries)))
            if not grb.any():
                break
        return tuple(visits)

    def _route(self, order: Order) -> _Route:
        """What is known of an order; that of the last one is kept."""
        if self._last.order != order:
            self._last = _route(self.index, order)
        return self._last

    def _locate(self, evaluation: Evaluation, order: Order, ids: Ids, kept: Rows | None) -> None:
        """Region ids of all or the given rows, one row of `ids` a subject."""
        chosen = None
        for place, number in enumerate(order):
            cutting = self.index.cuttings[number]
            values = evaluation.values(cutting.subject)
            take_from = TAKE_TEXT_FROM if isinstance(cutting.constants, tuple) else TAKE_FROM
            if kept is None:
                self._locators[number].locate(values, ids[place])
            elif len(values) < take_from:
                everywhere = np.empty(len(values), self._width)
                self._locators[number].locate(values, everywhere)
                ids[place] = everywhere[kept]
            else:
                chosen = pa.array(kept) if chosen is None else chosen
                self._locators[number].locate(values.take(chosen), ids[place])

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

    def _run(self, starts: Rows, ids: Ids, immediate: bool, tally: Rows) -> tuple[Rows, Words]:
        """Places of the tuples that are left in the end, and their GRBs."""
        rows = ids.shape[1]
        step = max(kernels.CHUNK, PIECE_WORDS // self._words)
        pieces = [
            self._run_piece(starts, ids, first, min(first + step, rows), immediate, tally)
            for first in range(0, max(rows, 1), step)
        ]
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([kept for kept, _ in pieces]), np.concatenate([grb for _, grb in pieces])

    def _run_piece(
        self, starts: Rows, ids: Ids, first: int, last: int, immediate: bool, tally: Rows
    ) -> tuple[Rows, Words]:
        rows, words = last - first, self._words
        table, kept, grbs = self.index.table, np.empty(rows, np.int64), np.empty(rows * words, np.uint64)
        found = kernels.lineages(
            self._table,
            table.shape[1],
            table.shape[0],
            self.index.alive,
            starts,
            ids.reshape(-1)[first:],
            ids.shape[1],
            rows,
            immediate,
            grbs,
            kept,
            tally,
            np.empty(kernels.CHUNK, np.int64),
            np.empty(kernels.CHUNK, np.int64),
        )
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


@dataclass(frozen=True, slots=True)
class _Route:
    """An order of subjects: the first region of each, and how many of them a tuple visits before it can be dropped."""

    order: Order
    starts: Rows
    cover: int


def _route(index: AscIndex, order: Order) -> _Route:
    if not order:
        return _Route(order, np.empty(0, np.int64), 0)
    used = np.bitwise_or.accumulate([index.ascs[number].qub for number in order], axis=0)
    complete = np.bitwise_count(used).sum(axis=1) == len(index.numbers)
    cover = int(complete.argmax()) + 1 if complete.any() else len(order)
    return _Route(order, index.starts[list(order)], cover)

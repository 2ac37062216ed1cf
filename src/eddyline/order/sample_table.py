"""A sample as kernels read it: the qrb that each tuple meets at each subject, side by side; for what is counted often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from eddyline.kernels import order_search as search
from eddyline.kernels import orders as kernels
from eddyline.model import types as t
from eddyline.model.asc import ASC, BLOCK_WORDS, Words
from eddyline.model.expression import Column
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import VisitOrder

Rows = npt.NDArray[np.int64]
Costs = npt.NDArray[np.float64]
Ending = Literal["dropped", "completed"]
"""Where a tuple's way ends before its last subject: where no query is possible any more (ASC-1, ASC-2), or where every
query is decided, so that no other visit could make a difference (CACQ)."""
_NO_ARROWS: Final[Rows] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ways:
    """What came of each tuple: visits made, the visit at which its way ended (0 if it never did), the cost of its visits."""

    made: Rows
    ended: Rows
    spent: Costs
    dropped: int


class SampleTable:
    """The tuples of one sample. Made once, then asked: what is gathered here takes longer than a walk along an order.

    starts: the first region of each subject, where those of all of them are counted together.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.every = sample.every
        self.qubs = query_usage(sample.ascs)
        self.words = _gathered(sample)
        self.regions = np.ascontiguousarray(sample.regions)
        ends = np.cumsum([asc.regions for asc in sample.ascs], dtype=np.int64)
        self.starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        self.all_regions = int(ends[-1]) if len(ends) else 0

    def ways(
        self,
        sequence: VisitOrder,
        costs: Costs | None = None,
        *,
        ending: Ending = "dropped",
        immediate: bool = True,
    ) -> Ways:
        """Every tuple's way along a sequence; without costs each visit takes 1."""
        if not sequence.subjects:
            nothing = np.zeros(self.sample.tuples, np.int64)
            return Ways(nothing, nothing, np.zeros(self.sample.tuples), 0)
        order = np.array(sequence.subjects, np.int64)
        return self.along(order, self.arrows(sequence), costs, ending=ending, immediate=immediate)

    def along(
        self,
        order: Rows,
        arrows: Rows = _NO_ARROWS,
        costs: Costs | None = None,
        *,
        ending: Ending = "dropped",
        immediate: bool = True,
    ) -> Ways:
        """The same by arrays: the subjects of at least one visit, and per region where its arrow leads, or no arrows."""
        tuples, subjects = self.sample.tuples, self.sample.subjects
        found = Ways(np.empty(tuples, np.int64), np.empty(tuples, np.int64), np.empty(tuples), 0)
        dropped = kernels.walk(
            self.words,
            self.every,
            self.qubs,
            immediate,
            immediate and ending == "completed",
            order,
            self.starts,
            arrows,
            self.regions,
            np.ones(subjects) if costs is None else costs,
            np.empty(len(self.every), np.uint64),
            np.zeros(subjects, np.int64),
            found.made,
            found.ended,
            found.spent,
        )
        return Ways(found.made, found.ended, found.spent, dropped)

    def arrows(self, sequence: VisitOrder) -> Rows:
        """Per region of all subjects where its micro-arrow leads to, -1 for none; nothing if there are no arrows."""
        if not sequence.arrows:
            return _NO_ARROWS
        targets = np.full(self.all_regions, -1, np.int64)
        for arrow in sequence.arrows:
            targets[self.starts[arrow.subject] + arrow.region] = arrow.to
        return targets

    def grown(self, chosen: Sequence[int], candidates: Sequence[int], counted: Words) -> tuple[Rows, Rows]:
        """What each candidate would leave after the chosen subjects: ones at some queries, and tuples."""
        ones, alive = np.empty(len(candidates), np.int64), np.empty(len(candidates), np.int64)
        subjects = np.array(chosen, np.int64), np.array(candidates, np.int64)
        scratch = np.empty(len(self.every), np.uint64)
        kernels.grow(self.words, self.every, *subjects, counted, scratch, ones, alive)
        return ones, alive

    def greedy(self, costs: Costs) -> tuple[int, ...]:
        """An order grown by what each subject ends for what its visit costs: queries, then tuples."""
        tuples, subjects, words = self.words.shape
        order, scratch = np.empty(subjects, np.int64), np.empty((2, subjects), np.int64)
        grbs, covered = np.empty((tuples, words), np.uint64), np.empty(words, np.uint64)
        search.greedy(self.words, self.every, self.qubs, costs, order, covered, grbs, *scratch)
        return tuple(order.tolist())

    def descend(self, order: Sequence[int], costs: Costs, ending: Ending) -> tuple[tuple[int, ...], float]:
        """An order from which no subject can be moved to a cheaper place, and its cost.

        The cost leaves out tuples that visit every subject in any order.
        """
        subjects, words = self.words.shape[1:]
        found, scratch = np.array(order, np.int64), np.empty((3, subjects), np.int64)
        cost = search.descend(
            self.words,
            self.every,
            self.qubs,
            ending == "completed",
            costs,
            self.ending_rows(ending),
            found,
            scratch[0],
            np.empty((subjects, words), np.uint64),
            np.empty(words, np.uint64),
            scratch[1],
            scratch[2],
        )
        return tuple(found.tolist()), cost

    def ending_rows(self, ending: Ending) -> Rows:
        """The tuples whose ways may end early: of those that match, all ways have the same visits, to every subject."""
        if ending == "completed":
            return np.arange(self.sample.tuples)
        return np.flatnonzero(self.along(np.arange(self.sample.subjects)).ended)

    def survivors(self, ending: Ending) -> Costs:
        """How many tuples are left after each set of subjects; subject i is bit i of a set's number."""
        count = self.sample.subjects
        counted = self.every[None]
        if ending == "completed":
            sets = np.arange(1 << count)[:, None]
            counted = undecided(self.qubs, sets >> np.arange(count) & 1 == 1)
        left = np.zeros(1 << count, np.int64)
        stack = np.empty((count + 1, len(self.every)), np.uint64)
        kernels.survivors(self.words, self.every, counted, stack, np.empty(count + 1, np.int64), left)
        left[0] = self.sample.tuples
        return left.astype(np.float64)

    def cheapest(self, left: Costs, costs: Costs) -> tuple[int, ...]:
        """The cheapest of all orders, from the tuples that are left after each set; with negative costs the dearest."""
        total, last = np.empty(len(left)), np.empty(len(left), np.int64)
        kernels.cheapest(left, costs, total, last)
        remaining, order = len(left) - 1, []
        while remaining:
            order.append(int(last[remaining]))
            remaining ^= 1 << order[-1]
        return tuple(reversed(order))


def _gathered(sample: Sample) -> Words:
    """The qrb that each tuple meets at each subject, (tuples, subjects, words); half the time of `grb_words`."""
    words = np.empty((sample.tuples, sample.subjects, sample.words), np.uint64)
    for subject, asc in enumerate(sample.ascs):
        for block, first in enumerate(range(0, sample.words, BLOCK_WORDS)):
            found = asc.blocks[block].take(sample.regions[subject], axis=0)
            words[:, subject, first : first + BLOCK_WORDS] = found[:, : sample.words - first]
    return words


def undecided(qubs: Words, visited: npt.NDArray[np.bool_]) -> Words:
    """The queries that use a subject not visited yet, for some sets of visited subjects, (sets, words)."""
    open_to = np.where(visited[:, :, None], np.uint64(0), qubs[None])
    return np.asarray(np.bitwise_or.reduce(open_to, axis=1))


def newest(samples: Sequence[Sample], most: int) -> Sample:
    """The last tuples of some samples, together at most so many."""
    regions = np.concatenate([sample.regions for sample in samples], axis=1)
    return Sample(samples[0].ascs, regions[:, max(0, regions.shape[1] - most) :])


@cache
def compile_kernels() -> None:
    """Have the kernels compiled, before anybody measures what they take."""
    ones = np.ones(BLOCK_WORDS, np.uint64)
    asc = ASC(
        0, Column("a", t.INT), np.empty(0), 1, 1, ones, np.ones((1, 2, BLOCK_WORDS), np.uint64), ones[None]
    )
    met = SampleTable(Sample((asc,), np.zeros((1, 1), np.int32)))
    met.ways(VisitOrder((0,)))
    met.grown((), (0,), met.every)
    met.greedy(np.ones(1))
    met.descend((0,), np.ones(1), "dropped")
    met.cheapest(met.survivors("dropped"), np.ones(1))

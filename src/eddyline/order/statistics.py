"""What the papers measure of a sequence, on a sample: selectivity, dropping ratio, and the ASCs that tuples visit.

The reference for what the kernels count: plain array operations, tuples in step.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Literal

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.sequence import Counters, Sequence

Rows = npt.NDArray[np.int64]
Ending = Literal["dropped", "completed"]
"""Where a tuple's way ends before its last subject: where no query is possible any more (ASC-1, ASC-2), or where every
query is decided, so that no other visit could make a difference (CACQ)."""


def selectivity(sample: Sample, subjects: List[int]) -> float:
    """ASC-1's s: the share of (tuple, query) pairs still possible after some subjects."""
    return _share(ones(sample.after(subjects)), sample.queries * sample.tuples)


def conditional_selectivity(sample: Sample, before: List[int], subject: int) -> float:
    """ASC-2's s(rho -> A | rho): the same after one subject more, among the queries that use none of those before."""
    left = uncovered(sample, before)
    passed = ones(sample.after([*before, subject]) & left)
    return _share(passed, ones(left) * sample.tuples)


def dropping_ratio(sample: Sample, subjects: List[int]) -> float:
    """ASC-2's d: the share of tuples for which no query is left after some subjects."""
    return _share(int(dropped(sample.after(subjects)).sum()), sample.tuples)


def region_selectivity(sample: Sample, subject: int) -> tuple[Rows, npt.NDArray[np.float64]]:
    """How many tuples are in each region of a subject, and which share of the queries is possible there."""
    asc = sample.ascs[subject]
    tuples = np.bincount(sample.regions[subject], minlength=asc.regions)
    possible = np.bitwise_count(asc.blocks).sum(axis=(0, 2), dtype=np.int64)
    return tuples, possible / max(1, asc.queries)


def uncovered(sample: Sample, subjects: List[int]) -> Words:
    """The queries that use none of some subjects."""
    used = query_usage(sample.ascs[subject] for subject in subjects)
    return np.asarray(sample.every & ~np.bitwise_or.reduce(used)) if len(used) else sample.every


def ones(words: Words) -> int:
    """Number of ones in all words."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def dropped(grb: Words) -> npt.NDArray[np.bool_]:
    """Which tuples have no query left."""
    return np.asarray(~grb.any(axis=1))


def undecided(qubs: Words, visited: npt.NDArray[np.bool_]) -> Words:
    """The queries that use a subject not visited yet, for some sets of visited subjects, (sets, words)."""
    open_to = np.where(visited[:, :, None], np.uint64(0), qubs[None])
    return np.asarray(np.bitwise_or.reduce(open_to, axis=1))


def count_visits(
    sample: Sample, sequence: Sequence, *, immediate: bool = True, ending: Ending = "dropped"
) -> Counters:
    """What a sequence does to the sample, micro-arrows followed; survivors are those left after so many visits.

    Without subjects nothing is visited and nothing is dropped.
    """
    assert len(sequence) == sample.subjects or not sequence.arrows, "arrows are for whole sequences"
    walk = Walk(sample, sequence, immediate=immediate, ending=ending)
    survivors = []
    for _ in range(len(sequence)):
        walk.step()
        survivors.append(walk.left)
    if not immediate and survivors:
        walk.dropped = int(dropped(walk.grb).sum())
        survivors[-1] = walk.left - walk.dropped
    visited = sum([sample.tuples, *survivors[:-1]]) if survivors else 0
    return Counters(sample.tuples, visited, walk.dropped, tuple(survivors))


def visits_of_subjects(sample: Sample, sequence: Sequence) -> Rows:
    """How many tuples visit each subject under immediate pruning."""
    return Walk(sample, sequence).to_end().visits


def visits_of_tuples(sample: Sample, sequence: Sequence) -> Rows:
    """How many ASCs each tuple visits under immediate pruning."""
    return Walk(sample, sequence).to_end().made


class Walk:
    """The tuples of a sample on their way, all making one visit a step.

    rows: the tuples that are left; of each of them `grb`, `geb` (visited subjects) and `here`, the subject of the last
    visit, -1 before the first. visits: how many tuples have visited each subject. made: how many visits each tuple of the
    sample has made, those that are not left included. dropped: how many were, for want of queries.
    """

    def __init__(
        self, sample: Sample, sequence: Sequence, *, immediate: bool = True, ending: Ending = "dropped"
    ) -> None:
        self.sample, self.sequence, self.immediate, self.ending = sample, sequence, immediate, ending
        self.dropped = 0
        self.rows: Rows = np.arange(sample.tuples)
        self.grb = np.tile(sample.every, (sample.tuples, 1))
        self.geb = np.zeros((sample.tuples, sample.subjects), np.bool_)
        self.here: Rows = np.full(sample.tuples, -1)
        self.visits: Rows = np.zeros(sample.subjects, np.int64)
        self.made: Rows = np.zeros(sample.tuples, np.int64)
        self._macro = np.array(sequence.subjects, np.int64)
        self._targets = [_targets(sample, sequence, subject) for subject in range(sample.subjects)]

    @property
    def left(self) -> int:
        return len(self.rows)

    def macro_next(self) -> Rows:
        """The first subject of the macro-sequence that a tuple has not visited yet; one must be left."""
        return np.asarray(self._macro[(~self.geb[:, self._macro]).argmax(axis=1)])

    def next(self) -> Rows:
        """The subject that each tuple visits next."""
        wanted = self.macro_next()
        for subject, targets in enumerate(self._targets):
            if targets is None:
                continue
            at = np.flatnonzero(self.here == subject)
            to = targets[self.sample.regions[subject, self.rows[at]]]
            follow = (to >= 0) & ~self.geb[at, to]
            wanted[at[follow]] = to[follow]
        return wanted

    def step(self) -> None:
        """One visit of every tuple that is left; with immediate pruning those without queries are dropped."""
        if not self.left:
            return
        self.here = self.next()
        self.made[self.rows] += 1
        for subject in np.unique(self.here).tolist():
            at = np.flatnonzero(self.here == subject)
            self.grb[at] &= self.sample.grb_words(subject, self.rows[at])
            self.geb[at, subject] = True
            self.visits[subject] += len(at)
        if self.immediate:
            ended = dropped(self.grb)
            self.dropped += int(ended.sum())
            self.keep(~ended if self.ending == "dropped" else ~dropped(self.grb & self._undecided()))

    def to_end(self) -> Walk:
        """All visits."""
        for _ in range(len(self.sequence)):
            self.step()
        return self

    def keep(self, chosen: npt.NDArray[np.bool_]) -> None:
        """Go on with some of the tuples."""
        if not chosen.all():
            self.rows, self.grb = self.rows[chosen], self.grb[chosen]
            self.geb, self.here = self.geb[chosen], self.here[chosen]

    def _undecided(self) -> Words:
        """Of each tuple the queries that some subject it has not visited yet could still make false."""
        ways, way = np.unique(self.geb, axis=0, return_inverse=True)
        return undecided(query_usage(self.sample.ascs), ways)[way.reshape(-1)]


def _targets(sample: Sample, sequence: Sequence, subject: int) -> Rows | None:
    """Per region of a subject where its micro-arrow leads to, -1 for none; None if it has no arrows at all."""
    arrows = [arrow for arrow in sequence.arrows if arrow.subject == subject]
    if not arrows:
        return None
    targets = np.full(sample.ascs[subject].regions, -1)
    targets[[arrow.region for arrow in arrows]] = [arrow.to for arrow in arrows]
    return targets


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

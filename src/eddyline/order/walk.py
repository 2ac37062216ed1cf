"""Tuples of a sample on their way along a sequence, all in step: for what is looked at between two visits.

The reference for what kernels count: plain array operations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import VisitOrder
from eddyline.order.sample_table import Ending, Rows, undecided
from eddyline.order.statistics import dropped


class Walk:
    """The tuples of a sample on their way, all making one visit a step.

    rows: the tuples that are left; of each of them `grb`, `geb` (visited subjects) and `here`, the subject of the last
    visit, -1 before the first. made: how many visits each tuple of the sample has made, those that are not left included.
    dropped: how many were, for want of queries.
    """

    def __init__(
        self, sample: Sample, sequence: VisitOrder, *, immediate: bool = True, ending: Ending = "dropped"
    ) -> None:
        self.sample, self.sequence, self.immediate, self.ending = sample, sequence, immediate, ending
        self.dropped = 0
        self.rows: Rows = np.arange(sample.tuples)
        self.grb = np.tile(sample.every, (sample.tuples, 1))
        self.geb = np.zeros((sample.tuples, sample.subjects), np.bool_)
        self.here: Rows = np.full(sample.tuples, -1)
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


def _targets(sample: Sample, sequence: VisitOrder, subject: int) -> Rows | None:
    """Per region of a subject where its micro-arrow leads to, -1 for none; None if it has no arrows at all."""
    arrows = [arrow for arrow in sequence.arrows if arrow.subject == subject]
    if not arrows:
        return None
    targets = np.full(sample.ascs[subject].regions, -1)
    targets[[arrow.region for arrow in arrows]] = [arrow.to for arrow in arrows]
    return targets

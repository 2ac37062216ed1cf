"""Sequences that grow by one subject a period, which is how the ASC papers find all of theirs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.model.asc import ASC, Words, covered
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.sample_table import SampleTable


@dataclass(frozen=True, slots=True)
class GrowthStep:
    """What may come next, measured in one period: what is left after the subjects chosen so far and one more.

    ones: of all GRBs at the queries that count, by subject. alive: the tuples that are not dropped.
    """

    ones: dict[int, int]
    alive: dict[int, int]


class GrowingStrategy(ABC):
    """A greedy strategy; subclasses say who may come next and how good it is.

    A subject without rival takes no period. Ties keep the order of the sequence in force.
    """

    def __init__(self, ascs: Sequence[ASC], start: VisitOrder) -> None:
        self.ascs = tuple(ascs)
        self.start = start
        self.chosen: list[int] = []
        self.alone: dict[int, int] = {}  # ones of each subject when visited first, from the first period
        self._skip()

    @property
    def ready(self) -> bool:
        return len(self.chosen) == len(self.ascs)

    def observe(self, sample: Sample) -> None:
        """Append the best subject by this period's tuples; an empty period tells nothing."""
        if not self.ready and sample.tuples:
            self.grow(sample)

    def grow(self, sample: Sample) -> None:
        """One step, on a period with tuples."""
        self.look(SampleTable(self._left(sample)))

    def look(self, met: SampleTable) -> None:
        """The same, of tuples that are laid out already."""
        if not self.alone:
            first, _ = met.grown((), range(len(self.ascs)), met.every)
            self.alone = dict(enumerate(first.tolist()))
        candidates = self.candidates()
        step = self._step(met, candidates)
        self.chosen.append(min(candidates, key=lambda subject: self.rank(step, subject)))
        self._skip()

    def propose(self) -> VisitOrder:
        """What is chosen comes first, the rest keeps its order; before the first choice all stays as it is."""
        return self.start if not self.chosen else VisitOrder((*self.chosen, *self._rest()))

    def candidates(self) -> tuple[int, ...]:
        """Who may come next."""
        return self._rest()

    def counted(self, met: SampleTable) -> Words:
        """The queries whose ones count in the next step."""
        return met.every

    @abstractmethod
    def rank(self, step: GrowthStep, subject: int) -> tuple[float, ...]:
        """How good a subject is as the next one: the lowest is appended."""

    def _step(self, met: SampleTable, candidates: tuple[int, ...]) -> GrowthStep:
        ones, alive = (each.tolist() for each in met.grown(self.chosen, candidates, self.counted(met)))
        return GrowthStep(*(dict(zip(candidates, each, strict=True)) for each in (ones, alive)))

    def _left(self, sample: Sample) -> Sample:
        """Without the tuples that the chosen subjects drop: they would tell nothing, and take most of the time."""
        if not covered([self.ascs[subject] for subject in self.chosen]):
            return sample
        rows, grb = np.arange(sample.tuples), sample.every
        for subject in self.chosen:
            grb = grb & sample.grb_words(subject, rows)
            alive = grb.any(axis=1)
            rows, grb = rows[alive], grb[alive]
        return Sample(sample.ascs, sample.regions[:, rows])

    def _rest(self) -> tuple[int, ...]:
        return tuple(subject for subject in self.start.subjects if subject not in self.chosen)

    def _skip(self) -> None:
        while not self.ready and len(rest := self.candidates()) == 1:
            self.chosen.append(rest[0])

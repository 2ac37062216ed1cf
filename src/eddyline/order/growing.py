"""Sequences that grow by one subject a period, which is how the ASC papers find all of theirs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence as List
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import ASC, Words
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.statistics import ones

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """What may come next, measured in one period.

    rows: the tuples not dropped by the subjects chosen so far. grb: what these leave of each of them.
    """

    sample: Sample
    rows: Rows
    grb: Words
    candidates: tuple[int, ...]

    def after(self, subject: int) -> Words:
        """The GRBs after one subject more."""
        return self.grb & self.sample.grb_words(subject, self.rows)


class Growing(ABC):
    """A greedy strategy; subclasses say who may come next and how good it is.

    A subject without rival takes no period. Ties keep the order of the sequence in force.
    """

    def __init__(self, ascs: List[ASC], start: Sequence) -> None:
        self.ascs = tuple(ascs)
        self.start = start
        self.chosen: list[int] = []
        self.alone: dict[int, int] = {}  # ones of each subject when visited first, from the first period
        self._last: Step | None = None
        self._depth = 0  # how many of the chosen subjects are in it
        self._skip()

    @property
    def ready(self) -> bool:
        return len(self.chosen) == len(self.ascs)

    def observe(self, sample: Sample) -> None:
        """Append the best subject by this period's tuples; an empty period tells nothing."""
        if self.ready or not sample.tuples:
            return
        step = self._step(sample)
        if not self.alone:
            self.alone = {i: ones(sample.grb_words(i)) for i in range(sample.subjects)}
        self.chosen.append(min(step.candidates, key=lambda subject: self.rank(step, subject)))
        self._skip()

    def propose(self) -> Sequence:
        """What is chosen comes first, the rest keeps its order; before the first choice all stays as it is."""
        return self.start if not self.chosen else Sequence((*self.chosen, *self._rest()))

    def candidates(self) -> tuple[int, ...]:
        """Who may come next."""
        return self._rest()

    @abstractmethod
    def rank(self, step: Step, subject: int) -> tuple[float, ...]:
        """How good a subject is as the next one: the lowest is appended."""

    def _step(self, sample: Sample) -> Step:
        """The place that has been reached; if a period is looked at once more, from where it was left."""
        last = self._last
        if last is not None and last.sample is sample:
            rows, grb, new = last.rows, last.grb, self.chosen[self._depth :]
        else:
            rows, grb, new = np.arange(sample.tuples), np.tile(sample.every, (sample.tuples, 1)), self.chosen
        for subject in new:
            grb = grb & sample.grb_words(subject, rows)
            alive = grb.any(axis=1)
            if not alive.all():
                rows, grb = rows[alive], grb[alive]
        self._last, self._depth = Step(sample, rows, grb, self.candidates()), len(self.chosen)
        return self._last

    def _rest(self) -> tuple[int, ...]:
        return tuple(subject for subject in self.start.subjects if subject not in self.chosen)

    def _skip(self) -> None:
        while not self.ready and len(rest := self.candidates()) == 1:
            self.chosen.append(rest[0])

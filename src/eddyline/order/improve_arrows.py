"""Micro-arrows by what they are for: fewer visits to the end of a tuple's way (ours, beyond ASC-2).

ASC-2 sets an arrow by what the next visit filters. Here each arrow is tried and the cost of the whole way is counted.
A tuple is in exactly one region of a subject, so one walk in which all regions of a subject lead to the same place tells
of every one of them what that is worth: n * n walks for the arrows of n subjects. They are decided again, a few times,
since what an arrow is worth depends on the others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.order.sample_table import Costs, Rows, SampleTable

ROUNDS: Final = 3
WORTH: Final = 0.001  # part of the cost that a round must save for another one


def improve_arrows(
    met: SampleTable, sequence: VisitOrder, *, costs: Costs | None = None, fewer: bool = False
) -> VisitOrder:
    """The sequence with other arrows, or without: the tuples of the sample cost no more than by either.

    fewer: only take arrows away.
    """
    trial = min(
        (_Trial(met, each, costs) for each in (sequence, VisitOrder(sequence.subjects))),
        key=lambda trial: float(trial.spent.sum()),
    )
    for _ in range(ROUNDS):
        before = trial.spent.sum()
        for subject in sequence.subjects:
            trial.improve(subject, () if fewer else sequence.subjects)
        if trial.spent.sum() > (1 - WORTH) * before:
            break
    return trial.sequence


class _Trial:
    """The arrows so far, as one target for each region of all subjects, and what each tuple costs with them."""

    def __init__(self, met: SampleTable, sequence: VisitOrder, costs: Costs | None) -> None:
        self.met, self.costs = met, costs
        self.order = np.array(sequence.subjects, np.int64)
        found = met.arrows(sequence)
        self.targets = found if len(found) else np.full(met.all_regions, -1, np.int64)
        self.spent = self._walked(self.targets)

    @property
    def sequence(self) -> VisitOrder:
        """With the arrows as sequences have them."""
        places = np.flatnonzero(self.targets >= 0)
        subjects = np.searchsorted(self.met.starts, places, side="right") - 1
        ends = zip(subjects, places - self.met.starts[subjects], self.targets[places], strict=True)
        arrows = tuple([Arrow(int(subject), int(region), int(to)) for subject, region, to in ends])
        return VisitOrder(tuple(self.order.tolist()), arrows)

    def improve(self, subject: int, ends: tuple[int, ...]) -> None:
        """Try no arrow and arrows to some ends, and give each region of a subject what saves the most beyond chance."""
        count = self.met.sample.ascs[subject].regions
        own = slice(self.met.starts[subject], self.met.starts[subject] + count)
        regions = self.met.regions[subject]
        chosen, best, spent = self.targets[own].copy(), np.zeros(count), self.spent
        tried = self.targets.copy()
        for to in (-1, *ends):
            if to == subject:
                continue
            tried[own] = to
            took = self._walked(tried)
            saved = _saved(self.spent - took, regions, count, certain=to < 0)
            better = saved > best
            chosen[better], best[better] = to, saved[better]
            spent = np.where(better[regions], took, spent)
        self.targets[own], self.spent = chosen, spent

    def _walked(self, targets: Rows) -> Costs:
        return self.met.along(self.order, targets, self.costs).spent


def _saved(saved: Costs, regions: npt.NDArray[np.int32], count: int, *, certain: bool) -> Costs:
    """Per region what is saved, less its standard error; no arrow at all needs no certainty."""
    total: Costs = np.bincount(regions, weights=saved, minlength=count).astype(np.float64)
    if certain:
        return total
    return np.asarray(total - np.sqrt(np.bincount(regions, weights=saved**2, minlength=count)))

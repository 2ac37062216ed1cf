"""Micro-arrows by what they are for: fewer visits to the end of a tuple's way (ours, beyond ASC-2).

ASC-2 sets an arrow by what the next visit filters. Here each arrow is tried and the visits of the whole way are counted.
A tuple is in exactly one region of a subject, so one walk in which all regions of a subject lead to the same place tells
of every one of them what that is worth: n * n walks for the arrows of n subjects, each no worse than the ones before.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.micro_arrows import Arrows, arrows_of
from eddyline.order.statistics import visits_of_tuples

Rows = npt.NDArray[np.int64]


def improve_arrows(sequence: Sequence, sample: Sample) -> Sequence:
    """The sequence with other arrows, under which the tuples of the sample make fewer visits, or the same."""
    visited = visits_of_tuples(sample, sequence)
    for subject in sequence.subjects:
        sequence, visited = _improve_subject(sequence, sample, subject, visited)
    return sequence


def _improve_subject(
    sequence: Sequence, sample: Sample, subject: int, visited: Rows
) -> tuple[Sequence, Rows]:
    """Try all arrows of one subject; gives the visits of each tuple too."""
    regions = sample.regions[subject]
    arrows = sequence.targets
    others = {key: to for key, to in arrows.items() if key[0] != subject}
    chosen = np.array([arrows.get((subject, i), -1) for i in range(sample.ascs[subject].regions)])
    for to in [-1, *(other for other in sequence.subjects if other != subject)]:
        tried = others | _everywhere(subject, regions, to)
        made = visits_of_tuples(sample, Sequence(sequence.subjects, arrows_of(tried)))
        better = _better(visited - made, regions, len(chosen))
        chosen[better] = to
        visited = np.where(better[regions], made, visited)
    own = {(subject, region): int(chosen[region]) for region in np.flatnonzero(chosen >= 0).tolist()}
    return Sequence(sequence.subjects, arrows_of(others | own)), visited


def _everywhere(subject: int, regions: npt.NDArray[np.int32], to: int) -> Arrows:
    return {} if to < 0 else {(subject, region): to for region in np.unique(regions).tolist()}


def _better(saved: Rows, regions: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.bool_]:
    """In which regions visits are saved by more than chance would have it: a sum beyond its standard error."""
    total = np.bincount(regions, weights=saved, minlength=count)
    squares = np.bincount(regions, weights=saved.astype(np.float64) ** 2, minlength=count)
    return np.asarray((total > 0) & (total**2 > squares))

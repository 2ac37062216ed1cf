"""The best and the worst of all orders, exactly: after a set of subjects the same tuples are left in whatever order.

    cost({a, b, c}) = least over the last subject x of: cost(without x) + cost of a visit to x * tuples left without x

So 2^n sets are looked at instead of n! orders. Micro-arrows are no part of this.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.errors import SettingsError
from eddyline.model.asc import Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.sequence import Sequence
from eddyline.order.statistics import Ending, undecided

MOST_SUBJECTS: Final = 16
_SCRATCH_WORDS: Final = 1 << 20
Counts = npt.NDArray[np.int64]


def best_order(sample: Sample, *, costs: List[float] | None = None, ending: Ending = "dropped") -> Sequence:
    """The order of least cost: ASCs visited, or each visit at the cost of its subject."""
    return _order(sample, costs, ending, sign=1)


def worst_order(sample: Sample, *, costs: List[float] | None = None, ending: Ending = "dropped") -> Sequence:
    """The order of greatest cost."""
    return _order(sample, costs, ending, sign=-1)


def survivors_of_sets(sample: Sample, ending: Ending = "dropped") -> Counts:
    """How many tuples are left after each set of subjects; subject i is bit i of a set's number."""
    regions, weights = np.unique(sample.regions, axis=1, return_counts=True)
    distinct = Sample(sample.ascs, regions)
    left = np.zeros(1 << sample.subjects, np.int64)
    wanted = _undecided(sample) if ending == "completed" else None
    step = max(1, _SCRATCH_WORDS // (len(left) * sample.words))
    for first in range(0, distinct.tuples, step):
        part = distinct.part(first, first + step)
        grb = np.tile(sample.every, (1, part.tuples, 1))
        for subject in range(sample.subjects):
            grb = np.concatenate([grb, grb & part.grb_words(subject)])
        if wanted is not None:
            grb &= wanted
        left += grb.any(axis=2) @ weights[first : first + step]
    left[0] = sample.tuples
    return left


def _undecided(sample: Sample) -> Words:
    """The queries that are not decided after each set, (sets, 1, words)."""
    sets = np.arange(1 << sample.subjects)[:, None]
    visited = sets >> np.arange(sample.subjects) & 1 == 1
    return undecided(query_usage(sample.ascs), visited)[:, None]


def _order(sample: Sample, costs: List[float] | None, ending: Ending, *, sign: int) -> Sequence:
    count = sample.subjects
    if count > MOST_SUBJECTS:
        raise SettingsError(
            f"an exact order takes at most {MOST_SUBJECTS} subjects, this set has {count}",
            hint="macro, hybrid, sas and macssas order any number",
        )
    left = survivors_of_sets(sample, ending)
    each = sign * np.asarray(costs if costs is not None else [1.0] * count, np.float64)
    sizes = np.bitwise_count(np.arange(len(left)))
    total = np.where(sizes == 0, 0.0, np.inf)
    last = np.zeros(len(left), np.int64)
    for size in range(1, count + 1):
        for subject in range(count):
            sets = np.flatnonzero((sizes == size) & (np.arange(len(left)) >> subject & 1 == 1))
            before = sets ^ (1 << subject)
            cost = total[before] + left[before] * each[subject]
            better = cost < total[sets]
            total[sets[better]], last[sets[better]] = cost[better], subject
    return Sequence(_walk_back(last))


def _walk_back(last: Counts) -> tuple[int, ...]:
    """The subjects of the full set, from the choices of the last one in every set."""
    remaining, order = len(last) - 1, []
    while remaining:
        order.append(int(last[remaining]))
        remaining ^= 1 << order[-1]
    return tuple(reversed(order))

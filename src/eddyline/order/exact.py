"""The best and the worst of all orders, exactly: after a set of subjects the same tuples are left in whatever order.

    cost({a, b, c}) = least over the last subject x of: cost(without x) + cost of a visit to x * tuples left without x

So 2^n sets are looked at instead of n! orders. Micro-arrows are no part of this.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from typing import Final

import numpy as np

from eddyline.errors import SettingsError
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.met import Costs, Ending, Met

MOST_SUBJECTS: Final = 16
TIE: Final = 1e-6  # what a visit counts that only decides between orders of the same cost


def best_order(
    sample: Sample,
    *,
    costs: List[float] | None = None,
    ending: Ending = "dropped",
    ties: Ending | None = None,
) -> Sequence:
    """The order of least cost: ASCs visited, or each visit at the cost of its subject.

    ties: of orders that cost the same the one that would be the cheapest if ways ended there.
    """
    return best_of(Met(sample), costs=costs, ending=ending, ties=ties)


def best_of(met: Met, *, costs: List[float] | None, ending: Ending, ties: Ending | None) -> Sequence:
    """The same, of tuples that are laid out already."""
    left = survivors(met, ending)
    if ties is not None:
        left += TIE * survivors(met, ties)
    return _order(met, left, costs, sign=1)


def worst_order(sample: Sample, *, costs: List[float] | None = None, ending: Ending = "dropped") -> Sequence:
    """The order of greatest cost."""
    met = Met(sample)
    return _order(met, survivors(met, ending), costs, sign=-1)


def survivors(met: Met, ending: Ending = "dropped") -> Costs:
    """How many tuples are left after each set of subjects; subject i is bit i of a set's number."""
    count = met.sample.subjects
    if count > MOST_SUBJECTS:
        raise SettingsError(
            f"an exact order takes at most {MOST_SUBJECTS} subjects, this set has {count}",
            hint="macro, hybrid, sas and macssas order any number",
        )
    return met.survivors(ending)


def _order(met: Met, left: Costs, costs: List[float] | None, *, sign: int) -> Sequence:
    each = sign * np.asarray(costs if costs is not None else [1.0] * met.sample.subjects, np.float64)
    return Sequence(met.cheapest(left, each))

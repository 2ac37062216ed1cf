"""The best of all orders, exactly: after a set of subjects the same tuples are left in whatever order.

    cost({a, b, c}) = least over the last subject x of: cost(without x) + cost of a visit to x * tuples left without x

So 2^n sets are looked at instead of n! orders. Micro-arrows are no part of this.
"""

from __future__ import annotations

from typing import Final

from eddyline.errors import SettingsError
from eddyline.model.visit_order import VisitOrder
from eddyline.order.sample_table import Costs, Ending, SampleTable

MOST_SUBJECTS: Final = 16
TIE: Final = 1e-6  # what a visit counts that only decides between orders of the same cost


def best_order(met: SampleTable, costs: Costs, *, ending: Ending, ties: Ending | None = None) -> VisitOrder:
    """The order of least cost, each visit at the cost of its subject.

    ties: of orders that cost the same the one that would be the cheapest if ways ended there.
    """
    left = survivors(met, ending)
    if ties is not None:
        left += TIE * survivors(met, ties)
    return VisitOrder(met.cheapest(left, costs))


def survivors(met: SampleTable, ending: Ending = "dropped") -> Costs:
    """How many tuples are left after each set of subjects; subject i is bit i of a set's number."""
    count = met.sample.subjects
    if count > MOST_SUBJECTS:
        raise SettingsError(
            f"an exact order takes at most {MOST_SUBJECTS} subjects, this set has {count}",
            hint="macro, hybrid, sas and macssas order any number",
        )
    return met.survivors(ending)

"""Orders made cheaper on a sample, one subject moved at a time (ours, beyond the papers).

    A3 A1 A4 A2    without A4: A3 A1 A2, and one look at the tuples tells what A4 costs at each of its four places:
                   those before it are visited by what the others leave, those after it by what A4 leaves of that

Each subject is put where it costs the least, until nothing can be gained so. Then two stretches of the order change
places, drawn by lot, from where other orders are within reach. In trials with 10 and 15 subjects ten such kicks found the
best of all orders nearly always.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from eddyline.order.sample_table import Costs, Ending, SampleTable

Order = tuple[int, ...]


def improve_order(
    met: SampleTable,
    starts: Sequence[Order],
    *,
    costs: Costs | None = None,
    ending: Ending = "dropped",
    kicks: int = 0,
) -> Order:
    """The cheapest order found from some whole ones; the first of those that cost the same."""
    each = np.ones(met.sample.subjects) if costs is None else costs
    found = [met.descend(start, each, ending) for start in dict.fromkeys(starts)]
    best, cost = min(found, key=lambda order: order[1])
    lots = random.Random(0)
    for _ in range(kicks if len(best) > 2 else 0):
        tried, tried_cost = met.descend(_kicked(best, lots), each, ending)
        if tried_cost < cost:
            best, cost = tried, tried_cost
    return best


def _kicked(order: Order, lots: random.Random) -> Order:
    """Two neighbouring stretches in each other's place."""
    one, two, three = sorted(lots.sample(range(len(order) + 1), 3))
    return (*order[:one], *order[two:three], *order[one:two], *order[three:])

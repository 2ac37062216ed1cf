"""ASC-1, figure 8: immediate against delayed pruning, over the number of p-attributes.

Expected: immediate pruning is far cheaper than delayed pruning, and the difference grows with the number of p-attributes.

D1, 40 queries, 20 p-attributes, 236 predicates, a least cover set of 5; with fewer p-attributes as many predicates on each.
The order is MACSSAS's. Delayed pruning visits all ASCs before it drops a tuple.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bench.experiments import orders, plots, sets
from bench.experiments.course import found
from bench.experiments.data import uniform
from bench.experiments.query_sets import query_set
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTRIBUTES = (8, 11, 14, 17, 20)
NAMES = ("immediate", "delayed")


def run(scale: Scale) -> Result:
    """Visits a tuple for both kinds of pruning."""
    data = uniform(scale.tuples(5_000_000, 20_000))
    rows: list[Row] = []
    for attributes in ATTRIBUTES:
        queries = query_set(sets.pruned(attributes))
        order = found("macssas", orders.learning_sample(queries, data))
        for name in NAMES:
            visits = orders.cost(queries, data, order, immediate=name == "immediate")
            rows.append({"series": name, "p-attributes": attributes, "ASCs visited a tuple": visits})
    gaps = [
        rows[2 * i + 1]["ASCs visited a tuple"] - rows[2 * i]["ASCs visited a tuple"]
        for i in range(len(ATTRIBUTES))
    ]
    claims = (
        Claim(
            "immediate pruning visits at most two thirds with 20 p-attributes",
            rows[-2]["ASCs visited a tuple"] <= rows[-1]["ASCs visited a tuple"] * 2 / 3,
            f"{rows[-2]['ASCs visited a tuple']:.2f} to {rows[-1]['ASCs visited a tuple']:.2f}",
        ),
        Claim(
            "the difference grows with the p-attributes",
            all(one < other for one, other in pairwise(gaps)),
            ", ".join(f"{gap:.2f}" for gap in gaps),
        ),
    )
    return Result("asc-1-figure-8", *head_of(__doc__), {"tuples": data.tuples}, tuple(rows), claims)


def plot(result: Result) -> Figure:
    """Visits over p-attributes."""
    figure, (axes,) = plots.picture()
    plots.lines(axes, result, NAMES, "p-attributes", "ASCs visited a tuple")
    axes.set_ylim(0)
    axes.set_xticks(ATTRIBUTES)
    axes.legend(fontsize=8)
    return figure

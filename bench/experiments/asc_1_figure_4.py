"""ASC-1, figure 4: time over the number of predicates, equalities only.

Expected: the linked list is clearly the slowest and grows with the number of predicates; grouped filter, red-black tree
and ASC show no clear difference.

One attribute with values 0..999, 5,000,000 tuples, one predicate a query. The paper gives total time; here it is CPU time
a tuple, until the bitmap of matching queries stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import one_attribute, plots
from bench.experiments.result import Claim, Result, each, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TREES = ("grouped filter", "red-black tree", "ASC")


def run(scale: Scale) -> Result:
    """Measured for every index and number of predicates."""
    rows, parameters = one_attribute.measured(scale, {"": ("=",)})
    last = one_attribute.at_most_predicates(rows)
    first = one_attribute.at_fewest_predicates(rows)
    three = [last[name] for name in TREES]
    claims = (
        Claim("the list is slowest", last["linked list"] > 2 * max(three), each(list(last.items())) + " us"),
        Claim(
            "the list grows with the predicates",
            last["linked list"] > 3 * first["linked list"],
            f"{first['linked list']:.3g} to {last['linked list']:.3g} us",
        ),
        Claim(
            "the other three are alike, within a factor of 2",
            max(three) <= 2 * min(three),
            each([(name, last[name]) for name in TREES]) + " us",
        ),
    )
    return Result("asc-1-figure-4", *head_of(__doc__), parameters, rows, claims)


def plot(result: Result) -> Figure:
    """Time over predicates, on a logarithmic axis."""
    figure, (axes,) = plots.picture()
    plots.lines(axes, result, one_attribute.NAMES, "predicates", "microseconds a tuple")
    axes.set_yscale("log")
    axes.legend(fontsize=8)
    return figure

"""ASC-1, figure 5: time over the number of predicates, inequalities only.

Expected: ASC is clearly the best and hardly grows; the grouped filter walks its trees in sequence and grows; the red-black
tree visits every node and every operator in it and is the worst.

Data as in figure 4. The paper has two panels and does not say how they differ: here (a) has < and >, (b) <= and >=.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import one_attribute, plots
from bench.experiments.result import Claim, Result, each, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {"(a) < and >": ("<", ">"), "(b) <= and >=": ("<=", ">=")}


def run(scale: Scale) -> Result:
    """Measured for every index and number of predicates."""
    rows, parameters = one_attribute.measured(scale, PANELS)
    claims = []
    for panel in PANELS:
        last, first = (
            one_attribute.at_most_predicates(rows, panel),
            one_attribute.at_fewest_predicates(rows, panel),
        )
        others = [value for name, value in last.items() if name != "ASC"]
        claims += [
            Claim(
                f"{panel[:3]} ASC is clearly the best",
                3 * last["ASC"] < min(others),
                each(list(last.items())) + " us",
            ),
            Claim(
                f"{panel[:3]} the grouped filter grows with the predicates",
                last["grouped filter"] > 3 * first["grouped filter"],
                f"{first['grouped filter']:.3g} to {last['grouped filter']:.3g} us",
            ),
            Claim(
                f"{panel[:3]} the red-black tree is the worst",
                last["red-black tree"] == max(last.values()),
                f"red-black tree {last['red-black tree']:.3g}, linked list {last['linked list']:.3g} us",
            ),
        ]
    return Result("asc-1-figure-5", *head_of(__doc__), parameters, rows, tuple(claims))


def plot(result: Result) -> Figure:
    """Time over predicates, on a logarithmic axis."""
    figure, panels = plots.picture(2)
    for axes, panel in zip(panels, PANELS, strict=True):
        plots.lines(axes, result.only(panel=panel), one_attribute.NAMES, "predicates", "microseconds a tuple")
        axes.set_yscale("log")
        axes.set_title(panel, fontsize=9)
    panels[0].legend(fontsize=7)
    return figure

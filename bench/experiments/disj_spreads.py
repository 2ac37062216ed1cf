"""DISJ, figures 9 to 15: what an index gains by how bounds are drawn, which the paper does not say.

Expected: nothing is told of it. Ours: with 100 boxes bitmaps are no loss for depth-first and mixed in any setting, with 20 boxes
none for breadth-first.

The paper's defaults, but for the boxes of the stream, how far bounds of queries spread, and where bounds may lie. The other figures
have a bound in each half and a spread of 5 (`disj_predicates.py` says why).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.experiments import plots
from bench.experiments.disj_matching import LIMIT, TIME, measured, pairs
from bench.experiments.disj_pairs import PLACES, SPREAD, SPREADS
from bench.experiments.disj_predicates import Shape
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOXES: Final = {"BFS": 20, "DFS": 100, "MIX": 100}  # of the stream, by strategy
GAIN: Final = "times quicker by bitmaps"


def run(scale: Scale) -> Result:
    """The gain of each strategy for each way to draw bounds."""
    rows = [
        {"panel": place, SPREAD: spread, "series": name, GAIN: gain}
        for place, anywhere in PLACES.items()
        for spread in SPREADS
        for name, gain in _gains(spread, anywhere, scale).items()
    ]
    count, many = pairs(scale)
    parameters: Row = {"queries": count, "streams": many, "limit of comparisons": LIMIT}
    return Result("disj-spreads", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _gains(spread: float, anywhere: bool, scale: Scale) -> dict[str, float]:
    found = {}
    for name, boxes in BOXES.items():
        shape = Shape(stream_boxes=boxes, spread=spread, bounds_anywhere=anywhere)
        without, by_bitmaps = measured((name, f"{name}, bitmaps"), shape, scale)
        found[name] = without[TIME] / by_bitmaps[TIME]
    return found


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    def told(name: str) -> str:
        by_place = {
            place: [f"{row[GAIN]:.3g}" for row in rows if (row["panel"], row["series"]) == (place, name)]
            for place in PLACES
        }
        return "; ".join(f"{place}: {', '.join(gains)}" for place, gains in by_place.items())

    return tuple(
        Claim(
            f"{name} does not lose by bitmaps with {boxes} boxes",
            min(row[GAIN] for row in rows if row["series"] == name) >= 1,
            told(name),
        )
        for name, boxes in BOXES.items()
    )


def plot(result: Result) -> Figure:
    """Gains over the spread."""
    figure, panels = plots.picture(len(PLACES))
    for axes, place in zip(panels, PLACES, strict=True):
        plots.lines(axes, result.only(panel=place), tuple(BOXES), SPREAD, GAIN)
        axes.set_yscale("log")
        axes.set_title(place, fontsize=8)
    panels[0].legend(fontsize=8)
    return figure

"""DISJ, section 6.2: how many of 1,200 pairs match, by exact matching and by heuristics.

Expected: exact matching finds 933 matches, the heuristics with the quick check 660, HSR without it none.

60 queries of 3 boxes with 20 streams of 30 boxes, 3 dimensions of which each box bounds a random choice. The paper does not say
how far bounds of queries spread, nor how two bounds make an interval: both are varied, over several draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.experiments import plots
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.result import Claim, Result, Row, head_of, mean
from bench.experiments.scale import Scale
from eddyline.implication.box_index import PrefixBitmaps
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import DEPTH_FIRST, exact_matching
from eddyline.implication.matching import Stream
from eddyline.implication.simple_relaxation import simple_relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREADS: Final = (2.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 40.0)
PLACES: Final = {"a bound in each half": False, "bounds anywhere": True}
THE_PAPERS: Final = {"EM": 933, "heuristics": 660}
MATCHED: Final = "pairs matched of 1,200"
SPREAD: Final = "standard deviation of bounds"


def run(scale: Scale) -> Result:
    """The matches for each spread, way to make intervals, and draw."""
    draws = scale.steps(10, 3)
    rows = [
        {"panel": name, SPREAD: spread, "draw": draw, "series": series, MATCHED: found}
        for name, anywhere in PLACES.items()
        for spread in SPREADS
        for draw in range(1, draws + 1)
        for series, found in _matched(spread, anywhere, draw).items()
    ]
    return Result("disj-pairs", *head_of(__doc__), {"draws": draws}, tuple(rows), _claims(rows))


def _matched(spread: float, anywhere: bool, draw: int) -> dict[str, int]:
    shape = Shape(3, 3, 30, infinite=True, spread=spread, bounds_anywhere=anywhere)
    asked = queries(shape, 60, draw)
    found = {"EM": 0, "heuristics": 0}
    for predicate in streams(shape, 20, draw):
        stream = Stream(predicate, PrefixBitmaps(predicate))
        for query in asked:
            found["EM"] += exact_matching(stream, query, DEPTH_FIRST).matched
            simple = simple_relaxation(stream, query).matched
            assert simple == complex_relaxation(stream, query).matched, (
                "both heuristics rely on the quick check"
            )
            assert not simple_relaxation(stream, query, quick=False).matched
            found["heuristics"] += simple
    return found


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    def at(panel: str, spread: float) -> tuple[float, float]:
        where = {"panel": panel, SPREAD: spread}
        return mean(rows, MATCHED, series="EM", **where), mean(rows, MATCHED, series="heuristics", **where)

    settings = {(panel, spread): at(panel, spread) for panel in PLACES for spread in SPREADS}

    def distance(setting: tuple[str, float]) -> float:
        exact, simple = settings[setting]
        return abs(exact - THE_PAPERS["EM"]) + abs(simple - THE_PAPERS["heuristics"])

    def found(panel: str) -> str:
        each = {spread: settings[panel, spread] for spread in SPREADS}
        return ", ".join(f"{spread:g} {exact:.0f}/{simple:.0f}" for spread, (exact, simple) in each.items())

    nearest = min(settings, key=distance)
    return (
        Claim(
            "exact matching finds more matches than the heuristics, for all spreads",
            all(exact > simple for exact, simple in settings.values()),
            "; ".join(f"{panel}: {found(panel)}" for panel in PLACES),
        ),
        Claim(
            "some setting comes within 5% of 933 and 660",
            abs(settings[nearest][0] / 933 - 1) <= 0.05 and abs(settings[nearest][1] / 660 - 1) <= 0.05,
            f"nearest is {nearest[0]}, {nearest[1]:g}: {settings[nearest][0]:.0f} and {settings[nearest][1]:.0f}",
        ),
    )


def plot(result: Result) -> Figure:
    """Matches over the spread, and the paper's."""
    figure, panels = plots.picture(2)
    for axes, panel in zip(panels, PLACES, strict=True):
        plots.lines(axes, result.only(panel=panel), tuple(THE_PAPERS), SPREAD, MATCHED)
        for height in THE_PAPERS.values():
            axes.axhline(height, color="#777777", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.set_title(panel, fontsize=8)
    panels[0].legend(fontsize=8)
    return figure

"""DISJ, figures 9 to 11: matching time over dimensions, boxes of the query, boxes of the stream.

Expected: breadth-first exact matching grows exponentially without an index; with one it gains about two orders of magnitude (one
less where boxes leave dimensions unbounded) and can compete with HCR; HSR is quickest.

Defaults 6 dimensions, 2 and 20 boxes; 60 queries with 20 streams. R-tree as in the paper, bitmaps are ours. The time is CPU
time; an index is there before the query comes. "At least 50 times" and "at least 5 times" are our bars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.experiments.disj_matching import LIMIT, TIME, draw, gains, pairs, sweeps
from bench.experiments.disj_predicates import Shape
from bench.experiments.result import Claim, Result, Row, head_of, mean
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES: Final = ("HSR", "HCR", "BFS", "BFS, R-tree", "BFS, bitmaps")
FINITE: Final = "all dimensions bounded"
INFINITE: Final = "some unbounded"


def run(scale: Scale) -> Result:
    """All three sweeps, with boxes that bound all dimensions and with such that bound some."""
    rows = sweeps(NAMES, Shape(), scale, space=FINITE)
    rows += sweeps(NAMES, Shape(infinite=True), scale, space=INFINITE)
    count, many = pairs(scale)
    parameters: Row = {"queries": count, "streams": many, "limit of comparisons": LIMIT}
    return Result("disj-figures-9-to-11", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    finite, infinite = ([row for row in rows if row["space"] == space] for space in (FINITE, INFINITE))
    bounded, unbounded = gains(finite, "BFS", "BFS, bitmaps"), gains(infinite, "BFS", "BFS, bitmaps")
    trees = gains(finite, "BFS", "BFS, R-tree")
    time_of = {name: mean(finite, TIME, series=name, panel="dimensions", at=6) for name in NAMES}
    return (
        Claim(
            "with the paper's defaults breadth-first gains at least 50 times by our index",
            bounded.by_default >= 50,
            str(bounded),
        ),
        Claim(
            "and at least 50 times at the end of each sweep", bounded.least_at_the_ends >= 50, str(bounded)
        ),
        Claim(
            "with unbounded dimensions it gains at least 5 times, by default and at the ends",
            min(unbounded.by_default, unbounded.least_at_the_ends) >= 5,
            str(unbounded),
        ),
        Claim(
            "by the paper's R-tree it gains at the end of each sweep", trees.least_at_the_ends > 1, str(trees)
        ),
        Claim(
            "with our index it is not slower than HCR",
            time_of["BFS, bitmaps"] <= time_of["HCR"],
            f"{time_of['BFS, bitmaps']:.3f} and {time_of['HCR']:.3f} ms",
        ),
        Claim(
            "HSR is quickest",
            min(time_of, key=time_of.__getitem__) == "HSR",
            f"{time_of['HSR']:.3f} ms by default",
        ),
    )


def plot(result: Result) -> Figure:
    """Three sweeps, twice."""
    return draw(result, {FINITE: NAMES, INFINITE: NAMES}, "space")

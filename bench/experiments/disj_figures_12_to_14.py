"""DISJ, figures 12 to 14: split strategies without an index, with an R*-tree, with bitmaps.

Expected: depth-first and mixed outperform breadth-first, more so with more dimensions and boxes, and differ little; an R*-tree is
no gain for them, since boxes must be deleted and inserted again and again.

The sweeps of figures 9 to 11. Bitmaps are ours: an inactive box is a cleared bit, and there should be no loss at 20 boxes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.experiments.disj_matching import LIMIT, Gains, draw, gains, pairs, sweeps
from bench.experiments.disj_predicates import Shape
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES: Final = {"without an index": "", "with an R*-tree": ", R*-tree", "with bitmaps": ", bitmaps"}
NAMES: Final = {
    index: [strategy + suffix for strategy in ("BFS", "DFS", "MIX")] for index, suffix in SUFFIXES.items()
}


def run(scale: Scale) -> Result:
    """All nine over the same pairs."""
    index_of = {name: index for index, names in NAMES.items() for name in names}
    rows = [{"index": index_of[row["series"]], **row} for row in sweeps(index_of, Shape(), scale)]
    count, many = pairs(scale)
    parameters: Row = {"queries": count, "streams": many, "limit of comparisons": LIMIT}
    return Result("disj-figures-12-to-14", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    deep = {name: gains(rows, "BFS", name) for name in ("DFS", "MIX")}
    trees = {name: gains(rows, name, f"{name}, R*-tree") for name in ("DFS", "MIX")}
    maps = {name: gains(rows, name, f"{name}, bitmaps") for name in ("DFS", "MIX")}

    def text(found: dict[str, Gains]) -> str:
        return "; ".join(f"{name}: {each}" for name, each in found.items())

    return (
        Claim(
            "depth-first and mixed outperform breadth-first at the end of each sweep",
            min(each.least_at_the_ends for each in deep.values()) > 1,
            text(deep),
        ),
        Claim(
            "depth-first and mixed lose by the paper's index",
            max(each.by_default for each in trees.values()) < 1,
            text(trees),
        ),
        Claim(
            "by our index they do not, wherever a stream has 20 boxes",
            min(each.least_with_20_boxes for each in maps.values()) >= 1,
            "; ".join(f"{name}: least {each.least_with_20_boxes:.3g}, {each}" for name, each in maps.items()),
        ),
    )


def plot(result: Result) -> Figure:
    """Three sweeps for each kind of index."""
    return draw(result, NAMES, "index")

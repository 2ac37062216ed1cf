"""DISJ, figure 15: matching time over many boxes of the stream.

Expected: depth-first and mixed are comparable to HCR up to 50 boxes; at 500 boxes HCR is about three times quicker. Breadth-first
is missing, since it runs out of memory past 30 boxes.

Our bars: bitmaps make depth-first and mixed at least 10 times quicker from 100 boxes on; at 500 boxes they are not slower than
HCR with the same index, by the median and the 95th percentile, without time-outs, and what they hold while matching stays below
1 MB. 5,000 boxes are shown.
"""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any, Final

from bench.experiments import plots
from bench.experiments.disj_matching import LIMIT, TIME, measured, pairs
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.result import Claim, Result, Row, each, head_of
from bench.experiments.scale import Scale
from eddyline.implication.box_index import PrefixBitmaps
from eddyline.implication.exact_matching import DEPTH_FIRST, MIXED, exact_matching
from eddyline.implication.matching import Stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES: Final = ("HSR", "HCR", "HCR, bitmaps", "DFS", "DFS, bitmaps", "MIX", "MIX, bitmaps")
BOXES: Final = (20, 50, 100, 200, 500, 5_000)
SIZE: Final = "boxes of the stream"
DEEP: Final = ("DFS", "MIX")
MEGABYTE: Final = 2**20


def run(scale: Scale) -> Result:
    """All over the same pairs; then what exact matching holds at 500 boxes."""
    rows = [
        {SIZE: boxes, **row} for boxes in BOXES for row in measured(NAMES, Shape(stream_boxes=boxes), scale)
    ]
    count, many = pairs(scale)
    held = {strategy.name: _most_held(strategy, scale) for strategy in (DEPTH_FIRST, MIXED)}
    parameters: Row = {"queries": count, "streams": many, "limit of comparisons": LIMIT, "bytes held": held}
    return Result("disj-figure-15", *head_of(__doc__), parameters, tuple(rows), _claims(rows, held))


def _most_held(strategy: Any, scale: Scale) -> int:
    """The most bytes that matching with a stream of 500 boxes has allocated at one time, beside predicates and index."""
    count, _ = pairs(scale)
    shape, most = Shape(stream_boxes=500), 0
    predicate = streams(shape, 1)[0]
    stream = Stream(predicate, PrefixBitmaps(predicate))
    tracemalloc.start()
    for query in queries(shape, count):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        exact_matching(stream, query, strategy)
        most = max(most, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    return most


def _claims(rows: list[Row], held: dict[str, int]) -> tuple[Claim, ...]:
    at = {(row["series"], row[SIZE]): row for row in rows}
    gain = {
        (name, boxes): at[name, boxes][TIME] / at[f"{name}, bitmaps", boxes][TIME]
        for name in DEEP
        for boxes in BOXES
        if boxes >= 100
    }
    fewer = {
        (name, boxes): at[name, boxes]["comparisons a pair"]
        / at[f"{name}, bitmaps", boxes]["comparisons a pair"]
        for name, boxes in gain
    }
    hcr = at["HCR, bitmaps", 500]
    exact = {name: at[f"{name}, bitmaps", 500] for name in DEEP}
    late = {name: row["time-outs"] for name, row in exact.items()}
    plain = {name: at[name, 500][TIME] for name in ("HCR", *DEEP)}
    return (
        Claim(
            "without an index HCR is quicker than exact matching at 500 boxes",
            plain["HCR"] < min(plain["DFS"], plain["MIX"]),
            each(list(plain.items())) + " ms",
        ),
        Claim(
            "bitmaps make depth-first and mixed at least 10 times quicker from 100 boxes on",
            min(gain.values()) >= 10,
            f"{_by_size(gain)}; comparisons {_by_size(fewer)} times fewer",
        ),
        Claim(
            "at 500 boxes exact matching by bitmaps is not slower than HCR by bitmaps: median",
            max(row["median"] for row in exact.values()) <= hcr["median"],
            each([(name, row["median"]) for name, row in exact.items()]) + f", HCR {hcr['median']:.3g} ms",
        ),
        Claim(
            "and 95th percentile",
            max(row["95th percentile"] for row in exact.values()) <= hcr["95th percentile"],
            each([(name, row["95th percentile"]) for name, row in exact.items()])
            + f", HCR {hcr['95th percentile']:.3g} ms",
        ),
        Claim("without time-outs", not any(late.values()), each(list(late.items()))),
        Claim(
            "and holds less than 1 MB",
            max(held.values()) < MEGABYTE,
            each([(name, held[name] / 1024) for name in DEEP]) + " kB",
        ),
    )


def _by_size(found: dict[tuple[str, int], float]) -> str:
    return ", ".join(f"{name} {boxes}: {times:.3g}" for (name, boxes), times in found.items())


def plot(result: Result) -> Figure:
    """Means and 95th percentiles over boxes, both axes logarithmic."""
    figure, panels = plots.picture(2)
    for axes, column in zip(panels, (TIME, "95th percentile"), strict=True):
        plots.lines(axes, result, NAMES, SIZE, column)
        axes.set_xscale("log")
        axes.set_yscale("log")
    panels[0].legend(fontsize=6)
    return figure

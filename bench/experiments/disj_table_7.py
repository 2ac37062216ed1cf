"""DISJ, table 7: what a stream lets pass after it was relaxed for four queries, one by one.

Expected: HSR and EM give the same selectivity, 66.31, 66.37, 66.37, 66.44%, since both are exact; HCR lets at most 3.5 points more
pass: 66.31, 67.93, 69.26, 69.82%.

One stream (6 dimensions, 20 boxes, bounds from 4 values) and four queries (2 boxes, bounds from 6 values), a million uniform
items. The paper has one draw, which it does not print; here are several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from bench.experiments import plots
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.result import Claim, Result, Row, Spread, head_of
from bench.experiments.scale import Scale
from eddyline.implication.boxes import Predicate
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import DEPTH_FIRST, exact_matching
from eddyline.implication.matching import Matching, Stream
from eddyline.implication.simple_relaxation import simple_relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHAPE: Final = Shape(query_values=6, stream_values=4)
STEPS: Final = ("p_A", "p_B", "p_C", "p_D")
PASSING: Final = "selectivity (%)"
Items = npt.NDArray[np.float64]
MATCHERS: Final[dict[str, Callable[[Stream, Predicate], Matching]]] = {
    "HSR": lambda stream, query: simple_relaxation(stream, query, quick=False),
    "HSR+QC": simple_relaxation,
    "HCR": complex_relaxation,
    "EM": lambda stream, query: exact_matching(stream, query, DEPTH_FIRST),
}


def run(scale: Scale) -> Result:
    """Selectivities by draw, algorithm and step."""
    items = np.random.default_rng(7).uniform(0, 100, (scale.tuples(1_000_000, 50_000), SHAPE.dimensions))
    draws = scale.steps(20, 10, least=2)
    rows = [row for draw in range(1, draws + 1) for row in _relaxed(draw, items)]
    parameters = {"items": len(items), "draws": draws}
    return Result("disj-table-7", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _relaxed(draw: int, items: Items) -> list[Row]:
    asked = queries(SHAPE, len(STEPS), seed=draw)
    rows: list[Row] = []
    for name, match in MATCHERS.items():
        predicate = streams(SHAPE, 1, seed=draw)[0]
        for step, query in zip(STEPS, asked, strict=True):
            predicate = match(Stream(predicate), query).predicate
            passing = 100 * _passing(predicate, items)
            rows.append(
                {"series": name, "step": step, "draw": draw, PASSING: passing, "boxes": len(predicate.boxes)}
            )
    return rows


def _passing(predicate: Predicate, items: Items) -> float:
    """The share of items that a predicate lets pass."""
    found = np.zeros(len(items), bool)
    for box in predicate.boxes:
        inside = np.ones(len(items), bool)
        for dimension, low, high in box.sides:
            column = items[:, dimension]
            inside &= (column >= low[0]) & (column <= high[0])
        found |= inside
    return float(found.mean())


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    by: dict[Any, dict[str, float]] = {}
    for row in rows:
        by.setdefault((row["draw"], row["step"]), {})[row["series"]] = row[PASSING]
    more = Spread.of([found["HCR"] - found["EM"] for (_, step), found in by.items() if step == STEPS[-1]])
    exact = [found["EM"] for (_, step), found in by.items() if step == STEPS[0]]
    boxes = {name: max(row["boxes"] for row in rows if row["series"] == name) for name in MATCHERS}
    return (
        Claim(
            "HSR, with and without the quick check, and EM let the same items pass",
            all(found["HSR"] == found["HSR+QC"] == found["EM"] for found in by.values()),
            f"{len(by)} predicates, {Spread.of(exact).mean:.1f}% after the first query",
        ),
        Claim(
            "HCR lets at most 3.5 points more pass",
            more.most <= 3.5,
            f"{more.mean:.2f} after the fourth query, from {more.least:.2f} to {more.most:.2f}",
        ),
        Claim(
            "HCR adds no box, EM fewer than HSR",
            boxes["HCR"] == SHAPE.stream_boxes and boxes["EM"] <= boxes["HSR+QC"] <= boxes["HSR"],
            ", ".join(f"{name} {count} boxes at most" for name, count in boxes.items()),
        ),
    )


def plot(result: Result) -> Figure:
    """Bars by step, means over the draws."""
    figure, (axes,) = plots.picture()
    found = {name: list(result.series(name, "step", PASSING).values()) for name in MATCHERS}
    plots.bars(axes, STEPS, found, PASSING)
    axes.legend(fontsize=8, loc="lower right")
    return figure

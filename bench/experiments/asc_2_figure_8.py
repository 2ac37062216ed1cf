"""ASC-2, figure 8: how much micro-arrows help, over the deviation of ones in qrb.

Expected: as the standard deviation grows, the micro ratio (visits by micro-arrow among all visits after the first) grows and
the relative cost (hybrid to macro) falls.

D1 with Q4: 50 queries, 362 predicates, 10 p-attributes; the share of inequalities moves the deviation. Averages over
several query sets; a visit counts as one by micro-arrow where it goes elsewhere than the macro-sequence would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import course, orders, plots, rearranged, sets
from bench.experiments.data import Data, uniform
from bench.experiments.query_sets import QuerySet, query_set
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.statistics import Walk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANGES = (0.05, 0.2, 0.4, 0.6, 0.8)
NAMES = ("micro ratio", "relative cost")


def run(scale: Scale) -> Result:
    """Both ratios for sets of growing deviation."""
    data, count = uniform(scale.tuples(500_000, 20_000)), scale.steps(7, 5)
    rows: list[Row] = []
    for ranges in RANGES:
        made = [query_set(sets.fourth(ranges, seed)) for seed in range(1, count + 1)]
        deviation = sum(queries.deviation for queries in made) / count
        ratios = [_ratios(queries, data, scale) for queries in made]
        for place, name in enumerate(NAMES):
            value = sum(pair[place] for pair in ratios) / count
            rows.append(
                {"series": name, "standard deviation": deviation, "ratio": value, "inequalities": ranges}
            )
    parameters = {"tuples": data.tuples, "query sets": count}
    return Result("asc-2-figure-8", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def micro_ratio(sample: Sample, sequence: Sequence) -> float:
    """The share of visits by micro-arrow among all visits after the first."""
    walk = Walk(sample, sequence)
    walk.step()
    micro = total = 0
    for _ in range(len(sequence) - 1):
        if not walk.left:
            break
        micro += int((walk.next() != walk.macro_next()).sum())
        total += walk.left
        walk.step()
    return micro / total if total else 0.0


def _ratios(queries: QuerySet, data: Data, scale: Scale) -> tuple[float, float]:
    macro, hybrid = (rearranged.adapted(queries, data, scale, name) for name in ("macro", "hybrid"))
    return micro_ratio(orders.learning_sample(queries, data), hybrid.last), _cost(hybrid) / _cost(macro)


def _cost(made: course.Course) -> float:
    return made.cost


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    by_deviation = sorted(rows, key=lambda row: row["standard deviation"])
    micro = [row["ratio"] for row in by_deviation if row["series"] == "micro ratio"]
    relative = [row["ratio"] for row in by_deviation if row["series"] == "relative cost"]
    return (
        Claim("the micro ratio grows with the deviation", _trend(micro) >= 0.8, _arrow(micro)),
        Claim("the relative cost falls with the deviation", _trend(relative) <= -0.8, _arrow(relative)),
        Claim(
            "hybrid costs less than macro with the largest deviation", relative[-1] < 1, f"{relative[-1]:.3f}"
        ),
    )


def _trend(values: list[float]) -> float:
    """Rank correlation with the place in the list."""
    ranks = [sorted(values).index(value) for value in values]
    n = len(values)
    return 1 - 6 * sum((rank - place) ** 2 for place, rank in enumerate(ranks)) / (n * (n * n - 1))


def _arrow(values: list[float]) -> str:
    return " -> ".join(f"{value:.3f}" for value in values)


def plot(result: Result) -> Figure:
    """Both ratios over the deviation."""
    figure, (axes,) = plots.picture()
    ordered = tuple(sorted(result.rows, key=lambda row: row["standard deviation"]))
    shown = Result(result.name, result.title, result.expected, result.parameters, ordered, result.claims)
    plots.lines(axes, shown, NAMES, "standard deviation", "ratio")
    axes.axhline(1, color="#999999", linewidth=0.8, linestyle=":")
    axes.set_ylim(0)
    axes.set_xlabel("standard deviation of ones in qrb, as a share of the queries")
    axes.legend(fontsize=8)
    return figure

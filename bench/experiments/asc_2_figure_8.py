"""ASC-2, figure 8: how much micro-arrows help, over the deviation of ones in qrb.

Expected: as the standard deviation grows, the micro ratio (visits by micro-arrow among all visits after the first) grows and
the relative cost (hybrid to macro) falls.

D1 with Q4: 50 queries, 362 predicates, 10 p-attributes; the share of inequalities moves the deviation. Averages over
several query sets; a visit counts as one by micro-arrow where it goes elsewhere than the macro-sequence would. Beside the paper's
own macro and hybrid stand ours, which leave arrows less to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench.experiments import course, orders, plots, rearranged, sets
from bench.experiments.data import Data, uniform
from bench.experiments.query_sets import QuerySet, query_set
from bench.experiments.result import Claim, Result, Row, head_of, mean
from bench.experiments.scale import Scale
from eddyline.config import StrategyName
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.walk import Walk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANGES = (0.05, 0.2, 0.4, 0.6, 0.8)
NAMES = ("micro ratio", "relative cost")
Adapted = Callable[[QuerySet, Data, Scale, StrategyName], course.Course]
WHOSE: Final[dict[str, Adapted]] = {
    "the paper's": rearranged.adapted_as_in_the_paper,
    "our": rearranged.adapted,
}


def run(scale: Scale) -> Result:
    """Both ratios for sets of growing deviation."""
    data, count = uniform(scale.tuples(500_000, 20_000)), scale.steps(10, 10)
    rows: list[Row] = []
    for ranges in RANGES:
        made = [query_set(sets.fourth(ranges, seed)) for seed in range(1, count + 1)]
        deviation = sum(queries.deviation for queries in made) / count
        for seed, queries in enumerate(made, start=1):
            row: Row = {"set": seed, "standard deviation": deviation, "inequalities": ranges}
            for whose, adapted in WHOSE.items():
                ratios = zip(NAMES, ratios_of(queries, data, scale, adapted), strict=True)
                rows += [{"of": whose, "series": name, "ratio": ratio, **row} for name, ratio in ratios]
    parameters = {"tuples": data.tuples, "query sets": count}
    return Result("asc-2-figure-8", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def micro_ratio(sample: Sample, sequence: VisitOrder) -> float:
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


def ratios_of(queries: QuerySet, data: Data, scale: Scale, adapted: Adapted) -> tuple[float, float]:
    """Both ratios for one query set."""
    macro, hybrid = (adapted(queries, data, scale, name) for name in ("macro", "hybrid"))
    return micro_ratio(orders.learning_sample(queries, data), hybrid.last), hybrid.cost / macro.cost


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    deviations = sorted({row["standard deviation"] for row in rows})
    claims = []
    for whose in WHOSE:
        micro, relative = (
            [mean(rows, "ratio", of=whose, series=name, **{"standard deviation": at}) for at in deviations]
            for name in NAMES
        )
        claims += [
            Claim(f"{whose}: the micro ratio grows with the deviation", _trend(micro) >= 0.8, _arrow(micro)),
            Claim(f"{whose}: the relative cost falls with it", _trend(relative) <= -0.8, _arrow(relative)),
            Claim(
                f"{whose}: hybrid costs less than macro with the largest deviation",
                relative[-1] < 1,
                f"{relative[-1]:.3f}",
            ),
        ]
    return tuple(claims)


def _trend(values: list[float]) -> float:
    """Rank correlation with the place in the list."""
    ranks = [sorted(values).index(value) for value in values]
    n = len(values)
    return 1 - 6 * sum((rank - place) ** 2 for place, rank in enumerate(ranks)) / (n * (n * n - 1))


def _arrow(values: list[float]) -> str:
    return " -> ".join(f"{value:.3f}" for value in values)


def plot(result: Result) -> Figure:
    """Both ratios over the deviation."""
    figure, panels = plots.picture(2)
    ordered = sorted(result.rows, key=lambda row: row["standard deviation"])
    for axes, whose in zip(panels, WHOSE, strict=True):
        own = replace(result, rows=tuple(ordered)).only(of=whose)
        plots.lines(axes, own, NAMES, "standard deviation", "ratio")
        axes.set_title(f"{whose} macro and hybrid", fontsize=9)
        axes.axhline(1, color="#999999", linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 1.15)
        axes.set_xlabel("standard deviation of ones in qrb")
    panels[1].legend(fontsize=8, loc="lower right")
    return figure

"""Costs over time under several kinds of change, against the best order in hindsight: what the experiments beyond the papers
have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.baselines.orders import best_order
from bench.experiments import course, plots
from bench.experiments.result import Claim, Result, Row, mean
from bench.experiments.thresholds import smooth
from eddyline.model.sample import Sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HINDSIGHT: Final = "best in hindsight"
LEARNT_FROM: Final = 8_000  # tuples that the best order of a piece is found from, at most
SMOOTH: Final = 5  # periods whose mean is drawn
# by kind and series: how much more than the best in hindsight, as a share
Excess = dict[str, dict[str, float]]


def in_hindsight(pieces: Iterable[Sequence[Sample]], period: int) -> course.Course:
    """The exact best order of every piece of a stream, known before it comes."""
    costs: list[float] = []
    for piece in pieces:
        order = best_order(joined(piece).part(0, LEARNT_FROM))
        costs += course.run_fixed(piece, order, period).costs
    return course.Course(period, tuple(costs), (), order)


def joined(stream: Sequence[Sample]) -> Sample:
    """Periods as one sample."""
    return Sample(stream[0].ascs, np.concatenate([each.regions for each in stream], axis=1))


def rows_of(kind: str, courses: Mapping[str, course.Course]) -> list[Row]:
    """One row for each period and series."""
    return [
        {"kind": kind, "series": name, "tuples": i * each.period, "visits": cost, "smooth": shown}
        for name, each in courses.items()
        for i, (cost, shown) in enumerate(zip(each.costs, smooth(each.costs, SMOOTH), strict=True))
    ]


def excess(rows: Sequence[Row], kinds: Sequence[str], names: Sequence[str]) -> Excess:
    """How far every series is above the best in hindsight, on the whole."""
    best = {kind: mean(rows, "visits", kind=kind, series=HINDSIGHT) for kind in kinds}
    return {
        kind: {name: mean(rows, "visits", kind=kind, series=name) / best[kind] - 1 for name in names}
        for kind in kinds
    }


def near(at: Excess, name: str, kinds: Sequence[str], but: str = "") -> Claim:
    """That a series comes within 10% of the best in hindsight, under some kinds of change."""
    return Claim(
        f"{name} is within 10% of the best in hindsight{but}",
        all(at[kind][name] <= 0.1 for kind in kinds),
        told(at, name),
    )


def told(at: Excess, name: str) -> str:
    """A series in words."""
    return ", ".join(f"{kind} {100 * each[name]:+.0f}%" for kind, each in at.items())


def plot(result: Result, kinds: Sequence[str], names: Sequence[str], dotted: Sequence[str] = ()) -> Figure:
    """A panel for each of four kinds, one legend above them."""
    figure, panels = plots.grid(2, 2)
    for place, (axes, kind) in enumerate(zip(panels, kinds, strict=True)):
        part = result.only(kind=kind)
        plots.lines(axes, part, names, "tuples", "smooth", marks=False, dashed=(HINDSIGHT,), dotted=dotted)
        # the legend stands below the upper titles
        axes.set_title(kind, fontsize=9, pad=20 if place < 2 else 4)
        axes.set_ylabel("ASCs visited a tuple")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.locator_params("x", nbins=5)
        axes.tick_params(labelsize=8)
    legend = panels[0].legend(fontsize=7, ncols=len(names), loc="lower left", bbox_to_anchor=(-0.12, 0.995))
    legend.set_in_layout(False)
    return figure

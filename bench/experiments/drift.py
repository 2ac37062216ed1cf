"""Beyond the papers: cost over time under four kinds of drift, against the best order in hindsight.

Expected: after every change macro, hybrid and adaptive come back near the best order in hindsight; a fixed order stays above
it; under adversarial drift, which turns as soon as an order has been found, adapting gains little.

Q4 of ASC-2, whose queries use 7 of 10 attributes, so that many orders cover them. A scene is a distribution: high values on some attributes, low on the others.
abrupt: four scenes, one after the other; gradual: the share of the new scene grows slowly; recurring: two scenes in turn;
adversarial: two scenes in turn, changed whenever a rearrangement is just done. In hindsight: the exact best order of
every tenth of the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.experiments import course, plots, sets
from bench.experiments.data import UNIT, VALUES, Data
from bench.experiments.query_sets import QuerySet, query_set
from bench.experiments.result import Claim, Result, Row, head_of, mean
from bench.experiments.samples import sample_of
from bench.experiments.scale import Scale
from bench.experiments.thresholds import smooth
from eddyline.config import OrderSettings, StrategyName
from eddyline.model.sample import Sample
from eddyline.order.exact import best_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGIES: Final[tuple[StrategyName, ...]] = ("macro", "hybrid", "adaptive")
NAMES: Final = ("fixed", "ticket", *STRATEGIES, "best in hindsight")
KINDS: Final = ("abrupt", "gradual", "recurring", "adversarial")
SCENES: Final = 4
ATTRIBUTES: Final = 20


def run(scale: Scale) -> Result:
    """Cost over time by kind of drift and strategy."""
    tuples, period = scale.tuples(500_000, 80_000), scale.steps(200, 200, least=50)
    queries = query_set(sets.fourth(0.4))
    rows: list[Row] = []
    for kind in KINDS:
        data = drifting(kind, tuples, period, len(queries.attributes))
        for name, each in _courses(queries, data, period).items():
            rows += [
                {"drift": kind, "series": name, "tuples": i * period, "visits": cost, "smooth": shown}
                for i, (cost, shown) in enumerate(zip(each.costs, smooth(each.costs, 10), strict=True))
            ]
    parameters = {"tuples": tuples, "tau": period, "lambda": 5 * period, "mu": 0.0}
    return Result("beyond-drift", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def drifting(kind: str, tuples: int, period: int, subjects: int) -> Data:
    """A stream of the given kind of drift, in units of 1,000 tuples."""
    rng = np.random.default_rng(41)
    scenes = rng.random((SCENES, ATTRIBUTES)) < 0.5
    share = _shares(kind, tuples, period, subjects)

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        one, other, chance = share(first)
        second = rng.random(count) < chance
        high = np.where(second, scenes[other][:, None], scenes[one][:, None])
        low = rng.integers(0, 30, (ATTRIBUTES, count), dtype=np.int16)
        return np.where(high, VALUES - 1 - low, low).astype(np.int16)

    return Data(kind, ATTRIBUTES, tuples, (VALUES,) * ATTRIBUTES, draw, 42)


def _shares(kind: str, tuples: int, period: int, subjects: int) -> Callable[[int], tuple[int, int, float]]:
    """By place in the stream: a scene, another one, and the chance of the other."""
    part = tuples // SCENES
    # a rearrangement takes lambda and a period a subject; just then the scene changes
    turn = max(UNIT, round((5 + subjects) * period / UNIT) * UNIT)
    match kind:
        case "abrupt":
            return lambda place: (min(place // part, SCENES - 1), 0, 0.0)
        case "gradual":
            return lambda place: (0, 1, place / tuples)
        case "recurring":
            return lambda place: (place // (part // 2) % 2, 0, 0.0)
        case _:
            return lambda place: (place // turn % 2, 0, 0.0)


def _courses(queries: QuerySet, data: Data, period: int) -> dict[str, course.Course]:
    stream = list(course.periods(queries, data, period))
    warm = sample_of(queries, data.piece(0, min(data.tuples, 4_000)))
    start = best_order(warm)
    made = {"fixed": course.run_fixed(stream, start, period)}
    made["ticket"] = course.run_tickets(stream, OrderSettings())
    for name in STRATEGIES:
        settings = OrderSettings(strategy=name, period=period, check_every=5 * period, threshold=0.0)
        made[name] = course.run(stream, settings, start)
    made["best in hindsight"] = _hindsight(stream, period)
    return made


def _hindsight(stream: list[Sample], period: int) -> course.Course:
    """The exact best order of every tenth of the stream, known before it comes."""
    size = max(1, len(stream) // 10)
    costs: list[float] = []
    for first in range(0, len(stream), size):
        piece = stream[first : first + size]
        whole = Sample(piece[0].ascs, np.concatenate([each.regions for each in piece], axis=1))
        order = best_order(whole.part(0, 8_000))
        costs += course.run_fixed(piece, order, period).costs
    return course.Course(period, tuple(costs), (), order)


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    at = {kind: {name: mean(rows, "visits", drift=kind, series=name) for name in NAMES} for kind in KINDS}
    calm, sudden = KINDS[:3], ("abrupt", "recurring")
    claims = [
        Claim(
            f"{name} is within 10% of the best in hindsight, but under adversarial drift",
            all(at[kind][name] <= 1.1 * at[kind]["best in hindsight"] for kind in calm),
            _against(at, name),
        )
        for name in STRATEGIES
    ]
    claims.append(
        Claim(
            "a fixed order is more than 10% above it under abrupt and recurring drift",
            all(at[kind]["fixed"] > 1.1 * at[kind]["best in hindsight"] for kind in sudden),
            _against(at, "fixed"),
        )
    )
    claims.append(
        Claim(
            "under adversarial drift hybrid gains little over a fixed order: less than 5%",
            at["adversarial"]["hybrid"] > 0.95 * at["adversarial"]["fixed"],
            f"{at['adversarial']['fixed']:.2f} fixed, {at['adversarial']['hybrid']:.2f} hybrid",
        )
    )
    return tuple(claims)


def _against(at: dict[str, dict[str, float]], name: str) -> str:
    best = {kind: at[kind]["best in hindsight"] for kind in KINDS}
    return ", ".join(f"{kind} {100 * (at[kind][name] / best[kind] - 1):+.0f}%" for kind in KINDS)


def plot(result: Result) -> Figure:
    """A panel for each kind of drift."""
    figure, panels = plots.grid(2, 2)
    for axes, kind in zip(panels, KINDS, strict=True):
        own = tuple(row for row in result.rows if row["drift"] == kind)
        part = Result(result.name, result.title, result.expected, result.parameters, own, result.claims)
        plots.lines(axes, part, NAMES, "tuples", "smooth", marks=False, dashed=("best in hindsight",))
        axes.set_title(
            kind, fontsize=9, pad=22 if kind in KINDS[:2] else 4
        )  # the legend stands below the upper titles
        axes.set_ylabel("ASCs visited a tuple")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    panels[0].legend(fontsize=7, ncols=6, loc="lower left", bbox_to_anchor=(0.0, 1.0)).set_in_layout(False)
    return figure

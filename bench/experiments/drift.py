"""Beyond the papers: cost over time under four kinds of drift, against the best order in hindsight.

Expected: after every change macro, hybrid and adaptive come back near the best order in hindsight; a fixed order stays above
it; under adversarial drift, which turns as soon as an order has been found, adapting gains little.

Q4 of ASC-2, whose queries use 7 of 10 attributes, so that many orders cover them. A scene is a distribution: high values on
some attributes, low on the others. abrupt: four scenes, one after the other; gradual: the share of the new scene grows
slowly; recurring: two scenes in turn; adversarial: two scenes in turn, changed whenever a rearrangement is just done. In
hindsight: the exact best order of every fortieth of the stream, which is shorter than any scene.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.baselines.orders import best_order
from bench.experiments import course, over_time, sets
from bench.experiments.data import UNIT, VALUES, Data
from bench.experiments.query_sets import QuerySet, query_set
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.samples import sample_of
from bench.experiments.scale import Scale
from eddyline.config import OrderSettings, StrategyName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGIES: Final[tuple[StrategyName, ...]] = ("macro", "hybrid", "adaptive")
NAMES: Final = ("fixed", "ticket", *STRATEGIES, over_time.HINDSIGHT)
KINDS: Final = ("abrupt", "gradual", "recurring", "adversarial")
SCENES: Final = 4
PIECES: Final = 40  # of the stream, each with its best order in hindsight
ATTRIBUTES: Final = 20


def run(scale: Scale) -> Result:
    """Cost over time by kind of drift and strategy."""
    tuples, period = scale.tuples(500_000, 80_000), scale.steps(200, 200, least=50)
    queries = query_set(sets.fourth(0.4))
    rows: list[Row] = []
    for kind in KINDS:
        data = drifting(kind, tuples, period, len(queries.attributes))
        rows += over_time.rows_of(kind, _courses(queries, data, period))
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
    start = best_order(sample_of(queries, data.piece(0, min(data.tuples, 4_000))))
    made = {"fixed": course.run_fixed(stream, start, period)}
    plain = OrderSettings(period=period, check_every=5 * period, threshold=0.0)
    made["ticket"] = course.run_tickets(stream, plain)
    for name in STRATEGIES:
        made[name] = course.run(stream, replace(plain, strategy=name), start)
    size = max(1, len(stream) // PIECES)
    pieces = [stream[first : first + size] for first in range(0, len(stream), size)]
    made[over_time.HINDSIGHT] = over_time.in_hindsight(pieces, period)
    return made


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    at = over_time.excess(rows, KINDS, NAMES)
    fixed, hybrid = at["adversarial"]["fixed"], at["adversarial"]["hybrid"]
    return (
        *[over_time.near(at, name, KINDS[:3], ", but under adversarial drift") for name in STRATEGIES],
        Claim(
            "a fixed order is more than 10% above it under abrupt and recurring drift",
            all(at[kind]["fixed"] > 0.1 for kind in ("abrupt", "recurring")),
            over_time.told(at, "fixed"),
        ),
        Claim(
            "under adversarial drift hybrid gains little over a fixed order: less than 5%",
            1 + hybrid > 0.95 * (1 + fixed),
            f"{100 * fixed:+.0f}% fixed, {100 * hybrid:+.0f}% hybrid",
        ),
    )


def plot(result: Result) -> Figure:
    """A panel for each kind of drift."""
    return over_time.plot(result, KINDS, NAMES)

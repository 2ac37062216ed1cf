"""Costs of ASC-2's schemes over a stream: worst and best fixed order, ticket, and macro and hybrid rearranged at every lambda."""

from __future__ import annotations

from typing import Final

from bench.experiments import course, orders
from bench.experiments.course import Course, Make
from bench.experiments.data import Data
from bench.experiments.query_sets import QuerySet
from bench.experiments.samples import sample_of
from bench.experiments.scale import Scale
from eddyline.config import OrderSettings, StrategyName
from eddyline.model.visit_order import VisitOrder
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.factory import make_strategy
from eddyline.order.strategies.hybrid import Hybrid
from eddyline.order.strategies.macro import Macro
from eddyline.order.strategies.strategy import find_sequence

NAMES: Final = ("SEQ worst", "ticket", "macro", "hybrid", "SEQ best")
PLAIN: Final = {"macro": "macro, the paper's", "hybrid": "hybrid, the paper's arrows"}
CHECK_EVERY: Final = 10_000
WARM_UP: Final = 20  # periods


def settings(scale: Scale, strategy: StrategyName) -> OrderSettings:
    """Lambda = 10,000 tuples and mu = 0 as in the paper; tau, which it does not name, is 500 tuples."""
    period = scale.steps(500, 500, least=50)
    every = max(period, scale.steps(CHECK_EVERY, CHECK_EVERY) // period * period)
    return OrderSettings(strategy=strategy, period=period, check_every=every, threshold=0.0)


def costs(queries: QuerySet, data: Data, scale: Scale) -> dict[str, float]:
    """ASCs visited by a tuple, by scheme, after the warm-up; the best fixed order knows all tuples before they come."""
    first = _warm_up(data, settings(scale, "macro"))
    rest = sample_of(queries, data.piece(first, data.tuples - first))
    extremes = orders.extremes(queries, data, rest)
    found = {name: count_visits(rest, order).visited_each for name, order in extremes.items()}
    found["ticket"] = orders.ticket_cost(queries, data, scale.tuples(200_000, 5_000))
    found |= {name: adapted(queries, data, scale, name).cost for name in ("macro", "hybrid")}
    return found


def adapted(queries: QuerySet, data: Data, scale: Scale, strategy: StrategyName) -> Course:
    """A strategy that starts with what it finds on the first tuples and then goes on as the paper says."""
    chosen = settings(scale, strategy)
    return _course(queries, data, chosen, lambda ascs, start: make_strategy(strategy, ascs, start=start))


def adapted_as_in_the_paper(
    queries: QuerySet, data: Data, scale: Scale, strategy: StrategyName = "hybrid"
) -> Course:
    """The same as the paper has it, without what is ours: see `order.macro` and `order.hybrid`."""
    kind = Macro if strategy == "macro" else Hybrid
    return _course(
        queries, data, settings(scale, strategy), lambda ascs, start: kind(ascs, start, refine=False)
    )


def _course(queries: QuerySet, data: Data, chosen: OrderSettings, make: Make) -> Course:
    first = _warm_up(data, chosen)
    ascs, numbers = queries.index.ascs, tuple(range(len(queries.attributes)))
    warm = sample_of(queries, data.piece(0, first))
    start = find_sequence(make(ascs, VisitOrder(numbers)), warm, period=chosen.period)
    return course.run(course.periods(queries, data, chosen.period, first), chosen, start, make=make)


def _warm_up(data: Data, chosen: OrderSettings) -> int:
    return min(data.tuples // 2, WARM_UP * chosen.period)

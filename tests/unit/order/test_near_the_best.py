"""Macro and hybrid beside the best fixed order and ticket routing, on query sets with ASC-2's parameters.

Sequences are found on tuples that come first and counted on others that come later; the best fixed order knows these.
`asc_2_figure_6.py` has ten sets for each of the data sets; those here are the first of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.baselines.orders import best_order
from bench.experiments import course, sets
from bench.experiments.census import census
from bench.experiments.data import Data, bell, pulse
from bench.experiments.query_sets import QuerySet, Spec, query_set
from bench.experiments.samples import sample_of
from eddyline.config import OrderSettings, StrategyName
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.improve_order import improve_order
from eddyline.order.sample_table import SampleTable
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.factory import make_strategy
from eddyline.order.strategies.ticket import Ticket, route
from tests.conftest import some

PERIOD = 250
WARM_UP = 15 * PERIOD  # hybrid takes one period less than there are subjects
OURS: tuple[StrategyName, ...] = ("macro", "hybrid")


def best(sample: Sample) -> float:
    """Exact on a few tuples, then made cheaper on all of them."""
    few = best_order(sample.part(0, 1_000))
    order = improve_order(SampleTable(sample), [few.subjects], kicks=3)
    return count_visits(sample, VisitOrder(order)).visited_each


def tickets(queries: QuerySet, data: Data, tuples: int) -> float:
    """The lottery, which learns before it is counted."""
    lottery = make_strategy("ticket", queries.index.ascs)
    assert isinstance(lottery, Ticket)
    half = tuples // 2
    sample = sample_of(queries, data.spread(tuples))
    route(sample.part(0, half), lottery.tickets)
    return route(sample, lottery.tickets).visited_each


@pytest.mark.parametrize("seed", some(range(1, 11), quick=(1, 2, 3)))
def test_bell_shaped(seed: int) -> None:
    check_where_nothing_changes(sets.first(seed), bell)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(1, 6), quick=(1,)))
def test_census_like(seed: int) -> None:
    check_where_nothing_changes(sets.second(seed), census)


def check_where_nothing_changes(spec: Spec, make: Callable[[int], Data]) -> None:
    queries, data = query_set(spec), make(WARM_UP + 10_000)
    seen = sample_of(queries, data.piece(0, WARM_UP))
    later = sample_of(queries, data.piece(WARM_UP, 10_000))
    cost = {name: count_visits(later, course.found(name, seen, period=PERIOD)).visited_each for name in OURS}
    least = best(later)
    assert cost["hybrid"] <= least
    assert cost["macro"] <= 1.05 * least
    assert max(cost.values()) < tickets(queries, data, 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(1, 6), quick=(1,)))
def test_pulse(seed: int) -> None:
    """Low values, then high ones, rearranged at every lambda: no fixed order is right for both halves."""
    queries, data = query_set(sets.first(seed)), pulse(80_000)
    later = sample_of(queries, data.piece(WARM_UP, data.tuples - WARM_UP))
    cost = {}
    for name in OURS:
        settings = OrderSettings(strategy=name, period=PERIOD, check_every=20 * PERIOD, threshold=0.0)
        start = course.found(name, sample_of(queries, data.piece(0, WARM_UP)), period=PERIOD)
        cost[name] = course.run(course.periods(queries, data, PERIOD, WARM_UP), settings, start).cost
    least = best(later)
    assert cost["hybrid"] <= least
    assert cost["macro"] <= 1.05 * least
    assert max(cost.values()) < tickets(queries, data, 2_000)

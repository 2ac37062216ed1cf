"""CACQ's table 3: filters that a tuple visits, counted until every query is decided, against the exact optimum."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bench.experiments.cacq_routing_cost import BOUNDS, expected, optimum
from eddyline.functions.evaluate import Evaluation
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.sample_table import Ending
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.factory import make_strategy
from eddyline.order.strategies.strategy import find_sequence
from eddyline.order.strategies.ticket import Tickets, route
from tests.unit.order.samples import index_of, sample_of

QUERIES = [
    " AND ".join(f"A{i} > {bound}" for i, bound in enumerate(BOUNDS[: last + 1], start=1))
    for last in range(5)
]
WARM_UP, REST = 1_000, 20_000
WORST = VisitOrder((4, 3, 2, 1, 0))


def sample(tuples: int, seed: int) -> Sample:
    """Five nested queries over whole numbers 0 to 99."""
    values = np.random.default_rng(seed).integers(0, 100, (5, tuples))
    columns = {f"A{i}": pa.array(row, pa.int32()) for i, row in enumerate(values, start=1)}
    return sample_of(index_of(QUERIES, [pa.int32()] * 5), Evaluation(columns, rows=tuples), tuples)


@pytest.fixture(scope="module")
def rest() -> Sample:
    return sample(REST, seed=0)


@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("ending", ["completed", "dropped"])
def test_adaptive_is_within_2_percent_of_the_optimum(ending: Ending, seed: int, rest: Sample) -> None:
    """Also for an executor in which all orders that begin with A1 are alike: it takes the one that decides soonest."""
    strategy = make_strategy("adaptive", rest.ascs, start=WORST, ending=ending)
    order = find_sequence(strategy, sample(WARM_UP, seed), period=200)
    assert expected(order.subjects) <= 1.02 * optimum()[1]
    assert count_visits(rest, order, ending="completed").visited_each <= 1.02 * float(optimum()[1])


@pytest.mark.parametrize("seed", range(1, 11))
def test_what_is_in_force_is_left_for_what_decides_sooner(seed: int) -> None:
    """A1 comes first already; only an executor that lets go of decided tuples gains by another order of the rest."""
    start, seen = VisitOrder((0, 4, 3, 2, 1)), sample(WARM_UP, seed)
    strategy = make_strategy("adaptive", seen.ascs, start=start, ending="completed")
    assert expected(find_sequence(strategy, seen).subjects) <= 1.02 * optimum()[1]
    strategy = make_strategy("adaptive", seen.ascs, start=start, ending="dropped")
    assert find_sequence(strategy, seen) == start


@pytest.mark.parametrize("seed", range(1, 6))
def test_lotteries(seed: int, rest: Sample) -> None:
    """1.3 by tickets in the paper, 3.2 at random; 3.1 is what random routing needs on average."""
    tickets = Tickets([5, 4, 3, 2, 1], seed=seed)
    route(sample(WARM_UP, seed), tickets, ending="completed")
    assert float(optimum()[1]) < route(rest, tickets, ending="completed").visited_each <= 1.4
    evenly = Tickets([0] * 5, seed=seed)
    assert route(rest, evenly, ending="completed").visited_each == pytest.approx(3.1, abs=0.05)

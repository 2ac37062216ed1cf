"""CACQ's lottery: tickets, back-pressure, and the filters that a tuple of table 3 visits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bench.baselines.orders import best_order
from eddyline.functions.evaluate import Evaluation
from eddyline.model.sample import Sample
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.ticket import Tickets, route
from tests.unit.order.samples import draw_sample, index_of, sample_from, sample_of

TABLE_3 = [
    " AND ".join(f"A{i} > {bound}" for i, bound in enumerate((90, 70, 50, 30, 10)[: last + 1], start=1))
    for last in range(5)
]


@pytest.fixture(scope="module")
def table_3() -> Sample:
    """Five nested queries over whole numbers 0 to 99; every value of `a` as often as any other."""
    values = np.random.default_rng(1).integers(0, 100, (5, 4000))
    values[0] = np.arange(4000) % 100
    index = index_of(TABLE_3, [pa.int32()] * 5)
    columns = {f"A{i}": pa.array(row, pa.int32()) for i, row in enumerate(values, start=1)}
    return sample_of(index, Evaluation(columns, rows=4000, time_zone="UTC"), 4000)


def test_tickets() -> None:
    tickets = Tickets([3, 2])
    tickets.routed(0)
    tickets.dropped(0)
    tickets.routed(1)
    tickets.returned(1)
    assert tickets.held == [4, 1] and tickets.waiting == [0, 0]
    assert tickets.shares == (0.8, 0.2)
    tickets.apply(0, 9)
    tickets.routed(0)
    tickets.apply(0, 20)
    tickets.returned(0)
    assert tickets.held[0] == 1, "never below one"
    tickets.apply(2, 5)
    assert tickets.predicates == [20, 2, 5] and tickets.held[2] == 1


def test_lottery_by_weight() -> None:
    tickets = Tickets([1, 1, 1], seed=7)
    tickets.held = [1, 6, 3]
    drawn = [tickets.draw([0, 1, 2]) for _ in range(4000)]
    assert [drawn.count(i) / 4000 for i in range(3)] == pytest.approx([0.1, 0.6, 0.3], abs=0.03)
    assert {tickets.draw([0, 2]) for _ in range(100)} == {0, 2}


def test_back_pressure() -> None:
    tickets = Tickets([1, 1], queue=2)
    tickets.held = [1, 10**6]
    for _ in range(2):
        tickets.routed(1)
    assert {tickets.draw([0, 1]) for _ in range(50)} == {0}
    assert tickets.draw([1]) is None and tickets.draw([]) is None
    tickets.dropped(1)
    assert tickets.draw([1]) == 1


def test_table_3(table_3: Sample) -> None:
    """1.1377 at best (integers 0 to 99); the paper measures 1.3 by tickets and 3.2 at random."""
    order = best_order(table_3, ending="completed")
    best = count_visits(table_3, order, ending="completed").visited_each
    assert order.subjects == (0, 1, 2, 3, 4) and best == pytest.approx(1.1377, abs=0.005)
    tickets = Tickets([5, 4, 3, 2, 1])
    route(table_3, tickets, ending="completed")
    assert best <= route(table_3, tickets, ending="completed").visited_each <= 1.4
    evenly = Tickets([0] * 5)
    assert route(table_3, evenly, ending="completed").visited_each == pytest.approx(3.1, abs=0.1)
    assert route(table_3, evenly, skip=True).visited_each == pytest.approx(2.6, abs=0.1)


def test_nothing_to_ask_for() -> None:
    sample = sample_from(["", "A1 > 3"], [(1.0,), (5.0,)])
    assert route(sample, Tickets([1])).visited == 2
    nothing = sample_from([""], [(1.0,)])
    assert route(nothing, Tickets([0]), skip=True).visited == 0


@pytest.mark.parametrize("seed", range(5))
def test_drops_what_any_order_drops(seed: int) -> None:
    sample = draw_sample(seed)
    found = route(sample, Tickets([1] * sample.subjects, seed=seed))
    expected = count_visits(sample, best_order(sample))
    assert found.dropped == expected.dropped and found.visited >= expected.visited
    assert found.visited == sum([found.tuples, *found.survivors[:-1]])

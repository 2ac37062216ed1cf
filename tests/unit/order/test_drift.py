"""When an order is reconsidered."""

from __future__ import annotations

import pytest

from eddyline.config import OrderSettings
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.drift import Watch, measure
from eddyline.order.statistics import count_visits, dropping_ratio, selectivity
from tests.unit.order.samples import draw_sample


def watch(threshold: float, **others: object) -> Watch:
    return Watch(OrderSettings(check_every=100, threshold=threshold, **others))  # type: ignore[arg-type]


def test_once_in_lambda() -> None:
    watched = watch(0.1)
    answers = [watched.add(50, value) for value in (0.5, 0.5, 0.9, 0.9, 0.5, 0.5)]
    assert answers == [False, False, False, True, False, False]
    assert watched.initial == watched.current == 0.5


def test_average_of_lambda() -> None:
    watched = watch(0.1)
    watched.initial = 0.5
    assert not watched.add(90, 0.5) and not watched.add(10, 0.9)
    assert watched.current == pytest.approx(0.54)
    assert not watched.add(50, 0.5) and watched.add(50, 0.6)


def test_zero_threshold_rearranges_always() -> None:
    watched = watch(0.0)
    assert [watched.add(100, 0.5) for _ in range(3)] == [True, True, True]


def test_smaller_threshold_is_sooner() -> None:
    soon, late = watch(0.05), watch(0.5)
    values = [0.5 + 0.02 * step for step in range(30)]
    first = [next(i for i, value in enumerate(values) if each.add(100, value)) for each in (soon, late)]
    assert first[0] < first[1]


def test_measures() -> None:
    sample = draw_sample(1)
    order = VisitOrder((2, 0, 1, 4, 3))
    assert measure(sample, order, "dropping") == dropping_ratio(sample, order.subjects)
    assert measure(sample, order, "selectivity") == selectivity(sample, order.subjects)
    assert measure(sample, order, "visits") == count_visits(sample, order).visited_each
    watched = watch(0.1, drift="visits")
    watched.add_sample(sample, order, 1000)
    assert watched.initial == pytest.approx(count_visits(sample, order).visited_each)


def test_from_counters() -> None:
    counters = Counters(tuples=100, visited=250, dropped=40, survivors=(80, 70, 60))
    for drift, value in (("dropping", 0.4), ("visits", 2.5), ("selectivity", 0.2)):
        watched = watch(0.1, drift=drift)
        watched.add_counters(counters, ones=200, queries=10)
        assert watched.initial == pytest.approx(value)


def test_nothing_sampled_tells_nothing() -> None:
    watched = watch(0.1)
    assert not watched.add(1000, 0.0, weight=0)
    assert watched.initial is None

"""The experiment with a changing query set: what changes, what is carried over, and that hindsight is the best there is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench.baselines.orders import best_order
from bench.experiments import changing_queries, course, over_time, plots
from bench.experiments.changing_queries import KINDS, chapters_of, query_sets_of
from bench.experiments.result import Claim, Result, Spread
from eddyline.config import OrderSettings
from eddyline.model.asc import subject_text
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.strategies.ticket import Tickets

PERIOD = 50


def test_query_sets_change_as_their_names_say() -> None:
    growing, turnover = query_sets_of("growing"), query_sets_of("turnover")
    assert [len(queries) for queries in growing] == list(range(5, 51, 5))
    assert all(len(queries) == 50 for queries in turnover)
    assert all(len(set(one) & set(two)) >= 45 for one, two in pairwise(turnover))
    one, other, *_ = query_sets_of("recurring")
    assert query_sets_of("recurring") == [one, other] * 4
    names = [{part.column for query in queries for part in query} for queries in (one, other)]
    assert len(names[0]) == len(names[1]) == 10 and len(names[0] & names[1]) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_chapters_are_consecutive_parts_of_one_stream(kind: str) -> None:
    chapters = chapters_of(kind, 4_000, PERIOD)
    lengths = [sum(sample.tuples for sample in chapter.stream) for chapter in chapters]
    assert sum(lengths) == 4_000 and len(set(lengths)) == 1


def test_a_carried_over_order_starts_lower_than_a_new_one() -> None:
    chapters = chapters_of("turnover", 4_000, PERIOD)
    settings = OrderSettings(strategy="macro", period=PERIOD, check_every=5 * PERIOD, threshold=0.0)
    start = best_order(over_time.joined(chapters[0].stream))
    first = len(chapters[0].stream)
    carried = changing_queries.through(chapters, settings, start, changing_queries.carry_over)
    anew = changing_queries.through(chapters, settings, start, changing_queries.by_number)
    assert carried.costs[:first] == anew.costs[:first]
    assert carried.costs[first] < anew.costs[first]


def test_tickets_stay_with_filters_that_are_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    chapters = chapters_of("recurring", 8_000, PERIOD)[:3]
    started: list[dict[str, int]] = []

    def play(stream: list[Sample], settings: OrderSettings, tickets: Tickets) -> course.Course:
        names = [subject_text(asc.subject) for asc in stream[0].ascs]
        started.append(dict(zip(names, tickets.held, strict=True)))
        tickets.held = [held + 10 for held in tickets.held]
        return course.Course(PERIOD, (), (), VisitOrder(()))

    monkeypatch.setattr(course, "run_tickets", play)
    changing_queries.with_tickets(chapters, OrderSettings(period=PERIOD))
    assert [sorted(held.values()) for held in started] == [[1] * 10, [1] * 6 + [11] * 4, [1] * 6 + [21] * 4]


def test_no_order_is_better_than_the_one_in_hindsight() -> None:
    chapters = chapters_of("replaced", 4_000, PERIOD)
    best = over_time.in_hindsight([chapter.stream for chapter in chapters], PERIOD)
    start = best_order(over_time.joined(chapters[0].stream))
    fixed = changing_queries.through(
        chapters, OrderSettings(strategy="fixed", period=PERIOD), start, changing_queries.carry_over
    )
    assert best.cost < fixed.cost
    rows = over_time.rows_of("replaced", {"fixed": fixed, over_time.HINDSIGHT: best})
    at = over_time.excess(rows, ["replaced"], ["fixed", over_time.HINDSIGHT])
    assert at["replaced"]["fixed"] == pytest.approx(fixed.cost / best.cost - 1)
    assert over_time.near(at, over_time.HINDSIGHT, ["replaced"]).holds


def test_pictures_show_the_spread_over_query_sets() -> None:
    rows = tuple(
        [
            {"series": "one", "x": x, "set": seed, "y": x + seed, "kind": "k"}
            for x in (1, 2)
            for seed in (0, 1, 5)
        ]
    )
    result = Result("a", "title", "shape", {}, rows, (Claim("c", True, "m"),))
    assert result.series("one", "x", "y") == {1: Spread(3, 1, 6), 2: Spread(4, 2, 7)}
    assert len(result.only(x=1).rows) == 3
    _, (axes,) = plots.picture()
    plots.lines(axes, result, ["one"], "x", "y")
    assert len(axes.containers) == 1, "one line with bars"
    _, (axes,) = plots.picture()
    plots.bars(axes, ["g"], {"one": [Spread(3, 1, 6)], "two": [2.0]}, "y")
    assert axes.get_ylim()[1] > 6

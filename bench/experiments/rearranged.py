"""Costs of ASC-2's schemes over a stream: worst and best fixed order, ticket, and macro and hybrid rearranged at every lambda."""

from __future__ import annotations

from typing import Final

from bench.experiments import course, orders
from bench.experiments.course import Course
from bench.experiments.data import Data
from bench.experiments.query_sets import QuerySet
from bench.experiments.samples import sample_of
from bench.experiments.scale import Scale
from eddyline.config import OrderSettings, StrategyName
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence
from eddyline.order.hybrid import Hybrid
from eddyline.order.protocol import Strategy, find_sequence

NAMES: Final = ("SEQ worst", "ticket", "macro", "hybrid", "SEQ best")
CHECK_EVERY: Final = 10_000


def settings(scale: Scale, strategy: StrategyName) -> OrderSettings:
    """Lambda = 10,000 tuples and mu = 0 as in the paper; tau, which it does not name, is 500 tuples."""
    period = scale.steps(500, 500, least=50)
    every = max(period, scale.steps(CHECK_EVERY, CHECK_EVERY) // period * period)
    return OrderSettings(strategy=strategy, period=period, check_every=every, threshold=0.0)


def costs(queries: QuerySet, data: Data, scale: Scale) -> dict[str, float]:
    """ASCs visited by a tuple, by scheme."""
    found = {f"SEQ {name}": orders.costs(queries, data, (name,))[name] for name in ("worst", "best")}
    found["ticket"] = orders.ticket_cost(queries, data, scale.tuples(200_000, 5_000))
    found |= {name: adapted(queries, data, scale, name).cost for name in ("macro", "hybrid")}
    return found


def adapted(queries: QuerySet, data: Data, scale: Scale, strategy: StrategyName) -> Course:
    """A strategy that starts with what it finds on the first tuples and then goes on as the paper says."""
    chosen = settings(scale, strategy)
    start = course.found(strategy, _first(queries, data, chosen), period=chosen.period)
    return course.run(course.periods(queries, data, chosen.period), chosen, start)


def adapted_as_in_the_paper(queries: QuerySet, data: Data, scale: Scale) -> Course:
    """The same for hybrid with the paper's own arrows; ours lets go of those that save no visits."""
    chosen = settings(scale, "hybrid")
    ascs, numbers = queries.index.ascs, tuple(range(len(queries.attributes)))
    start = find_sequence(
        _plain(ascs, Sequence(numbers)), _first(queries, data, chosen), period=chosen.period
    )
    return course.run(course.periods(queries, data, chosen.period), chosen, start, make=_plain)


def _plain(ascs: tuple[ASC, ...], start: Sequence) -> Strategy:
    return Hybrid(ascs, start, refine=False)


def _first(queries: QuerySet, data: Data, chosen: OrderSettings) -> Sample:
    return sample_of(queries, data.piece(0, min(data.tuples, 20 * chosen.period)))

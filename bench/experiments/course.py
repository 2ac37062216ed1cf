"""A stream that passes an order which is measured anew from time to time: tau, lambda and mu as in the ASC papers.

    |--- lambda ---|--- lambda ---|- tau -|- tau -|- ... -|--- lambda ---|
                                  ^ changed by mu or more: a new strategy looks at one period after the other,
                                    the old sequence goes on                ^ the new one is in force from here

The stream comes in periods of tau tuples; every period has a cost: the ASCs visited by a tuple on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench.experiments.data import Data
from bench.experiments.query_sets import QuerySet
from bench.experiments.samples import sample_of
from eddyline.config import OrderSettings
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.drift import Watch, measure
from eddyline.order.statistics import count_visits
from eddyline.order.strategies.factory import make_strategy
from eddyline.order.strategies.strategy import Strategy, find_sequence
from eddyline.order.strategies.ticket import Ticket, Tickets, route

Make = Callable[[tuple[ASC, ...], VisitOrder], Strategy]


@dataclass(frozen=True)
class Course:
    """What a stream cost: per period the visits of a tuple, and the periods after which a new sequence came into force."""

    period: int
    costs: tuple[float, ...]
    rearranged: tuple[int, ...]
    last: VisitOrder

    @property
    def cost(self) -> float:
        """ASCs visited by a tuple, over the whole stream."""
        return sum(self.costs) / len(self.costs)


def periods(queries: QuerySet, data: Data, period: int, first: int = 0) -> Iterator[Sample]:
    """The stream of a data set, period by period; what is left over at its end is not used."""
    chunk = max(1, 50_000 // period) * period
    for start in range(first, data.tuples, chunk):
        sample = sample_of(queries, data.piece(start, min(chunk, data.tuples - start)))
        for place in range(0, sample.tuples - period + 1, period):
            yield sample.part(place, place + period)


def run(
    stream: Iterable[Sample],
    settings: OrderSettings,
    start: VisitOrder,
    initial: float | None = None,
    make: Make | None = None,
    *,
    at_once: bool = False,
) -> Course:
    """The course of one strategy, from the sequence that is in force at the start.

    initial: what drift is measured against until the first rearrangement; if it is not given, the first lambda tells.
    make: gives the strategy of a rearrangement, if it is not the one that the settings name.
    at_once: a rearrangement begins with the first period instead of after lambda, as when queries have changed.
    """
    costs: list[float] = []
    rearranged: list[int] = []
    sequence, finding, watch = start, None, Watch(settings, initial)
    seen: list[float] = []
    for place, sample in enumerate(stream):
        costs.append(count_visits(sample, sequence).visited_each)
        if at_once and place == 0:
            finding, seen = _made(sample, settings, sequence, make), []
        if finding is None:
            if watch.add_sample(sample, sequence, sample.tuples):
                finding = _made(sample, settings, sequence, make)
                seen = []
            continue
        finding.observe(sample)
        seen.append(measure(sample, sequence, settings.drift))
        if finding.ready:
            sequence, finding, watch = finding.propose(), None, Watch(settings, sum(seen) / len(seen))
            rearranged.append(place + 1)
    return Course(settings.period, tuple(costs), tuple(rearranged), sequence)


def run_tickets(stream: Iterable[Sample], settings: OrderSettings, tickets: Tickets | None = None) -> Course:
    """The same by CACQ's lottery, which is drawn for every tuple and visit; from new tickets, if none are given."""
    costs: list[float] = []
    for sample in stream:
        tickets = tickets or new_tickets(sample.ascs, settings)
        costs.append(route(sample, tickets).visited_each)
    return Course(settings.period, tuple(costs), (), VisitOrder(()))


def new_tickets(ascs: tuple[ASC, ...], settings: OrderSettings) -> Tickets:
    """The lottery between some ASCs, one ticket for each."""
    strategy = make_strategy("ticket", ascs, settings=settings)
    assert isinstance(strategy, Ticket)
    return strategy.tickets


def run_fixed(
    stream: Iterable[Sample], sequence: VisitOrder, period: int, *, immediate: bool = True
) -> Course:
    """The same with one sequence for ever."""
    costs = [count_visits(sample, sequence, immediate=immediate).visited_each for sample in stream]
    return Course(period, tuple(costs), (), sequence)


def found(name: str, sample: Sample, *, period: int | None = None, seed: int = 0) -> VisitOrder:
    """What a strategy proposes after a sample, with so many tuples a step or with all in every step."""
    strategy: Strategy = make_strategy(name, sample.ascs, settings=OrderSettings(seed=seed))
    return find_sequence(strategy, sample, period=period)


def _made(sample: Sample, settings: OrderSettings, start: VisitOrder, make: Make | None) -> Strategy:
    if make is not None:
        return make(sample.ascs, start)
    return make_strategy(settings.strategy, sample.ascs, settings=settings, start=start)

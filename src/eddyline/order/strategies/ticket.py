"""`ticket` (CACQ): who takes a tuple is drawn by lot, and those who drop tuples hold the most tickets.

    routed to an operator      + as many tickets as it applies predicates
    returned to the eddy       - the same, never below one
    dropped                    the tickets stay

Back-pressure: an operator whose input queue is full takes part in no lottery. The eddy draws anew for every tuple and
visit; as a strategy, tickets are played on samples and subjects come in the order of their tickets.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from eddyline.model.asc import ASC, Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.sample_table import Ending


class Tickets:
    """The weighted lottery between operators numbered from 0.

    predicates: how many each applies. queue: how many tuples may wait at one operator, None for any number.
    """

    def __init__(self, predicates: Sequence[int], *, seed: int = 0, queue: int | None = None) -> None:
        assert queue is None or queue > 0, "a queue has room for a tuple"
        self.predicates = list(predicates)
        self.held = [1] * len(self.predicates)
        self.waiting = [0] * len(self.predicates)
        self.queue = queue
        self._random = random.Random(seed).random

    @property
    def shares(self) -> tuple[float, ...]:
        """Each operator's part of all tickets."""
        total = sum(self.held)
        return tuple(held / total for held in self.held)

    def draw(self, operators: Sequence[int]) -> int | None:
        """Draw one of some operators; None if the queues of all of them are full."""
        if self.queue is not None:
            operators = [operator for operator in operators if self.waiting[operator] < self.queue]
        if not operators:
            return None
        point = self._random() * sum([self.held[operator] for operator in operators])
        for operator in operators:
            point -= self.held[operator]
            if point < 0:
                return operator
        return operators[-1]

    def routed(self, operator: int) -> None:
        """An operator takes a tuple."""
        self.held[operator] += self.predicates[operator]
        self.waiting[operator] += 1

    def returned(self, operator: int) -> None:
        """It gives the tuple back."""
        self.held[operator] = max(1, self.held[operator] - self.predicates[operator])
        self.waiting[operator] -= 1

    def dropped(self, operator: int) -> None:
        """The tuple ends there."""
        self.waiting[operator] -= 1

    def apply(self, operator: int, predicates: int) -> None:
        """Queries have come or gone: an operator, perhaps a new one, applies another number of predicates."""
        while operator >= len(self.predicates):
            self.predicates.append(0)
            self.held.append(1)
            self.waiting.append(0)
        self.predicates[operator] = predicates


class Ticket:
    """Plays the lottery on every sample and orders subjects by what they hold then."""

    name: Final[Literal["ticket"]] = "ticket"

    def __init__(self, ascs: Sequence[ASC], start: VisitOrder, seed: int) -> None:
        self.start = start
        used = np.bitwise_count(query_usage(ascs)).sum(axis=1, dtype=np.int64)
        self.tickets = Tickets(used.tolist(), seed=seed)
        self.ready = len(ascs) < 2

    def observe(self, sample: Sample) -> None:
        route(sample, self.tickets)
        self.ready = self.ready or sample.tuples > 0

    def propose(self) -> VisitOrder:
        held = self.tickets.held
        return VisitOrder(tuple(sorted(self.start.subjects, key=lambda subject: -held[subject])))


def route(sample: Sample, tickets: Tickets, *, ending: Ending = "dropped", skip: bool = False) -> Counters:
    """Take the tuples of a sample one after the other through the lottery, until their ways end.

    With `skip` subjects that no query still possible uses are left out, which CACQ does not do. Tickets of operators
    that apply no predicates never change, so that all have the same chances.
    """
    met = [[_integer(row) for row in sample.grb_words(subject)] for subject in range(sample.subjects)]
    usage = [_integer(row) for row in query_usage(sample.ascs)]
    every = _integer(sample.every)
    ended = np.zeros(sample.subjects + 1, np.int64)
    visited = dropped = 0
    for row in range(sample.tuples):
        grb, left = every, list(range(sample.subjects))
        while left:
            if skip and not any(usage[i] & grb for i in left):
                break
            chosen = tickets.draw([i for i in left if usage[i] & grb] if skip else left)
            assert chosen is not None, "one tuple at a time leaves every queue empty"
            left.remove(chosen)
            tickets.routed(chosen)
            visited += 1
            grb &= met[chosen][row]
            if grb:
                tickets.returned(chosen)
            else:
                tickets.dropped(chosen)
                dropped += 1
            if not grb or (ending == "completed" and not any(usage[i] & grb for i in left)):
                ended[sample.subjects - len(left)] += 1
                break
    survivors = sample.tuples - np.cumsum(ended[1:])
    return Counters(sample.tuples, visited, dropped, tuple(survivors.tolist()))


def _integer(words: Words) -> int:
    return int.from_bytes(words.tobytes(), "little")

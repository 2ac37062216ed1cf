"""The eddy: a pool of tuples, operators with queues, and one routing decision at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from eddyline.errors import EddylineError, SettingsError
from eddyline.execute.eddy.clauses import clauses_of
from eddyline.execute.eddy.flowing import Arrivals, Bits, Flowing, bits_of
from eddyline.execute.eddy.operator import FILTERS, EddyOperator, FilterName, Selection
from eddyline.execute.eddy.routing import Policy, RandomRouting
from eddyline.execute.eddy.source import Source, Withdrawn
from eddyline.functions.evaluate import Evaluation
from eddyline.model.query import NormalQuery

CAPACITY: Final = 1_024
# tuples of the pool that are tried when the queues of the first one's operators are full
LOOKED_AT: Final = 64


@dataclass(frozen=True, slots=True)
class Result:
    """A tuple that was output to a query; `number` is what `push` said, `row` its place in its batch."""

    source: str
    number: int
    row: int
    query: str


class _RoutedOperator(NamedTuple):
    """An operator, the source whose tuples it takes, and its bit there."""

    source: Source
    bit: Bits
    operator: Selection


class Eddy:
    """Routes tuples of any sources through the filters of all queries, which may come and go at any time.

    A query sees the tuples that are pushed after it was added. A step routes one tuple and lets every operator work for
    one tick; `costs` says how many ticks an operator (by name) needs for a tuple, if not one. An operator whose queue
    is full is not routed to: back-pressure.

    As CACQ does, a tuple is routed until all queries are completed, also to operators that only completed ones wanted;
    with `needed_only` those are left out.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        filters: FilterName = "grouped",
        capacity: int = CAPACITY,
        queue: int = 8,
        costs: Mapping[str, int] | None = None,
        needed_only: bool = False,
    ) -> None:
        if filters not in FILTERS:
            raise SettingsError(f'filters "{filters}" are not known', hint=f"one of {', '.join(FILTERS)}")
        for name, value in (("capacity", capacity), ("queue", queue), *(costs or {}).items()):
            if value < 1:
                raise SettingsError(f"{name} {value} makes no sense", hint="a whole number from 1 on")
        self.policy: Policy = policy or RandomRouting()
        self.sources: dict[str, Source] = {}
        self.visits: Counter[str] = Counter()  # tuples that each operator has processed, by its name
        self.tuples = 0  # all that were pushed
        self._filters: FilterName = filters
        self._capacity, self._room, self._needed_only = capacity, queue, needed_only
        self._costs = dict(costs or {})
        self._work: Counter[EddyOperator] = Counter()  # ticks spent on the tuple in front of each queue
        self._stream_of: dict[str, str] = {}
        self._pool: deque[Flowing] = deque()
        self._results: list[Result] = []

    def add(self, query: NormalQuery) -> None:
        """Register a query for the tuples that are pushed from now on."""
        if query.id in self._stream_of:
            raise EddylineError(f'query "{query.id}" is there already', hint="remove it first")
        source = self._source(query.stream)
        source.add(query, clauses_of(query.predicate, source.split))
        self._stream_of[query.id] = query.stream

    def remove(self, id: str) -> None:
        """Take out a query; tuples in flight are not output to it any more, and its bit is free for another one."""
        stream = self._stream_of.pop(id, None)
        if stream is None:
            raise EddylineError(f'query "{id}" is not known', hint=f"known are {', '.join(self._stream_of)}")
        flying = list(self._in_flight(stream))
        withdrawn = self.sources[stream].remove(id)
        for flowing in flying:
            flowing.completed |= withdrawn.query
            flowing.ready &= ~withdrawn.operators
            flowing.done &= ~withdrawn.operators
        self._release(withdrawn)

    def push(self, stream: str, evaluation: Evaluation, rows: int) -> range:
        """Put the tuples of a batch into the pool; their numbers."""
        source, arrivals = self._source(stream), Arrivals(evaluation)
        numbers = range(self.tuples, self.tuples + rows)
        self.tuples += rows
        for row, number in enumerate(numbers):
            self._settle(source, source.admit(number, row, arrivals), newest=True)
        return numbers

    def step(self) -> bool:
        """Route one tuple, let every operator work for a tick; False if there is nothing to do."""
        routed = any(self._route(flowing) for flowing in list(islice(self._pool, LOOKED_AT)))
        busy = [each for each in self._operators() if each.operator.queue]
        for each in busy:
            self._tick(each)
        return routed or bool(busy)

    def run(self) -> list[Result]:
        """Step until no tuple is in flight; all results since the last call."""
        while self.step():
            pass
        return self.take()

    def take(self) -> list[Result]:
        """The results since the last call."""
        results, self._results = self._results, []
        return results

    @property
    def in_flight(self) -> int:
        """Tuples that are in the pool or wait for an operator."""
        return len(self._pool) + sum(len(each.operator.queue) for each in self._operators())

    @property
    def visited_each(self) -> float:
        """Operators that a tuple went through on average."""
        return sum(self.visits.values()) / self.tuples if self.tuples else 0.0

    def explain(self) -> str:
        """The tables of all sources."""
        return "\n".join(source.explain() for source in self.sources.values())

    def _source(self, stream: str) -> Source:
        if stream not in self.sources:
            self.sources[stream] = Source(stream, filters=self._filters, capacity=self._capacity)
        return self.sources[stream]

    def _route(self, flowing: Flowing) -> bool:
        """Send a tuple of the pool to a queue with room; False if it has to wait."""
        source = self.sources[flowing.source]
        ready = source.needed(flowing) if self._needed_only else flowing.ready
        open_ = [op for bit in bits_of(ready) if len((op := source.operators[bit]).queue) < self._room]
        if not open_:
            return False
        chosen = self.policy.choose(open_)
        self._pool.remove(flowing)
        chosen.queue.append(flowing)
        self.policy.took(chosen)
        return True

    def _tick(self, routed: _RoutedOperator) -> None:
        """One tick of an operator's work on the first tuple of its queue."""
        source, operator = routed.source, routed.operator
        self._work[operator] += 1
        if self._work[operator] < self._costs.get(operator.name, 1):
            return
        del self._work[operator]
        flowing = operator.queue.popleft()
        self.visits[operator.name] += 1
        flowing.ready &= ~routed.bit
        for each in operator.process(flowing):
            each.done |= routed.bit
            if source.is_finished(each):  # all that were left reject it
                self.policy.dropped(operator)
            else:
                self.policy.returned(operator)
                self._settle(source, each)

    def _settle(self, source: Source, flowing: Flowing, newest: bool = False) -> None:
        """Output a tuple to whom it may, and keep it if somebody is left; older tuples are routed first."""
        for id in source.complete(flowing):
            self._results.append(Result(flowing.source, flowing.number, flowing.row, id))
        if not source.is_finished(flowing):
            assert flowing.ready, "a query that waits for an operator finds it ready"
            (self._pool.append if newest else self._pool.appendleft)(flowing)

    def _release(self, withdrawn: Withdrawn) -> None:
        """Give back the tuples that wait for operators which are gone, and let go of those that nobody waits for."""
        for selection in withdrawn.selections:
            self._pool.extendleft(reversed(selection.queue))
            self._work.pop(selection, None)
            self.policy.forget(selection)
        self._pool = deque([each for each in self._pool if not self.sources[each.source].is_finished(each)])

    def _in_flight(self, stream: str) -> Iterator[Flowing]:
        for flowing in self._pool:
            if flowing.source == stream:
                yield flowing
        for selection in self.sources[stream].operators.values():
            yield from selection.queue

    def _operators(self) -> Iterator[_RoutedOperator]:
        for source in self.sources.values():
            for bit, selection in source.operators.items():
                yield _RoutedOperator(source, 1 << bit, selection)

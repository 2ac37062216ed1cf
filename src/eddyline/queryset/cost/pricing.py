"""The costs of a set's queries, of queries that might be added to it, and what the set takes on given rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from eddyline.compile import Compiler
from eddyline.execute.executor import Executor
from eddyline.execute.placed import Placed
from eddyline.execute.pricing.cost_items import Bill, Priced, Sheet
from eddyline.execute.pricing.unkeyed_items import UnkeyedItems
from eddyline.execute.reading.batch import Columns
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.protocol import Steering
from eddyline.functions.evaluate import Evaluation
from eddyline.model.predicate import NEVER, Predicate
from eddyline.model.query import NormalQuery, Query
from eddyline.queryset.cost.cost import Cost, Costs, cost_of_items
from eddyline.queryset.cost.set_costs import SetCosts, price_set
from eddyline.standing.table import Table

Measured = dict[tuple[int, str], float]
REPEATS: Final = 3
Run = tuple[Sequence[tuple[int, SegmentExecutor]], Columns, int]


class Pricing:
    """Prices one version of a set.

    >>> import pyarrow as pa
    >>> from eddyline.model.catalog import Stream
    >>> from eddyline.queryset import QuerySet
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> cheap = {f"cheap {n}": "SELECT symbol FROM quotes WHERE price < 10" for n in range(3)}
    >>> pricing = QuerySet.build(cheap, streams=[quotes]).pricing()
    >>> costs = pricing.costs()
    >>> sum(cost.attoseconds for cost in costs.values()) == costs.total.attoseconds
    True
    >>> print(costs["cheap 0"].parts[1])
    price < 10.0: 0.00287 ns, 6 bytes, shared with 2 others
    >>> print(pricing.marginal(Query("one more", "SELECT * FROM quotes WHERE price < 10")))
    0.0022 ns a tuple, 12 bytes
    """

    def __init__(
        self, segments: Sequence[Placed], table: Table, compiler: Compiler, direct: str = "auto"
    ) -> None:
        names = {number: query.id for number, query in table.queries()}

        def compiled(number: int) -> NormalQuery:
            return compiler.compile(table.query(number))

        self._costs = price_set(segments, names, lambda number: compiled(number).predicate, direct)
        self._compiler = compiler
        self._addition = _Addition(self._costs, direct)

    def costs(self, runs: Iterable[Run] = ()) -> Costs:
        """The share of every query; with runs, what they took is divided in the same way."""
        measured = _measure(runs, self._compiler.time_zone)
        return Costs(self._costs, measured)

    def marginal(self, query: Query, *, keep: bool = False) -> Cost:
        """What the set costs more with a query; one that is kept counts as added for those asked about later."""
        normal = self._compiler.compile(query)
        items = self._addition.price(normal.stream, normal.predicate, keep=keep)
        return cost_of_items(self._costs, items.labels, items.attoseconds, items.bytes)


def _measure(runs: Iterable[Run], time_zone: str) -> Measured | None:
    """Nanoseconds a tuple of every executor, the least of some repeats; values that subjects have are worked out once."""
    seconds: Measured = {}
    rows_of: dict[int, int] = {}
    for executors, columns, rows in runs:
        if not rows:
            continue
        _time(executors, Evaluation(columns, time_zone=time_zone, rows=rows), rows, seconds)
        for number, _ in executors:
            rows_of[number] = rows_of.get(number, 0) + rows
    if not rows_of:
        return None
    return {served: 1e9 * spent / rows_of[served[0]] for served, spent in seconds.items()}


def _time(
    executors: Sequence[tuple[int, SegmentExecutor]], evaluation: Evaluation, rows: int, seconds: Measured
) -> None:
    """Add what each executor takes for a batch, steered so that nothing is learnt from it."""
    for number, segment in executors:
        steering = segment.recorded()
        for name, executor in segment.executors.items():
            spent = min(_once(executor, evaluation, rows, steering) for _ in range(REPEATS))
            seconds[number, name] = seconds.get((number, name), 0.0) + spent


def _once(executor: Executor, evaluation: Evaluation, rows: int, steering: Steering | None) -> float:
    start = time.perf_counter()
    executor.match(evaluation, rows, steering, 1)
    return time.perf_counter() - start


class _Addition:
    """Prices queries over the costs of a set, and over those that were kept before.

    They are priced as if compiled into the largest segment of their stream, which merging brings about sooner or later.
    """

    def __init__(self, costs: SetCosts, direct: str) -> None:
        self._costs, self._direct = costs, direct
        self._kept = Sheet(costs.sheet)
        self._roots: Counter[tuple[int, Predicate]] = Counter()
        self._added = 0

    def price(self, stream: str, predicate: Predicate, *, keep: bool) -> Sheet:
        """The items that a query needs and nobody has; kept, they are there for the next one."""
        trial = Sheet(self._kept)
        if predicate == NEVER:
            return trial
        self._added += 1
        owner, segment = ("added", self._added), self._segment(stream)
        kept = self._roots[segment, predicate]
        for priced in self._priced(segment):
            if priced.marginal(owner, predicate, trial, kept):
                break
        if keep:
            self._roots[segment, predicate] += 1
            for item in zip(trial.labels, trial.attoseconds, trial.bytes, strict=True):
                self._kept.item(*item)
        return trial

    def _priced(self, segment: int) -> list[Priced]:
        """The executors of a segment, and one for the queries that those it has do not take."""
        known = self._costs.priced[segment] if segment < len(self._costs.priced) else []
        return [*known, UnkeyedItems(Bill(self._kept, segment, {}, _no_predicate, self._direct))]

    def _segment(self, stream: str) -> int:
        """The largest segment of a stream; one that is not there yet comes after all others."""
        segments = self._costs.segments
        own = [n for n, segment in enumerate(segments) if segment.stream == stream]
        return max(own, key=lambda n: segments[n].size, default=len(segments))


def _no_predicate(slot: int) -> Predicate:
    raise AssertionError("there are no queries yet")

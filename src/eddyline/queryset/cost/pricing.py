"""The costs of a set's queries, of queries that might be added to it, and what the set takes on given rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from eddyline.execute.executor import Executor
from eddyline.execute.pricing.cost_items import Bill, Priced, Sheet
from eddyline.execute.pricing.cost_text import side_title
from eddyline.execute.pricing.join_items import JoinItems
from eddyline.execute.pricing.unkeyed_items import UnkeyedItems
from eddyline.execute.reading.batch import Columns
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.protocol import Steering
from eddyline.functions.evaluate import Evaluation
from eddyline.model.join import Normal, NormalJoin, role_of
from eddyline.model.predicate import ALWAYS, NEVER, Predicate
from eddyline.model.query import NormalQuery, Query
from eddyline.queryset.cost.cost import Cost, Costs, cost_of_items
from eddyline.queryset.cost.set_costs import SetCosts, price_set
from eddyline.standing.rows.join_columns import stem_keys
from eddyline.standing.version import Version

Measured = dict[tuple[int, str], float]
REPEATS: Final = 3
Roots = Counter[tuple[int, Predicate]]  # by segment, how many queries of a predicate were kept
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

    def __init__(self, version: Version, direct: str = "auto") -> None:
        self._version = version
        self._costs = price_set(version, direct)
        self._addition = _Addition(self._costs, direct)

    def costs(self, runs: Iterable[Run] = ()) -> Costs:
        """The share of every query; with runs, what they took is divided in the same way."""
        measured = _measure(runs, self._version.compiler.time_zone)
        return Costs(self._costs, self._side_of, measured)

    def marginal(self, query: Query, *, keep: bool = False) -> Cost:
        """What the set costs more with a query; one that is kept counts as added for those asked about later."""
        items, sides = self._addition.price(self._version.compiler.compile(query), keep=keep)
        return cost_of_items(self._costs, items, sides)

    def _side_of(self, owner: str) -> str | None:
        """Which side of its join a role is, given its name; None for a query."""
        role = role_of(owner)
        if role is None:
            return None
        id, branch, side = role
        join = self._version.normal_form(self._version.table.dense(id))
        assert isinstance(join, NormalJoin), "it has roles"
        return side_title(join, branch, side)


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
        self._roots = Roots()
        self._first_segments: dict[str, int] = {}  # of streams that have none yet
        self._added = 0

    def price(self, normal: Normal, *, keep: bool) -> tuple[Sheet, list[str | None]]:
        """The items that a query needs and nobody has, and for a join the side that needs each; `keep` adds them to the set."""
        trial, roots, sides = Sheet(self._kept), Roots(), list[str | None]()
        if isinstance(normal, NormalJoin):
            self._enter_join(normal, trial, roots, sides)
        else:
            self._enter(normal, trial, roots)
            sides += [None] * len(trial.labels)
        if keep:
            self._roots.update(roots)
            for item in zip(trial.labels, trial.attoseconds, trial.bytes, strict=True):
                self._kept.item(*item)
        return trial, sides

    def _enter(self, query: NormalQuery, trial: Sheet, roots: Roots) -> None:
        """What the conditions of a query need; `roots` has those that were entered with it."""
        predicate = query.predicate
        if predicate == NEVER:
            return
        owner, segment = self._owner(), self._segment(query.stream)
        kept = self._roots[segment, predicate] + roots[segment, predicate]
        for priced in self._priced(segment):
            if priced.marginal(owner, predicate, trial, kept):
                break
        roots[segment, predicate] += 1

    def _enter_join(self, join: NormalJoin, trial: Sheet, roots: Roots, sides: list[str | None]) -> None:
        """What the sides of a join need, each as a query of its stream, and what the join needs beside them."""
        items, owner = JoinItems(trial), self._owner()
        if join.branches:
            items.rows(owner, len(join.branches))
        for number, branch in enumerate(join.branches):
            if branch.residual is not None:
                items.residual(owner, number, branch.residual)
        sides += [None] * len(trial.labels)
        for number, branch in enumerate(join.branches):
            keys = stem_keys(join.sources, branch)
            for side, predicate in enumerate(branch.sides):
                is_free = predicate == ALWAYS
                if not is_free:
                    self._enter(join.role(number, side), trial, roots)
                items.role(self._owner(), keys[side], keys[1 - side], is_free=is_free)
                sides += [side_title(join, number, side)] * (len(trial.labels) - len(sides))

    def _owner(self) -> object:
        """An owner of items that nobody has been before."""
        self._added += 1
        return "added", self._added

    def _priced(self, segment: int) -> list[Priced]:
        """The executors of a segment, and one for the queries that those it has do not take."""
        known = self._costs.priced[segment] if segment < len(self._costs.priced) else []
        return [*known, UnkeyedItems(Bill(self._kept, segment, {}, _no_predicate, self._direct))]

    def _segment(self, stream: str) -> int:
        """The largest segment of a stream; those that are not there yet come after all others."""
        segments = self._costs.segments
        own = [n for n, segment in enumerate(segments) if segment.stream == stream]
        if own:
            return max(own, key=lambda n: segments[n].size)
        return self._first_segments.setdefault(stream, len(segments) + len(self._first_segments))


def _no_predicate(slot: int) -> Predicate:
    raise AssertionError("there are no queries yet")

"""Which pairs of tuples satisfy which joins, arrival by arrival: nested loops, the whole predicate on the joined row.

    join(
        {"spread": "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol AND t.ts BETWEEN ..."},
        [Push("quotes", some_quotes), Push("trades", some_trades), Change(remove=["spread"]), Push("quotes", more_quotes)],
        streams=[quotes, trades],
    ).pairs

A tuple's position is its number among all tuples of its stream, from 0 on, those that were left out included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa

from eddyline.model import types as t
from eddyline.model.catalog import Stream, distinct_streams, find_stream
from eddyline.model.event_time import DAY, EventTime, Length, length_in_units, longest
from eddyline.model.expression import Call, Expression, columns_of, walk
from eddyline.model.join import BoundJoin, virtual_column
from eddyline.model.query import BoundQuery, Query, as_queries
from eddyline.reference.evaluate import Row, evaluate
from eddyline.reference.rows import rows
from eddyline.reference.times.zones import zone

Joins = Mapping[str, str] | Iterable[Query] | Iterable[BoundJoin]


@dataclass(frozen=True)
class Push:
    """Tuples of a stream, one after the other.

    `clock` is what the clock shows then, in microseconds since 1970 in UTC; without one no tuple is ahead of it.
    """

    stream: str
    batch: pa.RecordBatch | pa.Table
    clock: int | None = None


@dataclass(frozen=True)
class Change:
    """Joins that come and go between two pushes. One that is replaced starts anew, as one that is added does."""

    add: Joins = ()
    remove: Iterable[str] = ()
    replace: Joins = ()


Step = Push | Change | tuple[str, pa.RecordBatch | pa.Table]


class JoinedPair(NamedTuple):
    """A pair of tuples that satisfies a join: positions of the tuples of its first and of its second source."""

    query: str
    first: int
    second: int


@dataclass(frozen=True)
class JoinResult:
    """What was found: for each step, the pairs whose last tuple came with it, in the order of delivery.

    That is the order of the last tuples, then of their partners, then of the joins' registration; where a stream is joined
    with itself, a pair in which the last tuple is of the first source comes before its mirror image.
    """

    steps: list[list[JoinedPair]]
    left_out: dict[str, dict[str, int]]  # how many tuples, by stream and reason
    kept: dict[str, list[int]]  # positions of the others, by stream

    @property
    def pairs(self) -> list[JoinedPair]:
        """The pairs of all steps."""
        return [pair for step in self.steps for pair in step]


def join(
    joins: Joins,
    steps: Iterable[Step],
    *,
    streams: Sequence[Stream],
    complete: bool = False,
    whole_batches: bool = False,
    join_window: Length | None = None,
    time_zone: str = "UTC",
) -> JoinResult:
    """The pairs that satisfy the joins, which are texts or bound; queries of single streams among them do not take part.

    complete        the data is all there is: no tuple is late or ahead of its time
    whole_batches   a batch is one step, as on Spark: it moves the watermark for the batches after it, not inside of it
    join_window     how far apart the tuples of a join may be that names no time bound
    """
    known = {stream.name: stream for stream in distinct_streams(streams)}
    run = _Run(known, _Rules(complete, whole_batches, join_window, time_zone))
    run.change(Change(add=joins))
    found = [run.take(step) for step in steps]
    kept = {name: [each.position for each in tuples] for name, tuples in run.kept.items()}
    return JoinResult(found, {name: dict(counts) for name, counts in run.left_out.items()}, kept)


def satisfies_join(
    join: BoundJoin,
    first: Row,
    second: Row,
    *,
    streams: Mapping[str, Stream],
    join_window: Length | None = None,
) -> bool:
    """Whether one tuple of each source is a pair, if these two are all the data there is; `streams` are by their names."""
    run = _Run(dict(streams), _Rules(True, False, join_window, join.time_zone))
    return run.is_joined(join, (first, second))


@dataclass(frozen=True)
class _Rules:
    complete: bool
    whole_batches: bool
    join_window: Length | None
    time_zone: str


@dataclass(frozen=True)
class _Tuple:
    """`arrival` counts the tuples of all streams, `position` those of its own."""

    arrival: int
    position: int
    row: Row


@dataclass(frozen=True)
class _Standing:
    """A join in force since an arrival; `window` is set where it names no time bound itself."""

    join: BoundJoin
    times: tuple[str, str]
    since: int
    window: int | None

    def holds(self, first: Row, second: Row) -> bool:
        """Whether a pair satisfies it."""
        if self.window is not None:
            one, other = first[self.times[0]], second[self.times[1]]
            assert isinstance(one, int) and isinstance(other, int), "tuples without a time are left out"
            if abs(one - other) > self.window:
                return False
        row = {
            virtual_column(source.alias, name): value
            for source, part in zip(self.join.sources, (first, second), strict=True)
            for name, value in part.items()
        }
        return evaluate(self.join.predicate, row, time_zone=self.join.time_zone) is True


@dataclass
class _Run:
    streams: dict[str, Stream]
    rules: _Rules
    standing: dict[str, _Standing] = field(default_factory=dict)
    kept: dict[str, list[_Tuple]] = field(default_factory=dict)
    highest: dict[str, int] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)

    def take(self, step: Step) -> list[JoinedPair]:
        if isinstance(step, Change):
            self.change(step)
            return []
        return self._push(step if isinstance(step, Push) else Push(*step))

    def change(self, change: Change) -> None:
        for id in change.remove:
            del self.standing[id]
        added, replaced = self._bound(change.add), self._bound(change.replace)
        for join in replaced:
            self.standing.pop(join.id)
        for join in [*added, *replaced]:
            assert join.id not in self.standing, f'"{join.id}" is in force already'
            self.standing[join.id] = self._in_force(join)

    def _bound(self, joins: Joins) -> list[BoundJoin]:
        given: Iterable[Query | BoundJoin] = as_queries(joins) if isinstance(joins, Mapping) else joins
        bound = [each if isinstance(each, BoundJoin) else self._bind(each) for each in given]
        return [each for each in bound if isinstance(each, BoundJoin)]

    def _bind(self, query: Query) -> BoundJoin | BoundQuery:
        # Here, so that bound joins can be judged without the parser.
        from eddyline.sql import bind

        return bind(query, list(self.streams.values()), time_zone=self.rules.time_zone)

    def _in_force(self, join: BoundJoin) -> _Standing:
        first, second = (self._event_time(source.stream) for source in join.sources)
        window = None
        if self.rules.join_window is not None and not _names_time_bound(join, (first, second)):
            window = length_in_units(self.rules.join_window, first.type, "join_window")
        return _Standing(join, (first.column, second.column), self.seen.total(), window)

    def _event_time(self, stream: str) -> EventTime:
        times = self.streams[stream].times
        assert times is not None, f'stream "{stream}" is joined without an event time'
        return times

    def is_joined(self, join: BoundJoin, pair: tuple[Row, Row]) -> bool:
        """Whether neither tuple is left out and both together satisfy the join."""
        times = [self._event_time(source.stream) for source in join.sources]
        reasons = [self._reason(time, row, None, None) for time, row in zip(times, pair, strict=True)]
        return reasons == [None, None] and self._in_force(join).holds(*pair)

    def _push(self, push: Push) -> list[JoinedPair]:
        stream = find_stream(self.streams, push.stream)
        highest = self.highest.get(stream.name)
        found: list[JoinedPair] = []
        for row in rows(push.batch, stream):
            arrived = _Tuple(self.seen.total(), self.seen[stream.name], row)
            self.seen[stream.name] += 1
            if stream.times is None:
                continue
            watermark = highest if self.rules.whole_batches else self.highest.get(stream.name)
            reason = self._reason(stream.times, row, watermark, push.clock)
            if reason is not None:
                self.left_out.setdefault(stream.name, Counter())[reason] += 1
                continue
            found += self._arrive(arrived, stream)
        return found

    def _reason(self, times: EventTime, row: Row, highest: int | None, clock: int | None) -> str | None:
        """Why a tuple is left out; None if it is not."""
        time = row[times.column]
        if time is None:
            return "no time"
        assert isinstance(time, int), "event times are whole numbers underneath"
        if abs(time) >= longest(times.type):
            return "out of range"
        if self.rules.complete:
            return None
        if times.ahead is not None and clock is not None and time > self._shown(clock, times) + times.ahead:
            return "ahead"
        is_late = highest is not None and times.lateness is not None and time < highest - times.lateness
        return "late" if is_late else None

    def _shown(self, clock: int, times: EventTime) -> int:
        """What the clock shows in the unit of an event time; dates and times without zone are those of the session."""
        if times.type == t.TIMESTAMP:
            return clock
        local = zone(self.rules.time_zone).to_local(clock)
        return local // DAY if times.type == t.DATE else local

    def _arrive(self, arrived: _Tuple, stream: Stream) -> list[JoinedPair]:
        assert stream.times is not None, "checked before"
        time = arrived.row[stream.times.column]
        assert isinstance(time, int), "checked before"
        self.highest[stream.name] = max(time, self.highest.get(stream.name, time))
        self.kept.setdefault(stream.name, []).append(arrived)
        found = [
            (partner.arrival, registered, side, pair)
            for registered, standing in enumerate(self.standing.values())
            for side in (0, 1)
            if standing.join.sources[side].stream == stream.name
            for partner, pair in self._partners(arrived, standing, side)
        ]
        return [pair for *_, pair in sorted(found)]

    def _partners(
        self, arrived: _Tuple, standing: _Standing, side: int
    ) -> Iterable[tuple[_Tuple, JoinedPair]]:
        """The tuples that a new one of one source is joined with; with itself only once, as that of the first source."""
        for partner in self.kept.get(standing.join.sources[1 - side].stream, ()):
            if partner.arrival < standing.since or (partner is arrived and side == 1):
                continue
            first, second = (arrived, partner) if side == 0 else (partner, arrived)
            if standing.holds(first.row, second.row):
                yield partner, JoinedPair(standing.join.id, first.position, second.position)


_EQUALITIES: Final = ("eq", "null_safe_eq", "in")
_COMPARISONS: Final = (*_EQUALITIES, "lt", "le", "gt", "ge")
_SUMS: Final = frozenset(
    {"add", "sub", "neg", "cast", "time_add", "date_add", "date_sub", "date_add_months"}
    | {"datediff", "subtract_dates", "subtract_times"}
)


def _names_time_bound(join: BoundJoin, times: tuple[EventTime, EventTime]) -> bool:
    """Whether a condition of the join compares sums and differences of both event times, and of constants."""
    columns = frozenset(
        [virtual_column(source.alias, time.column) for source, time in zip(join.sources, times, strict=True)]
    )
    pending: list[tuple[Expression, bool]] = [(join.predicate, False)]
    while pending:
        current, negated = pending.pop()
        if isinstance(current, Call) and current.function in ("and", "or", "not"):
            negated ^= current.function == "not"
            pending += [(argument, negated) for argument in current.arguments]
        elif _compares_sums(current, negated) and columns_of(current) == columns:
            return True
    return False


def _compares_sums(expression: Expression, negated: bool) -> bool:
    """Whether it limits a difference of sums. That two of them are not equal limits nothing."""
    if not isinstance(expression, Call) or (negated and expression.function in _EQUALITIES):
        return False
    return expression.function in _COMPARISONS and all(map(_is_sum, expression.arguments))


def _is_sum(expression: Expression) -> bool:
    calls = [node for node in walk(expression) if isinstance(node, Call) and columns_of(node)]
    return all(call.function in _SUMS and _keeps_value(call) for call in calls)


def _keeps_value(call: Call) -> bool:
    """Whether a call is no cast, or one that a number or a date survives."""
    if call.function != "cast":
        return True
    source, target = call.arguments[0].type, call.type
    if source == t.DATE:
        return target in (t.TIMESTAMP, t.TIMESTAMP_NTZ)
    return t.is_numeric(source) and t.is_numeric(target)

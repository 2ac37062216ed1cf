"""Queries made ready for a back-test: those under test and the existing ones, by what they read, the refused set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from eddyline.backtest.values import RefusedQuery
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.join import Normal, NormalJoin
from eddyline.model.names import check_id
from eddyline.model.predicate import NEVER
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.sql.resolver import Resolver


@dataclass(frozen=True)
class ComparedQueries:
    """Queries whose matches can be the same: query number i is tested[i], or existing[i - len(tested)]."""

    tested: tuple[Query, ...]
    existing: tuple[Query, ...]
    impossible: frozenset[int]  # numbers of those under test that nothing can match

    def __len__(self) -> int:
        return len(self.tested) + len(self.existing)

    def id(self, number: int) -> str:
        """The id of a number."""
        return (
            self.tested[number] if number < len(self.tested) else self.existing[number - len(self.tested)]
        ).id


@dataclass(frozen=True)
class Lane(ComparedQueries):
    """The queries over one stream, compiled together.

    The ids inside are numbers as text: a query under test may have the id of an existing one that it is to replace.
    """

    stream: Stream
    queries: QuerySet

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return self.stream.name


@dataclass(frozen=True)
class JoinLane(ComparedQueries):
    """The joins of two streams, in whichever order they name them, or of a stream with itself.

    `forms` has them by number, `dense` what they are called in the set of all joins.
    """

    streams: tuple[Stream, Stream]
    forms: tuple[NormalJoin, ...]
    dense: Integers

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return " JOIN ".join(stream.name for stream in self.streams)

    def is_turned(self, number: int) -> bool:
        """Whether a join names the second stream first."""
        return self.forms[number].sources[0].stream != self.streams[0].name


@dataclass(frozen=True)
class JoinLanes:
    """All joins, compiled together, and the lanes that they are in."""

    queries: QuerySet
    lanes: tuple[JoinLane, ...]


@dataclass(frozen=True)
class PreparedBacktest:
    """All lanes, and what was refused; `joins` is None if there are none."""

    lanes: tuple[Lane, ...]
    refused: tuple[RefusedQuery, ...]
    order: dict[str, int]  # place of every id under test, refused ones included
    joins: JoinLanes | None = None

    def lane(self, stream: str) -> Lane:
        """The lane of a stream."""
        return next(lane for lane in self.lanes if lane.name == stream)

    def join_lane(self, name: str) -> JoinLane:
        """The lane of some joins, by its name."""
        assert self.joins is not None, "somebody has met a join"
        return next(lane for lane in self.joins.lanes if lane.name == name)


def prepare(
    tested: Iterable[Query],
    streams: Sequence[Stream],
    *,
    existing: Iterable[Query] = (),
    others: Sequence[Stream] = (),
    time_zone: str = "UTC",
    join_window: Length | None = None,
    resolver: Resolver | None = None,
    refusing_joins: str | None = None,
    explained: Callable[[QueryError], QueryError] = lambda error: error,
) -> PreparedBacktest:
    """Compile all queries; one that is refused is set aside, the rest goes on.

    `streams` have a history; `others` are known besides, and existing queries over them are none of ours.
    `join_window` is that of joins that name none. `resolver` knows functions that only the runtime has. Where that evaluates no joins, `refusing_joins` tells what to do
    instead. `explained` may give an error another hint.
    """
    compiler = Compiler([*streams, *others], time_zone=time_zone, resolver=resolver, join_window=join_window)
    sorting = _Sorting(streams, refusing_joins)
    refused: list[RefusedQuery] = []
    order: dict[str, int] = {}
    for is_existing, queries in ((False, tested), (True, existing)):
        for query in queries:
            try:
                if not is_existing:
                    _take_id(order, query)
                normal = compiler.compile(query)
                check_id(query.id)
                sorting.take(query, normal, is_existing)
            except QueryError as error:
                error.query = query.id
                error = explained(error)
                refused.append(RefusedQuery(query.id, query.sql, error.message, str(error), is_existing))
    lanes = [members.lane(stream, time_zone, resolver) for stream, members in sorting.selections]
    joins = _join_lanes(sorting, compiler)
    return PreparedBacktest(tuple(lanes), tuple(refused), order, joins)


@dataclass
class _Members:
    """Queries of a lane as they come: both lists with their normal forms."""

    tested: list[tuple[Query, Normal]] = field(default_factory=list)
    existing: list[tuple[Query, Normal]] = field(default_factory=list)

    def take(self, query: Query, normal: Normal, is_existing: bool) -> None:
        (self.existing if is_existing else self.tested).append((query, normal))

    def compared(self) -> tuple[tuple[Query, ...], tuple[Query, ...], frozenset[int]]:
        impossible = [number for number, (_, normal) in enumerate(self.tested) if _is_impossible(normal)]
        tested, existing = (tuple([query for query, _ in each]) for each in (self.tested, self.existing))
        return tested, existing, frozenset(impossible)

    def lane(self, stream: Stream, time_zone: str, resolver: Resolver | None) -> Lane:
        texts = [query.sql for query, _ in (*self.tested, *self.existing)]
        numbered = [Query(str(number), text) for number, text in enumerate(texts)]
        queries = QuerySet.build(numbered, streams=[stream], time_zone=time_zone, resolver=resolver)
        return Lane(*self.compared(), stream, queries)


def _is_impossible(normal: Normal) -> bool:
    return not normal.branches if isinstance(normal, NormalJoin) else normal.predicate == NEVER


class _Sorting:
    """Queries by the streams that they read."""

    def __init__(self, streams: Sequence[Stream], refusing_joins: str | None) -> None:
        self.selections = [(stream, _Members()) for stream in streams]
        self.joins: dict[tuple[int, int], _Members] = {}
        self._places = {stream.name: place for place, stream in enumerate(streams)}
        self._refusing_joins = refusing_joins

    def take(self, query: Query, normal: Normal, is_existing: bool) -> None:
        """Put a query where it belongs, or raise a `QueryError`; existing ones without a history are left out."""
        read = _streams_of(normal)
        missing = [stream for stream in read if stream not in self._places]
        if missing and is_existing:
            return
        if missing:
            raise _without_history(missing[0])
        first, *rest = sorted(self._places[stream] for stream in read)
        if not rest:
            self.selections[first][1].take(query, normal, is_existing)
            return
        if self._refusing_joins is not None:
            raise QueryError("it joins streams, which this runtime does not do", hint=self._refusing_joins)
        self.joins.setdefault((first, rest[0]), _Members()).take(query, normal, is_existing)


def _streams_of(normal: Normal) -> list[str]:
    """The streams of FROM: one, or two that are joined."""
    if isinstance(normal, NormalJoin):
        return [source.stream for source in normal.sources]
    return [normal.stream]


def _join_lanes(sorting: _Sorting, compiler: Compiler) -> JoinLanes | None:
    if not sorting.joins:
        return None
    texts = {
        lane: [query.sql for query, _ in (*members.tested, *members.existing)]
        for lane, members in sorting.joins.items()
    }
    numbered = [
        Query(f"{place}.{number}", text)
        for place, several in enumerate(texts.values())
        for number, text in enumerate(several)
    ]
    queries = QuerySet.build(
        numbered,
        streams=compiler.streams,
        time_zone=compiler.time_zone,
        join_window=compiler.join_window,
    )
    lanes = []
    for place, ((first, second), members) in enumerate(sorting.joins.items()):
        normal_forms = [normal for _, normal in (*members.tested, *members.existing)]
        forms = tuple([normal for normal in normal_forms if isinstance(normal, NormalJoin)])
        dense = np.array([queries.number(f"{place}.{number}") for number in range(len(forms))])
        pair = sorting.selections[first][0], sorting.selections[second][0]
        lanes.append(JoinLane(*members.compared(), pair, forms, dense))
    return JoinLanes(queries, tuple(lanes))


def _without_history(stream: str) -> QueryError:
    return QueryError(
        f'there is no history of its stream "{stream}"', hint=f"give one: --stream {stream}=SOURCE"
    )


def _take_id(order: dict[str, int], query: Query) -> None:
    if query.id in order:
        raise QueryError("the id is taken already", query=query.id, hint="give one of the two another id")
    order[query.id] = len(order)

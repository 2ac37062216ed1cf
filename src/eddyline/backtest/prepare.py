"""Queries made ready for a back-test: those under test and the existing ones, by stream, the refused ones set aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eddyline.backtest.values import RefusedQuery
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.names import check_id
from eddyline.model.predicate import NEVER
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.sql.resolver import Resolver


@dataclass(frozen=True)
class Lane:
    """The queries over one stream, compiled together.

    Query number i of `queries` is tested[i], or existing[i - len(tested)]. The ids inside are numbers as text: a query
    under test may have the id of an existing one that it is to replace.
    """

    stream: Stream
    tested: tuple[Query, ...]
    existing: tuple[Query, ...]
    impossible: frozenset[int]  # numbers of those under test that no row can match
    queries: QuerySet

    def id(self, number: int) -> str:
        """The id of a number."""
        return (
            self.tested[number] if number < len(self.tested) else self.existing[number - len(self.tested)]
        ).id


@dataclass(frozen=True)
class PreparedBacktest:
    """All lanes, and what was refused."""

    lanes: tuple[Lane, ...]
    refused: tuple[RefusedQuery, ...]
    order: dict[str, int]  # place of every id under test, refused ones included

    def lane(self, stream: str) -> Lane:
        """The lane of a stream."""
        return next(lane for lane in self.lanes if lane.stream.name == stream)


def prepare(
    tested: Iterable[Query],
    streams: Sequence[Stream],
    *,
    existing: Iterable[Query] = (),
    others: Sequence[Stream] = (),
    time_zone: str = "UTC",
    resolver: Resolver | None = None,
) -> PreparedBacktest:
    """Compile all queries; one that is refused is set aside, the rest goes on.

    `streams` have a history; `others` are known besides, and existing queries over them are none of ours.
    `resolver` knows functions that only the runtime has.
    """
    compiler = Compiler([*streams, *others], time_zone=time_zone, resolver=resolver)
    lanes: dict[str, tuple[list[Query], list[Query]]] = {stream.name: ([], []) for stream in streams}
    impossible: dict[str, set[int]] = {stream.name: set() for stream in streams}
    refused: list[RefusedQuery] = []
    order: dict[str, int] = {}
    for is_existing, queries in enumerate((tested, existing)):
        for query in queries:
            try:
                if not is_existing:
                    _take_id(order, query)
                normal = compiler.compile(query)
                check_id(query.id)
                if normal.stream not in lanes:
                    if is_existing:
                        continue
                    raise _without_history(normal.stream)
            except QueryError as error:
                error.query = query.id
                refused.append(
                    RefusedQuery(query.id, query.sql, error.message, str(error), bool(is_existing))
                )
                continue
            members = lanes[normal.stream][is_existing]
            if not is_existing and normal.predicate == NEVER:
                impossible[normal.stream].add(len(members))
            members.append(query)
    return PreparedBacktest(
        tuple(
            _lane(stream, *lanes[stream.name], impossible[stream.name], time_zone, resolver)
            for stream in streams
        ),
        tuple(refused),
        order,
    )


def _without_history(stream: str) -> QueryError:
    return QueryError(
        f'there is no history of its stream "{stream}"', hint=f"give one: --stream {stream}=SOURCE"
    )


def _take_id(order: dict[str, int], query: Query) -> None:
    if query.id in order:
        raise QueryError("the id is taken already", query=query.id, hint="give one of the two another id")
    order[query.id] = len(order)


def _lane(
    stream: Stream,
    tested: list[Query],
    existing: list[Query],
    impossible: set[int],
    time_zone: str,
    resolver: Resolver | None,
) -> Lane:
    numbered = [Query(str(number), query.sql) for number, query in enumerate([*tested, *existing])]
    queries = QuerySet.build(numbered, streams=[stream], time_zone=time_zone, resolver=resolver)
    return Lane(stream, tuple(tested), tuple(existing), frozenset(impossible), queries)

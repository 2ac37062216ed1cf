"""SQL text to a bound query or a bound join: parsed, its streams found, names and types settled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from eddyline.errors import QueryError, Span
from eddyline.functions import comparison
from eddyline.functions.context import Context
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.join import BoundJoin, Source
from eddyline.model.query import BoundQuery, Query
from eddyline.model.types import DataType
from eddyline.sql.binder import Binder, Parameters
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.select import parse
from eddyline.sql.resolver import Resolver
from eddyline.sql.scope import JoinedStream, OneStream, TwoStreams, did_you_mean, shown
from eddyline.sql.spark_only.lenient import parse_leniently
from eddyline.sql.spark_only.spark_text import SparkText


def bind(
    query: Query,
    streams: Iterable[Stream],
    *,
    time_zone: str = "UTC",
    resolver: Resolver | None = None,
) -> BoundQuery | BoundJoin:
    """A query bound to the stream that it names, or to the two that it joins; or a `QueryError` that shows the place.

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("price", pa.float64())]))
    >>> bind(Query("cheap", "SELECT * FROM quotes WHERE price < 10"), [quotes]).predicate
    lt(Column('price', double), cast(Literal(10, int)): double): boolean
    >>> bind(
    ...     Query("same", "SELECT a.price FROM quotes a JOIN quotes b ON a.price = b.price"), [quotes]
    ... ).predicate
    eq(Column('a.price', double), Column('b.price', double)): boolean
    """
    try:
        return bind_text(query, streams, Context(time_zone), resolver=resolver)
    except QueryError as error:
        error.query = query.id
        raise


def bind_text(
    query: Query,
    streams: Iterable[Stream],
    context: Context,
    *,
    resolver: Resolver | None = None,
    parameters: Parameters | None = None,
) -> BoundQuery | BoundJoin:
    """Parse and bind a query; constants whose place is among `parameters` become parameters."""
    spans: Mapping[int, Span] = {}
    if resolver is None:
        select = parse(query.sql)
    else:
        select, spans = parse_leniently(query.sql)
    known = list(streams)
    found = [_find_stream(named, known, query.sql) for named in select.streams]
    if len(found) > 1:
        return _bind_join(query, select, found, context, resolver, parameters or {}, spans)
    scope = OneStream(found[0], select.streams[0].alias)
    binder = Binder(query.sql, scope, context, resolver, parameters or {}, spans)
    predicate = comparison.TRUE if select.where is None else binder.condition(select.where, "WHERE")
    outputs = binder.outputs(select.items)
    return BoundQuery(query.id, query.sql, found[0].name, predicate, outputs, context.time_zone)


def _find_stream(named: s.FromStream, streams: list[Stream], sql: str) -> Stream:
    for stream in streams:
        if stream.name.lower() == named.name.lower():
            return stream
    names = [stream.name for stream in streams]
    raise QueryError(
        f'stream "{named.name}" is not known',
        sql=sql,
        span=named.span,
        hint=did_you_mean(named.name, names) or f"known streams: {', '.join(names) or 'none'}",
    )


def _bind_join(
    query: Query,
    select: s.Select,
    streams: Sequence[Stream],
    context: Context,
    resolver: Resolver | None,
    parameters: Parameters,
    spans: Mapping[int, Span],
) -> BoundJoin:
    left, right = _sides(select.streams, streams, query.sql)
    joined = select.streams[1]
    scope = TwoStreams(left, right, [name.parts[0] for name in joined.using])
    asked = None if resolver is None else NotInJoins(resolver)
    binder = Binder(query.sql, scope, context, asked, parameters, spans)
    conditions = [binder.merged(name, scope.pair) for name in joined.using]
    if joined.on is not None:
        conditions.append(binder.condition(joined.on, "ON"))
    if select.where is not None:
        conditions.append(binder.condition(select.where, "WHERE"))
    predicate = comparison.conjunction(tuple(conditions)) if conditions else comparison.TRUE
    sources = tuple(Source(side.alias, side.stream.name) for side in (left, right))
    outputs = binder.outputs(select.items)
    return BoundJoin(query.id, query.sql, sources, predicate, outputs, context.time_zone)


def _sides(named: Sequence[s.FromStream], streams: Sequence[Stream], sql: str) -> list[JoinedStream]:
    """The streams of a join under names that differ, so that no two columns of the virtual source have one name."""
    sides: list[JoinedStream] = []
    for one, stream in zip(named, streams, strict=True):
        alias = one.alias or stream.name
        if "." in alias:
            raise QueryError(
                f'"{shown(alias)}" cannot be the name of a joined stream: it has a dot',
                sql=sql,
                span=one.span,
                hint="give it another name: FROM stream AS name",
            )
        if any(side.alias.lower() == alias.lower() for side in sides):
            raise QueryError(
                f'two joined streams are called "{shown(alias)}"',
                sql=sql,
                span=one.span,
                hint=f"give each a name of its own: {streams[0].name} a JOIN {stream.name} b",
            )
        sides.append(JoinedStream(alias, stream))
    return sides


class NotInJoins:
    """A resolver that refuses what only Spark has, each by name: joins are not computed by Spark yet."""

    judges = False

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    @property
    def functions(self) -> Collection[str]:
        """Those that only Spark has."""
        return self._resolver.functions

    def call(self, name: str, arguments: Sequence[Expression]) -> DataType | None:
        """An error for a function that Spark has; None for one that nobody has."""
        if name in self.functions:
            raise QueryError(f'only Spark has the function "{name}", which joins cannot use yet')
        return None

    def expression(self, piece: SparkText) -> DataType:
        """An error: a piece that was left to Spark."""
        raise QueryError("only Spark may be able to read this, which joins cannot use yet")

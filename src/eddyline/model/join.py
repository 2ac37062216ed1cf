"""A join of streams on its way: bound to its sources (`BoundJoin`), in normal form (`NormalJoin`).

    SELECT q.symbol, t.size FROM quotes q JOIN trades t ON q.symbol = t.symbol
    WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS AND q.price < 10 AND t.price > q.price * 1.01

    source       0: quotes as q               1: trades as t
    side         price < 10                   always true           conditions that read one source
    key          symbol                       symbol                equal values of both sources
    window       0 <= time of source 1 - time of source 0 <= 5,000,000
    residual     gt(t.price, mul(q.price, 1.01))                    what needs both: over the virtual source

The *virtual source* has the columns of all sources, each called `alias.column`, and is a `Stream` like any other: SELECT
lists and residuals are plain expressions over it. Sides and keys are expressions over the columns of their own stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression, columns_of
from eddyline.model.predicate import Predicate, conditions_of
from eddyline.model.query import NormalQuery, Output


@dataclass(frozen=True, slots=True)
class Source:
    """One stream of a FROM clause, and the name under which the query speaks of it: the stream's own if it gives none."""

    alias: str
    stream: str


@dataclass(frozen=True, slots=True)
class BoundJoin:
    """A join whose names and types are settled; `predicate` is ON, USING and WHERE as one AND over the virtual source."""

    id: str
    sql: str
    sources: tuple[Source, ...]
    predicate: Expression
    outputs: tuple[Output, ...]
    time_zone: str = "UTC"

    @property
    def stream(self) -> str:
        """What the virtual source is called."""
        return virtual_name(self.sources)


@dataclass(frozen=True, slots=True)
class KeyPart:
    """Two expressions of one type, of source 0 and of source 1, whose values are equal; NULL only if `null_safe`."""

    expressions: tuple[Expression, Expression]
    null_safe: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """low <= event time of source 1 - event time of source 0 <= high, in the unit of the event times.

    Both ends are finite and belong to it. Invariant: low <= high.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        assert self.low <= self.high, "a branch whose window is empty is never true, and is left out"


@dataclass(frozen=True, slots=True)
class Branch:
    """One alternative of a join; a pair of tuples satisfies it if all of its parts hold.

    sides       of source 0 and of source 1, each over the columns of its own stream
    keys        at least one
    residual    what is left, over the virtual source, to be TRUE; None if nothing is
    """

    sides: tuple[Predicate, Predicate]
    keys: tuple[KeyPart, ...]
    window: Window
    residual: Expression | None = None


@dataclass(frozen=True, slots=True)
class NormalJoin:
    """A join of two sources; a pair satisfies it iff it satisfies one of the branches. Without branches none ever does.

    `takes_join_window` says that it names no time bound, so that its windows are what the set says for such joins.
    """

    id: str
    sql: str
    sources: tuple[Source, Source]
    branches: tuple[Branch, ...]
    outputs: tuple[Output, ...]
    time_zone: str = "UTC"
    takes_join_window: bool = False

    @property
    def stream(self) -> str:
        """What the virtual source is called."""
        return virtual_name(self.sources)

    def role(self, branch: int, side: int) -> NormalQuery:
        """One side of one branch as a query of its stream; the name it gets is no query's."""
        id, predicate = role_name(self.id, branch, side), self.branches[branch].sides[side]
        return NormalQuery(id, self.sql, self.sources[side].stream, predicate, (), self.time_zone)

    def expressions(self) -> Iterator[Expression]:
        """What is computed to find its pairs: subjects of sides, keys, residuals."""
        for branch in self.branches:
            for side in branch.sides:
                yield from (condition.subject for condition in conditions_of(side))
            for part in branch.keys:
                yield from part.expressions
            if branch.residual is not None:
                yield branch.residual


Normal = NormalQuery | NormalJoin


def role_name(id: str, branch: int, side: int) -> str:
    """What a role is called in a table of queries. Ids of queries are printable, so that none can be the same.

    >>> role_name("spread", 0, 1)
    'spread\\x000.1'
    """
    return f"{id}\0{branch}.{side}"


def role_of(name: str) -> tuple[str, int, int] | None:
    """The query, the branch and the side that a role is called by; None for the id of a query.

    >>> role_of(role_name("spread", 0, 1)), role_of("spread")
    (('spread', 0, 1), None)
    """
    id, _, role = name.partition("\0")
    if not role:
        return None
    branch, side = role.split(".")
    return id, int(branch), int(side)


def virtual_name(sources: Sequence[Source]) -> str:
    """What a virtual source is called: as FROM would name its sources.

    >>> virtual_name([Source("q", "quotes"), Source("trades", "trades")])
    'quotes q JOIN trades'
    """
    return " JOIN ".join(
        source.stream if source.alias == source.stream else f"{source.stream} {source.alias}"
        for source in sources
    )


def virtual_column(alias: str, column: str) -> str:
    """What a source's column is called in the virtual source. No alias has a dot, so that no two get one name."""
    return f"{alias}.{column}"


def source_columns(expression: Expression, alias: str) -> list[str]:
    """The columns of one source that an expression over the virtual source reads, as their stream calls them, sorted."""
    prefix = virtual_column(alias, "")
    return sorted(name.removeprefix(prefix) for name in columns_of(expression) if name.startswith(prefix))


def virtual_source(sources: Sequence[Source], streams: Mapping[str, Stream]) -> Stream:
    """The columns of several joined streams, as one.

    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> virtual_source([Source("a", "quotes"), Source("b", "quotes")], {"quotes": quotes}).schema.names
    ['a.symbol', 'a.price', 'b.symbol', 'b.price']
    """
    return _virtual_source(tuple(sources), tuple([streams[source.stream] for source in sources]))


@lru_cache(maxsize=1_024)  # thousands of joins have the same sources
def _virtual_source(sources: tuple[Source, ...], streams: tuple[Stream, ...]) -> Stream:
    fields = [
        column.with_name(virtual_column(source.alias, column.name))
        for source, stream in zip(sources, streams, strict=True)
        for column in stream.schema
    ]
    return Stream(virtual_name(sources), pa.schema(fields))

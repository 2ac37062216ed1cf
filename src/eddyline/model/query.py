"""A query on its way: as registered (`Query`), bound to its stream (`BoundQuery`), in normal form (`NormalQuery`)."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.model.expression import Expression
from eddyline.model.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Query:
    """An id and SQL text, as somebody registered them."""

    id: str
    sql: str


@dataclass(frozen=True, slots=True)
class StandingQuery:
    """A query that is in force: its id, its text, and the stream that it reads, as that is declared."""

    id: str
    sql: str
    stream: str


@dataclass(frozen=True, slots=True)
class Output:
    """One item of a SELECT list: the name that results carry, and the expression that gives it."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query whose names and types are settled against a stream.

    `predicate` is boolean; a query without WHERE has the literal true. `time_zone` is the session time zone under
    which casts and fields of timestamps are taken.
    """

    id: str
    sql: str
    stream: str
    predicate: Expression
    outputs: tuple[Output, ...]
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class NormalQuery:
    """A query whose predicate is AND/OR over conditions "subject in regions"; a tuple matches iff it is true."""

    id: str
    sql: str
    stream: str
    predicate: Predicate
    outputs: tuple[Output, ...]
    time_zone: str = "UTC"

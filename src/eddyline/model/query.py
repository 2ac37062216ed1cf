"""A query on its way: as registered (`Query`), bound to its stream (`BoundQuery`), in normal form (`NormalQuery`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eddyline.errors import EddylineError, QueryError
from eddyline.model.expression import Expression
from eddyline.model.names import check_id, short_repr
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


def as_queries(given: Mapping[str, str] | Iterable[Query]) -> list[Query]:
    """What a caller gives as queries: texts by id, or queries."""
    if isinstance(given, Mapping):
        return [Query(id, sql) for id, sql in given.items()]
    queries = list(given)
    for query in queries:
        if not isinstance(query, Query):
            raise EddylineError(
                f"{short_repr(query)} is no query", hint="give {id: sql, ...}, or Query(id, sql)"
            )
    return queries


def as_ids(given: str | Iterable[str]) -> list[str]:
    """What a caller gives as ids: a text is one id, not one for each of its letters."""
    return [given] if isinstance(given, str) else list(given)


def check_query(id: object, sql: object) -> None:
    """Refuse what is no query at all, before anybody looks into the text."""
    check_id(id)
    if not isinstance(sql, str):
        raise QueryError(f"its text must be a string, not {short_repr(sql)}", query=str(id))

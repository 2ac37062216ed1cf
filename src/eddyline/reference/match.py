"""Which rows of a batch satisfy which queries, what they output, and how often an operation failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from eddyline.model.catalog import Stream, distinct_streams, find_stream
from eddyline.model.join import BoundJoin
from eddyline.model.matches import Matches, RowLists
from eddyline.model.query import BoundQuery, Query
from eddyline.reference.evaluate import OnFailure, Row, evaluate
from eddyline.reference.rows import rows

Queries = Mapping[str, str] | Iterable[Query] | Iterable[BoundQuery]


def match(
    queries: Queries,
    batch: pa.RecordBatch | pa.Table,
    *,
    streams: Sequence[Stream],
    stream: str | None = None,
    time_zone: str = "UTC",
) -> Matches:
    """The pairs of a row and a query whose predicate is true for it.

    `queries` are SQL texts by id, or queries, or bound ones. The batch belongs to the stream named `stream`, which may
    be left out if there is only one; queries on other streams, and joins, do not take part.
    """
    source, bound = _prepare(queries, streams, stream, time_zone)
    tuples = rows(batch, source)
    found = [[number for number, row in enumerate(tuples) if satisfies(query, row)] for query in bound]
    return Matches([query.id for query in bound], len(tuples), [RowLists(found)])


def satisfies(query: BoundQuery, row: Row, *, on_failure: OnFailure | None = None) -> bool:
    """Whether the predicate is true for a row: neither false nor NULL."""
    return evaluate(query.predicate, row, time_zone=query.time_zone, on_failure=on_failure) is True


def project(query: BoundQuery, row: Row) -> tuple[Any, ...]:
    """The values of a query's outputs for a row, whether or not the row satisfies it."""
    return tuple(evaluate(output.expression, row, time_zone=query.time_zone) for output in query.outputs)


def failures(
    queries: Queries,
    batch: pa.RecordBatch | pa.Table,
    *,
    streams: Sequence[Stream],
    stream: str | None = None,
    time_zone: str = "UTC",
) -> dict[str, int]:
    """How many operations of each query's predicate failed, over all rows; zeros included."""
    source, bound = _prepare(queries, streams, stream, time_zone)
    counts = dict.fromkeys((query.id for query in bound), 0)
    for row in rows(batch, source):
        for query in bound:
            failed: list[object] = []
            satisfies(query, row, on_failure=failed.append)
            counts[query.id] += len(failed)
    return counts


def _prepare(
    queries: Queries, streams: Sequence[Stream], stream: str | None, time_zone: str
) -> tuple[Stream, list[BoundQuery]]:
    """The batch's stream, and the queries on it, bound."""
    source = find_stream({one.name: one for one in distinct_streams(streams)}, stream)
    given: Iterable[Query | BoundQuery] = (
        [Query(id, sql) for id, sql in queries.items()] if isinstance(queries, Mapping) else queries
    )
    bound = [query if isinstance(query, BoundQuery) else _bind(query, streams, time_zone) for query in given]
    own = [query for query in bound if isinstance(query, BoundQuery) and query.stream == source.name]
    return source, own


def _bind(query: Query, streams: Sequence[Stream], time_zone: str) -> BoundQuery | BoundJoin:
    # Here, so that bound queries can be judged without the parser.
    from eddyline.sql import bind

    return bind(query, streams, time_zone=time_zone)

"""Sets of queries that were compared, made by hand or from conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from eddyline import Budget, Compiler, QuerySet, Stream
from eddyline.redundancy.proofs import TimedProofs
from eddyline.redundancy.values import ComparedQuery, ComparedSet
from eddyline.relations import Redundancies

STREAM = Stream("q", pa.schema([("a", pa.float64()), ("b", pa.int64()), ("s", pa.string())]))
Row = tuple[str, str, str | None]


def by_hand(
    rows: Sequence[Row], others: Sequence[str] = (), more: Mapping[str, int] | None = None
) -> ComparedSet:
    """Findings as they are given; the texts say nothing."""
    ids = dict.fromkeys([*(id for query, _, other in rows for id in (query, other) if id), *others])
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    table = pa.table(
        {
            name: pa.array(c, pa.string())
            for name, c in zip(("query", "relation", "other"), columns, strict=True)
        }
    )
    queries = {id: ComparedQuery(id, f"SELECT * FROM q WHERE s = '{id}'") for id in ids}
    return ComparedSet(queries, Redundancies(table, more or {}))


def from_conditions(conditions: Mapping[str, str]) -> ComparedSet:
    """Queries that are really compared."""
    texts = {id: f"SELECT * FROM q WHERE {condition}" for id, condition in conditions.items()}
    found = QuerySet.build(texts, streams=[STREAM]).redundancies()
    return ComparedSet({id: ComparedQuery(id, sql) for id, sql in texts.items()}, found)


def proofs(seconds: float = 60.0) -> TimedProofs:
    return TimedProofs(Compiler([STREAM]), Budget(), "eddyline query relate", seconds)

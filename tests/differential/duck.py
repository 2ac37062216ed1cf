"""DuckDB as the judge of conditions over the stream `plain`, three-valued, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import duckdb
import pyarrow as pa

from eddyline import reference
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.sql import bind
from eddyline.testing.plain import GRAMMAR, PLAIN
from eddyline.testing.queries import statement
from eddyline.testing.text import statement_text, where_text
from eddyline.testing.tree import Statement
from tests.comparisons import compared
from tests.differential.finding import UNJUDGED, Finding, value_of

CHUNK = 100


def plain_statement(seed: int) -> Statement:
    """A random statement over `plain`."""
    drawn = statement(seed, size=18, grammar=GRAMMAR)
    return Statement(drawn.where, (), "", drawn.style, "plain")


def judge_duckdb(statements: Sequence[Statement], batch: pa.RecordBatch) -> list[Finding]:
    """Where the reference and DuckDB differ."""
    compared("DuckDB: conditions", len(statements))
    rows = list(reference.rows(batch, PLAIN))
    findings = []
    for one, expected in zip(statements, _values(statements, batch), strict=True):
        try:
            predicate = bind(Query("q", statement_text(one)), [PLAIN]).predicate
        except QueryError as error:
            findings.append(Finding("duckdb", one, "accepted", "refused", detail=str(error)))
            continue
        actual = [value_of(partial(reference.evaluate, predicate, row)) for row in rows]
        differs = (i for i, value in enumerate(actual) if value is not UNJUDGED and value is not expected[i])
        row = next(differs, None)
        if row is not None:
            findings.append(Finding("duckdb", one, expected[row], actual[row], row))
    return findings


def judge_matches(
    statements: Sequence[Statement], batch: pa.RecordBatch, settings: IndexSettings = DEFAULT_INDEX
) -> list[Finding]:
    """Where one query set of all statements finds other rows than DuckDB."""
    compared("DuckDB: matches", len(statements))
    queries = {str(i): statement_text(one) for i, one in enumerate(statements)}
    found = QuerySet.build(queries, streams=[PLAIN], settings=settings).match(batch)
    findings = []
    for id, one, values in zip(queries, statements, _values(statements, batch), strict=True):
        expected = [row for row, value in enumerate(values) if value]
        if found.rows(id).tolist() != expected:
            findings.append(Finding("duckdb matches", one, expected, found.rows(id).tolist()))
    return findings


def _values(statements: Sequence[Statement], batch: pa.RecordBatch) -> list[list[bool | None]]:
    """What DuckDB gives for each condition and row; it gets all parentheses because its precedence is another."""
    values: list[list[bool | None]] = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("plain", batch)
        for start in range(0, len(statements), CHUNK):
            conditions = [where_text(s, full=True) for s in statements[start : start + CHUNK]]
            columns = ", ".join(f"({c}\n)::BOOLEAN AS c{i}" for i, c in enumerate(conditions))
            table = connection.sql(f"SELECT {columns} FROM plain").to_arrow_table()
            values += [column.to_pylist() for column in table.columns]
    return values

"""DuckDB: a join of the tuples with a table of rules, all pairs written; and rules as statements, one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import expressions as exp


class Join:
    """Tuples and rules lie in tables of DuckDB before any timing; a call writes the pairs into a third.

    `selects` are statements over the table `tuples` (with the column `row`) and the tables of rules, each giving
    `row` and `query`.
    """

    def __init__(self, rules: Mapping[str, pa.Table], batch: pa.RecordBatch, selects: list[str]) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        self._create("tuples", with_row(batch))
        for name, table in rules.items():
            self._create(name, table)
        self._statement = "CREATE OR REPLACE TABLE pairs AS " + " UNION ALL ".join(selects)

    def _create(self, name: str, table: pa.Table) -> None:
        self._connection.register("incoming", table)
        self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        self._connection.unregister("incoming")

    def __call__(self) -> None:
        """Write all pairs."""
        self._connection.execute(self._statement)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and query numbers of the pairs that the last call wrote."""
        found = self._connection.execute('SELECT "row", query FROM pairs').fetchnumpy()
        return found["row"], found["query"]


def with_row(batch: pa.RecordBatch) -> pa.Table:
    """The batch with a column of row numbers in front."""
    rows = pa.array(np.arange(batch.num_rows, dtype=np.int32))
    return pa.table(batch).add_column(0, "row", rows)


class Rules:
    """Spark SQL over one table of events, each rule a statement of its own that counts its matches."""

    def __init__(self, texts: Mapping[str, str], batch: pa.RecordBatch) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        self._connection.register("incoming", pa.table(batch))
        self._connection.execute("CREATE TABLE events AS SELECT * FROM incoming")
        self._statements = {id: translated(text) for id, text in texts.items()}

    def __call__(self) -> dict[str, int]:
        """Number of matches of every rule that DuckDB accepts."""
        found: dict[str, int] = {}
        for id, statement in self._statements.items():
            with contextlib.suppress(duckdb.Error):
                found[id] = self._connection.execute(statement).fetchone()[0]
        return found


def translated(text: str) -> str:
    """A Spark query as a count in DuckDB's SQL, where LIKE has no escape unless it is named.

    >>> translated(r"SELECT * FROM t WHERE a LIKE '%x' AND b RLIKE 'y'")
    "SELECT COUNT(*) FROM t WHERE a LIKE '%x' ESCAPE '\\\\' AND REGEXP_MATCHES(b, 'y')"
    """
    tree = sqlglot.parse_one(text, dialect="spark")
    for like in list(tree.find_all(exp.Like)):
        like.replace(exp.Escape(this=like.copy(), expression=exp.Literal.string("\\")))
    tree.set("expressions", [exp.Count(this=exp.Star())])
    return tree.sql(dialect="duckdb")

"""DuckDB joins whole tables: one statement for each query; or one for all, with a table of rules."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from bench.workloads.joins import BATCHES, SECOND, JoinWorkload

_WINDOW = (BATCHES - 1) * SECOND
_TOGETHER = f"q.symbol = t.symbol AND t.ts BETWEEN q.ts - {_WINDOW} AND q.ts + {_WINDOW}"


class _Tables:
    """Quotes and trades in tables of DuckDB before any timing, on one thread; event times are microseconds."""

    def __init__(self, workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> None:
        self.workload = workload
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        for name, table in tables.items():
            self._create(name, table.set_column(0, "ts", table.column("ts").cast(pa.int64())))
        self._create("rules", workload.rules)

    def _create(self, name: str, table: pa.Table) -> None:
        self.connection.register("incoming", table)
        self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        self.connection.unregister("incoming")


class JoinPerQuery(_Tables):
    """One statement for each query."""

    def __call__(self) -> np.ndarray:
        """How many pairs satisfy each query."""
        return np.array([self._count(number) for number in range(self.workload.queries)])

    def _count(self, number: int) -> int:
        found = self.connection.execute(self._statement(number)).fetchone()
        return int(found[0]) if found else 0

    def _statement(self, number: int) -> str:
        quotes, trades = (side or "true" for side in self.workload.sides[number])
        return (
            f"SELECT count(*) FROM (SELECT * FROM quotes WHERE {quotes}) q "
            f"JOIN (SELECT * FROM trades WHERE {trades}) t ON {_TOGETHER}"
        )


class Rules(_Tables):
    """One statement with a table of rules, in whose order DuckDB does what it finds best."""

    def __call__(self) -> np.ndarray:
        """How many pairs satisfy each query."""
        conditions = [self.workload.rule(alias, side) for side, alias in enumerate("qt")]
        on = " AND ".join(condition for condition in conditions if condition)
        statement = f"SELECT query FROM quotes q JOIN trades t ON {_TOGETHER} JOIN rules r ON {on}"
        found = self.connection.execute(f"SELECT query, count(*) AS count FROM ({statement}) GROUP BY query")
        counts = np.zeros(self.workload.queries, np.int64)
        columns = found.fetchnumpy()
        counts[columns["query"]] = columns["count"]
        return counts


class JoinThenRules(Rules):
    """The tables are joined, and then their pairs with the rules."""

    def __init__(self, workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> None:
        super().__init__(workload, tables)
        self.connection.execute("SET disabled_optimizers = 'join_order'")

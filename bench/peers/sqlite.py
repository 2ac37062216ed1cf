"""SQLite: rules in an indexed table, probed once for each tuple."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import numpy as np
import pyarrow as pa


class Probe:
    """A table of rules with an index for each list of columns; `statement` takes a tuple's values by name."""

    def __init__(self, rules: Mapping[str, tuple[pa.Table, list[str]]], statement: str) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._statement = statement
        for name, (table, columns) in rules.items():
            fields = ", ".join(table.column_names)
            self._connection.execute(f"CREATE TABLE {name} ({fields})")
            marks = ", ".join("?" * table.num_columns)
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            self._connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
            self._connection.execute(f"CREATE INDEX {name}_by ON {name} ({', '.join(columns)})")
        self._connection.execute("ANALYZE")

    def __call__(self, tuples: list[dict[str, object]]) -> list[tuple[int, int]]:
        """All pairs of row and query."""
        execute, statement = self._connection.execute, self._statement
        return [(row, found[0]) for row, values in enumerate(tuples) for found in execute(statement, values)]

    def pairs(self, tuples: list[dict[str, object]]) -> tuple[np.ndarray, np.ndarray]:
        """Rows and query numbers of all pairs."""
        found = np.array(self(tuples), np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

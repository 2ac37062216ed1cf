"""Which tuples of a batch satisfy which queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


class Matches:
    """The (row, query) pairs of one batch.

    >>> m = Matches(["a", "b"], 3, [np.array([0, 2]), np.array([], dtype=np.int64)])
    >>> len(m), m.counts(), m.rows("a").tolist(), m.query_lists().to_pylist()
    (2, {'a': 2, 'b': 0}, [0, 2], [['a'], [], ['a']])
    """

    def __init__(self, ids: Sequence[str], batch_rows: int, rows: Sequence[np.ndarray]) -> None:
        assert len(ids) == len(rows), "one list of rows for each query"
        self._ids = list(ids)
        self._batch_rows = batch_rows
        self._rows = {id: np.asarray(r, dtype=np.int64) for id, r in zip(ids, rows, strict=True)}

    def __len__(self) -> int:
        return sum(len(rows) for rows in self._rows.values())

    def counts(self) -> dict[str, int]:
        """Number of matching tuples for every query, zeros included."""
        return {id: len(rows) for id, rows in self._rows.items()}

    def rows(self, id: str) -> np.ndarray:
        """Numbers of the rows that match a query, ascending."""
        return self._rows[id]

    def pairs(self) -> pa.Table:
        """All pairs as columns `row` and `query`, by row, then in order of registration."""
        row, number = self._sorted_pairs()
        names = pa.array(self._ids, pa.string())
        return pa.table({"row": pa.array(row, pa.int64()), "query": names.take(pa.array(number))})

    def query_lists(self) -> pa.ListArray:
        """For every row of the batch the ids of the queries that it satisfies."""
        row, number = self._sorted_pairs()
        offsets = np.searchsorted(row, np.arange(self._batch_rows + 1))
        names = pa.array(self._ids, pa.string()).take(pa.array(number))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names)

    def _sorted_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        lists = list(self._rows.values())
        row = np.concatenate([*lists, np.empty(0, np.int64)])
        number = np.repeat(np.arange(len(lists)), [len(rows) for rows in lists])
        order = np.lexsort((number, row))
        return row[order], number[order]

    def __repr__(self) -> str:
        return f"<Matches: {len(self)} pairs of {self._batch_rows} rows and {len(self._ids)} queries>"

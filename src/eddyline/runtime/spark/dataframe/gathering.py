"""Batches that Spark hands over, several put together: each call of the matcher costs something whatever its rows.

Measured with ten columns, 100 queries and Spark's usual batches of 10,000 rows: a row took the worker 290 ns, in batches of
50,000 rows 105 ns. A worker finds the caches full of what Java left there every time that it is given a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

ROWS: Final = 40_000  # rows that are matched together at most
PAIRS: Final = 1_000_000  # matches that are kept at a time, if that many rows have them
BYTES: Final = 1 << 24  # of the rows themselves


@dataclass
class BatchSizer:
    """How many rows the next batch should have; the first is taken as it comes, to see how many matches rows have."""

    rows: int = 1

    def learn(self, rows: int, pairs: int) -> None:
        """Take what a batch had as a guess at the next one."""
        self.rows = min(ROWS, PAIRS * rows // max(pairs, 1))


def gathered(batches: Iterator[pa.RecordBatch], sizer: BatchSizer) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order, in batches of about the size that is wanted, none cut."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= sizer.rows or size >= BYTES:
            yield _together(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield _together(waiting)


def _together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    columns = [
        pa.concat_arrays([batch.column(place) for batch in batches])
        for place in range(batches[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)

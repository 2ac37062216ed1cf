"""Reads batches in which columns are missing that only removed queries read: their values are NULL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.execute.reading.batch import ColumnReader, Columns, arrow_of
from eddyline.model.catalog import Stream


class TolerantReader:
    """Takes columns of a stream out of its batches; one that no query in force reads may be missing, and is NULL then.

    `is_needed` tells whether a query in force reads any of some columns. It is asked once for each set of missing ones that
    can be done without, for it may have to look at every query.
    """

    def __init__(
        self,
        stream: Stream,
        used: Iterable[str],
        is_needed: Callable[[Iterable[str]], bool],
    ) -> None:
        self.used = tuple(used)
        self._stream, self._needs = stream, is_needed
        self._reader = ColumnReader(stream, self.used)
        self._without: dict[tuple[str, ...], ColumnReader] = {}

    def read(self, batch: Any) -> tuple[Columns, int]:
        """The used columns by the stream's names, and the number of rows."""
        try:
            return self._reader.read(batch)
        except SchemaError:
            batch = arrow_of(batch, self._stream)
            there = {name.lower() for name in batch.schema.names}
            missing = tuple([name for name in self.used if name.lower() not in there])
            if not missing:
                raise
            if missing not in self._without:
                if self._needs(missing):
                    raise
                used = [name for name in self.used if name not in missing]
                self._without[missing] = ColumnReader(self._stream, used)
        columns, rows = self._without[missing].read(batch)
        nulls = {name: pa.nulls(rows, self._stream.schema.field(name).type) for name in missing}
        return {**columns, **nulls}, rows

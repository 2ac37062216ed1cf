"""Takes what the executors of one stream read out of batches; what it finds out about a schema it keeps for the next batch."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eddyline.execute.batch import Columns, Places, arrow_of, columns_at, find_places
from eddyline.execute.segment import SegmentExecutor
from eddyline.model.catalog import Stream


class Reader:
    """The executors of a stream among those of a set, and the columns that they read."""

    def __init__(self, stream: Stream, among: tuple[SegmentExecutor, ...]) -> None:
        self._stream, self.among = stream, among
        self.executors = [executor for executor in among if executor.segment.stream == stream.name]
        self.used = tuple(dict.fromkeys(c for executor in self.executors for c in executor.segment.columns))
        self._last: tuple[pa.Schema, Places] | None = None

    def read(self, batch: Any) -> tuple[Columns, int]:
        """The used columns by the stream's names, and the number of rows."""
        table = arrow_of(batch, self._stream)
        schema, last = table.schema, self._last
        if last is None or not last[0].equals(
            schema
        ):  # to hash a schema would take longer than to compare it
            last = self._last = schema, find_places(schema, self._stream, self.used)
        return columns_at(table, last[1]), table.num_rows

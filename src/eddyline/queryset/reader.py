"""What the executors of one stream read out of its batches."""

from __future__ import annotations

from eddyline.execute.batch import ColumnReader
from eddyline.execute.segment import SegmentExecutor
from eddyline.model.catalog import Stream


class Reader(ColumnReader):
    """The executors of a stream among those of a set, and the columns that they read."""

    def __init__(self, stream: Stream, among: tuple[SegmentExecutor, ...]) -> None:
        self.among = among
        self.executors = [executor for executor in among if executor.segment.stream == stream.name]
        super().__init__(
            stream, dict.fromkeys(c for executor in self.executors for c in executor.segment.columns)
        )

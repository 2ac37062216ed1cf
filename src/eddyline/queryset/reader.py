"""What the segments of one stream read out of its batches."""

from __future__ import annotations

from eddyline.execute.placed import Placed
from eddyline.execute.reading.batch import ColumnReader
from eddyline.model.catalog import Stream


class Reader(ColumnReader):
    """The segments of a stream among those of a set, and the columns that they read."""

    def __init__(self, stream: Stream, among: tuple[Placed, ...]) -> None:
        self.among = among
        self.segments = [placed for placed in among if placed.segment.stream == stream.name]
        super().__init__(stream, dict.fromkeys(c for placed in self.segments for c in placed.segment.columns))

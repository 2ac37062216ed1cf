"""The executors of one segment behind one face."""

from __future__ import annotations

from eddyline.execute.keyed import Keyed
from eddyline.execute.parts import MaskPart, PairPart
from eddyline.execute.sliced import Counts, Sliced
from eddyline.functions.evaluate import Evaluation
from eddyline.index.segment import Segment
from eddyline.model.matches import Part


class SegmentExecutor:
    """Evaluates all queries of a segment."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.sliced = Sliced(segment.sliced)
        self.keyed = Keyed(segment.keyed)

    def match(self, evaluation: Evaluation, rows: int, *, threads: int = 1) -> list[Part]:
        """The matches of a batch, one part for each executor that has queries."""
        parts: list[Part] = []
        if self.segment.sliced.program.results:
            parts.append(MaskPart(self.sliced.match(evaluation, rows, threads=threads)))
        if self.segment.keyed.tables:
            parts.append(PairPart(*self.keyed.match(evaluation, rows)))
        return parts

    def count(self, evaluation: Evaluation, rows: int, totals: Counts, *, threads: int = 1) -> None:
        """Add the number of matches of each query to totals[its number], without keeping the matches."""
        if self.segment.sliced.program.results:
            totals[self.segment.sliced.numbers] += self.sliced.count(evaluation, rows, threads=threads)
        if self.segment.keyed.tables:
            numbers, counts = PairPart(*self.keyed.match(evaluation, rows)).counts()
            totals[numbers] += counts

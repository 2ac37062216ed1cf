"""The executors of one segment behind one face."""

from __future__ import annotations

from functools import cached_property

from eddyline.execute.keyed import Keyed
from eddyline.execute.parts import MaskPart, PairPart
from eddyline.execute.rowwise import Rowwise
from eddyline.execute.sliced import Counts, Sliced
from eddyline.functions.evaluate import Evaluation
from eddyline.index.segment import Segment
from eddyline.kernels.sorting import add_numbers
from eddyline.model.matches import Part


class SegmentExecutor:
    """Evaluates all queries of a segment; each executor is made when it is first wanted.

    `places` are folders in which the segment is saved, and its name in each.
    """

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.places: dict[str, str] = {}

    @cached_property
    def sliced(self) -> Sliced:
        """Serves batches that are not evaluated row by row."""
        return Sliced(self.segment.sliced)

    @cached_property
    def keyed(self) -> Keyed:
        """Serves queries that are found by a value."""
        return Keyed(self.segment.keyed)

    @cached_property
    def rowwise(self) -> tuple[Rowwise, Sliced]:
        """Serve the batches that are evaluated row by row: plain conjunctions, and the other queries."""
        index = self.segment.rowwise
        assert index is not None, "the segment has no row-wise form"
        return Rowwise(index.ascs, index.sequence), Sliced(index.rest)

    def match(self, evaluation: Evaluation, rows: int, *, threads: int = 1) -> list[Part]:
        """The matches of a batch, one part for each executor that has queries."""
        parts: list[Part] = []
        rowwise, sliced = self._chosen(rows)
        if rowwise is not None and len(rowwise.index.numbers):
            parts.append(rowwise.match(evaluation, rows))
        if sliced.index.program.results:
            parts.append(MaskPart(sliced.match(evaluation, rows, threads=threads)))
        if self.segment.keyed.tables:
            parts.append(PairPart(*self.keyed.match(evaluation, rows)))
        return parts

    def count(self, evaluation: Evaluation, rows: int, totals: Counts, *, threads: int = 1) -> None:
        """Add the number of matches of each query to totals[its number], without keeping the matches."""
        rowwise, sliced = self._chosen(rows)
        if rowwise is not None and len(rowwise.index.numbers):
            numbers, counts = rowwise.match(evaluation, rows).counts()
            totals[numbers] += counts
        if sliced.index.program.results:
            totals[sliced.index.numbers] += sliced.count(evaluation, rows, threads=threads)
        if self.segment.keyed.tables:
            add_numbers(self.keyed.match(evaluation, rows)[1], totals)

    def _chosen(self, rows: int) -> tuple[Rowwise | None, Sliced]:
        """Who serves the queries without a key in a batch of so many rows."""
        index = self.segment.rowwise
        return self.rowwise if index is not None and index.serves(rows) else (None, self.sliced)

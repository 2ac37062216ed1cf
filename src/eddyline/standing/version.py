"""One version of the standing set: its queries, what they are compiled into, and those that still wait for it.

    change      Version v ── add, remove ──► Version v+1        both share rows, segments and what waits
    match       Version v ── ready ──► the same, compiled       once, whichever thread comes first

Nothing of a version changes. What is compiled later is another value of the same version, kept in its cell.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.reading.batch import ColumnReader
from eddyline.execute.rescue import rescue
from eddyline.execute.segment import SegmentExecutor
from eddyline.functions.evaluate import Evaluation
from eddyline.model.catalog import Stream, find_stream
from eddyline.model.expression import Call, Expression
from eddyline.model.matches import Matches, Part
from eddyline.model.query import NormalQuery, Query
from eddyline.standing.merging import Merging
from eddyline.standing.table import Table
from eddyline.standing.tail import Tail

Known = Mapping[Call, pa.Array | pa.ChunkedArray]  # values of what only Spark can compute


class Reading(ColumnReader):
    """The segments of a stream, and the columns that they read."""

    def __init__(self, stream: Stream, among: Iterable[Placed]) -> None:
        self.segments = [placed for placed in among if placed.segment.stream == stream.name]
        super().__init__(stream, dict.fromkeys(c for placed in self.segments for c in placed.segment.columns))


class _Cell:
    """Where a version keeps what was made of it: once, however many threads ask."""

    def __init__(self) -> None:
        self.making = threading.Lock()
        self.ready: Version | None = None
        self.readings: dict[str | None, Reading] = {}


@dataclass(frozen=True, eq=False)
class Version:
    """Invariant: a query that is not gone stands in one segment, or in the tail.

    `left_out` are queries of the tail of which no segment can be made, each with the reason; they are gone.
    """

    version: int
    compiler: Compiler
    settings: IndexSettings
    table: Table = field(default_factory=Table)
    segments: tuple[Placed, ...] = ()
    tail: Tail = field(default_factory=Tail)
    left_out: tuple[QueryError, ...] = ()
    _cell: _Cell = field(default_factory=_Cell, init=False, repr=False)

    def add(self, queries: Sequence[Query], normal: Sequence[NormalQuery]) -> Version:
        """The next version, with more queries, given with their normal forms; their ids must be free."""
        base = self.latest
        table, numbers = base.table.add(queries)
        tail = base.tail.add(list(zip(numbers, normal, strict=True)))
        return base._next(table=table, tail=tail)

    def remove(self, ids: Iterable[str]) -> Version:
        """The next version, without some queries."""
        base = self.latest
        return base._next(table=base.table.remove([base.table.number(id) for id in ids]))

    def served_by(self, executors: Sequence[SegmentExecutor]) -> Version:
        """The same version, its segments evaluated by others."""
        pairs = zip(executors, self.segments, strict=True)
        return replace(
            self, segments=tuple([Placed(executor, placed.numbering) for executor, placed in pairs])
        )

    def _next(self, **changes: Any) -> Version:
        return replace(self, version=self.version + 1, left_out=(), **changes)

    @property
    def latest(self) -> Version:
        """This version with the most of it compiled that anybody wanted so far."""
        return self._cell.ready or self

    def ready(self) -> Version:
        """This version with all of its queries in segments; who comes first compiles, the others wait."""
        if not len(self.tail):
            return self
        cell = self._cell
        if cell.ready is None:
            with cell.making:
                if cell.ready is None:
                    cell.ready = self._compiled()
        return cell.ready

    def _compiled(self) -> Version:
        merging = Merging(self.compiler, self.table, self.settings)
        segments, culprits = merging.merged(self.segments, self.tail)
        table, left_out = self.table.remove(culprits), tuple(culprits.values())
        return replace(self, table=table, segments=segments, tail=Tail(), left_out=left_out)

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name; without one, the only one that there is."""
        return find_stream({stream.name: stream for stream in self.compiler.streams}, name)

    def reading(self, stream: str | None = None) -> Reading:
        """What there is to read and to evaluate for the batches of a stream."""
        known = self._cell.readings.get(stream)
        if known is None:
            known = self._cell.readings[stream] = Reading(self.stream(stream), self.segments)
        return known

    def match(
        self,
        batch: Any,
        stream: str | None = None,
        *,
        threads: int = 1,
        known: Known | None = None,
        failed: dict[Expression, int] | None = None,
    ) -> Matches:
        """Which rows of a batch satisfy which queries; `known` and `failed` as for `QuerySet.match`."""
        reading = self.reading(stream)
        columns, rows = reading.read(batch)
        evaluation = Evaluation(columns, time_zone=self.compiler.time_zone, rows=rows, known=known)
        matches = self._matches(reading, evaluation, rows, threads)
        if failed and rows:
            evaluation.add_failures(failed)
        return matches

    def blocks(
        self, batch: Any, stream: str | None, size: int, *, threads: int, known: Known | None
    ) -> Iterator[Matches]:
        """The matches of a batch in pieces of at most `size` rows, in order."""
        reading = self.reading(stream)
        columns, total = reading.read(batch)
        for first in range(0, total, size):
            rows = min(size, total - first)
            piece = {name: column.slice(first, rows) for name, column in columns.items()}
            values = {call: column.slice(first, rows) for call, column in (known or {}).items()}
            evaluation = Evaluation(piece, time_zone=self.compiler.time_zone, rows=rows, known=values)
            yield self._matches(reading, evaluation, rows, threads, first)

    def _matches(
        self, reading: Reading, evaluation: Evaluation, rows: int, threads: int, first: int = 0
    ) -> Matches:
        failed: rescue.Failed = {}
        parts: list[Part] = []
        for placed in reading.segments if rows else ():
            parts += rescue.match(placed, evaluation, rows, self, failed, threads=threads)
        failed = {number: error for number, error in failed.items() if not self.table.is_gone(number)}
        return Matches(self.table, rows, parts, first=first, failed=failed)

    def count(
        self,
        batch: Any,
        stream: str | None = None,
        *,
        threads: int = 1,
        known: Known | None = None,
        into: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many rows of a batch match each query, by number, those of removed queries being 0; added to `into`."""
        reading = self.reading(stream)
        columns, rows = reading.read(batch)
        evaluation = Evaluation(columns, time_zone=self.compiler.time_zone, rows=rows, known=known)
        totals = np.zeros(self.table.size, np.int64) if into is None else into
        failed: rescue.Failed = {}
        for placed in reading.segments if rows else ():
            rescue.count(placed, evaluation, rows, self, totals, failed, threads=threads)
        if self.table.gone is not None:
            totals[self.table.gone] = 0
        return totals

    def normal_form(self, number: int) -> NormalQuery:
        """A query in normal form, a removed one as well: versions that still have it share the executor."""
        return self.compiler.compile(self.table.query(number))

    def name(self, number: int) -> str:
        """The id of a query."""
        return self.table.query(number).id

"""Runs queries over a history: one pass, block by block, in memory that does not grow with the history.

piece (some ten thousand rows) --QuerySet--> pairs of a block --> Buckets, Extremes, Samples, Overlaps --> QueryResult
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.runtime.embedded.backtest.axis import axis_of
from eddyline.runtime.embedded.backtest.buckets import FEWEST, Buckets
from eddyline.runtime.embedded.backtest.extremes import Extremes
from eddyline.runtime.embedded.backtest.overlap import Overlaps
from eddyline.runtime.embedded.backtest.prepare import Lane, Prepared
from eddyline.runtime.embedded.backtest.rows import Stretch
from eddyline.runtime.embedded.backtest.samples import Samples
from eddyline.runtime.embedded.backtest.values import (
    Backtest,
    Overlap,
    QueryResult,
    Track,
    Verdict,
)
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import Piece

Integers = npt.NDArray[np.signedinteger[Any]]
_FEWEST: Final = 512  # rows of a block that is not cut further
_CELLS: Final = 1 << 20  # counts over the axis, all queries of a stream together
_KEPT: Final = 100_000  # sample rows, all queries of a stream together


@dataclass(frozen=True)
class History:
    """What has happened on one stream."""

    stream: str
    pieces: Iterable[Piece]
    source: str = ""
    time: str | None = None  # the column to count over; None: the stream's event time, else the row's number
    rejects: Rejects | None = None  # where rows went that could not be read


@dataclass(frozen=True)
class Settings:
    """How much a report holds of each query."""

    buckets: int = 256  # at most; fewer where there are very many queries
    samples: int = 3
    overlaps: int = 5
    block_rows: int = 16_384
    block_matches: int = 1 << 22  # a block with more is cut


DEFAULT: Final = Settings()


def run(
    prepared: Prepared,
    histories: Iterable[History],
    *,
    time_zone: str = "UTC",
    settings: Settings = DEFAULT,
    on_rows: Callable[[int], None] | None = None,
) -> Backtest:
    """What the queries would have matched; `on_rows` is told of rows as they are done.

    >>> from eddyline import Query, Stream
    >>> from eddyline.runtime.embedded.backtest.prepare import prepare
    >>> ticks = Stream("ticks", pa.schema({"price": pa.float64()}))
    >>> piece = Piece(pa.record_batch({"price": [5.0, 50.0]}), "day.csv", 0)
    >>> prepared = prepare([Query("cheap", "SELECT * FROM ticks WHERE price < 10")], [ticks])
    >>> [query] = run(prepared, [History("ticks", [piece])]).queries
    >>> query.matches, query.share, query.first.values
    (1, 0.5, {'price': 5.0})
    """
    tracks, queries = [], []
    for history in histories:
        track, results = _Lap(prepared.lane(history.stream), history, time_zone, settings, on_rows).run()
        tracks.append(track)
        queries += results
    queries.sort(key=lambda query: prepared.order[query.id])
    existing = sum(len(lane.existing) for lane in prepared.lanes)
    return Backtest(tuple(tracks), tuple(queries), prepared.refused, existing=existing)


class _Lap:
    """One stream's history under way."""

    def __init__(
        self,
        lane: Lane,
        history: History,
        time_zone: str,
        settings: Settings,
        on_rows: Callable[[int], None] | None,
    ) -> None:
        self.lane, self.history, self.settings, self.on_rows = lane, history, settings, on_rows
        tested, every = len(lane.tested), len(lane.queries)
        self.axis = axis_of(lane.stream, history.time, time_zone)
        self.buckets = Buckets(self.axis, tested, _within(settings.buckets, _CELLS, tested, least=FEWEST))
        self.samples = Samples(tested, _within(settings.samples, _KEPT, tested, least=1))
        self.first, self.last = Extremes(tested, 1), Extremes(tested, -1)
        self.overlaps = Overlaps(tested, every)
        self.totals = np.zeros(every, np.int64)
        self.covered = np.zeros(tested, np.int64)
        self.taken = {query.id for query in lane.existing}
        self.rows, self.files = 0, 0

    def run(self) -> tuple[Track, list[QueryResult]]:
        latest = None
        for piece in self.history.pieces:
            self.files += piece.file != latest
            latest = piece.file
            self._take(Stretch(piece.batch, piece.file, piece.rows, self.rows))
            self.rows += piece.batch.num_rows
            if self.on_rows is not None:
                self.on_rows(piece.batch.num_rows)
        return self._track(), [self._result(number) for number in range(len(self.lane.tested))]

    def _take(self, stretch: Stretch) -> None:
        positions, known = self.axis.positions(stretch.batch, stretch.ordinal + 1)
        tested = len(self.lane.tested)
        for start, size, row, number in self._blocks(stretch.batch):
            self.totals += np.bincount(number, minlength=len(self.totals))
            self._cover(size, row, number)
            self.overlaps.add(size, row, number)
            places, flags = (
                positions[start : start + size],
                None if known is None else known[start : start + size],
            )
            mine = number < tested
            row, number = row[mine], number[mine]
            self.buckets.add(places, flags, row, number)
            self.samples.add(start, stretch.ordinal + start, size, row, number)
            for end in (self.first, self.last):
                end.add(start, places, flags, row, number)
        wanted = np.unique(np.concatenate([self.first.wanted(), self.last.wanted(), self.samples.wanted()]))
        rows = stretch.fetch(self.axis, wanted)
        self.samples.keep(rows, stretch.ordinal)
        for end in (self.first, self.last):
            end.keep(rows)

    def _blocks(
        self, batch: pa.RecordBatch, offset: int = 0
    ) -> Iterator[tuple[int, int, Integers, Integers]]:
        """Blocks with few enough matches: first row, number of rows, and pairs with rows counted from the first."""
        rows = _within(self.settings.block_rows, 1 << 31, len(self.lane.queries), least=_FEWEST)
        if offset or batch.num_rows < rows:
            rows = max(1, min(rows, batch.num_rows))
        for found in self.lane.queries.blocks(batch, rows=rows):
            first, size = found.first, len(found.row_range)
            if len(found) > self.settings.block_matches and size > _FEWEST:
                half = (size + 1) // 2
                for start in (first, first + half):
                    piece = batch.slice(start, min(half, first + size - start))
                    yield from self._blocks(piece, offset + start)
                continue
            row, number = found.pair_arrays()
            yield offset + first, size, row - first, number

    def _cover(self, size: int, row: Integers, number: Integers) -> None:
        """Count matches of queries under test on rows that an existing query matches too."""
        if not self.lane.existing:
            return
        mine = number < len(self.lane.tested)
        held = np.zeros(size, np.bool_)
        held[row[~mine]] = True
        np.add.at(self.covered, number[mine], held[row[mine]])

    def _track(self) -> Track:
        self.scale, rows_over, self.counts = self.buckets.result()
        rejects = self.history.rejects or Rejects()
        return Track(
            self.lane.stream.name,
            self.history.source,
            self.files,
            self.rows,
            self.scale,
            tuple(rows_over.tolist()),
            self.buckets.rows_off_axis,
            rejects.count,
            tuple(rejects.first),
            len(self.lane.existing),
            self.overlaps.exact,
        )

    def _result(self, number: int) -> QueryResult:
        query, matches = self.lane.tested[number], int(self.totals[number])
        return QueryResult(
            query.id,
            query.sql,
            self.lane.stream.name,
            matches,
            self.rows,
            self._verdict(number, matches),
            tuple(self.counts[number].tolist()),
            int(self.buckets.off_axis[number]),
            self.first.rows[number],
            self.last.rows[number],
            self.samples.rows(number),
            int(self.covered[number]) if self.lane.existing else None,
            tuple(self._overlaps(number)),
            query.id in self.taken,
        )

    def _verdict(self, number: int, matches: int) -> Verdict:
        if number in self.lane.impossible:
            return Verdict.IMPOSSIBLE
        if not matches:
            return Verdict.NEVER
        return Verdict.EVERYTHING if matches == self.rows else Verdict.FIRES

    def _overlaps(self, number: int) -> Iterator[Overlap]:
        """The largest ones with existing queries, then with others under test."""
        tested, every, size = len(self.lane.tested), len(self.lane.queries), self.settings.overlaps
        for among in (range(tested, every), range(tested)):
            for other, shared in self.overlaps.largest(number, among, size):
                of_other = int(self.totals[other])
                most = min(int(self.totals[number]), of_other)  # an estimate may come out above what there is
                estimated = bool(self.overlaps.estimated[number])
                yield Overlap(self.lane.id(other), min(shared, most), of_other, other < tested, estimated)


def _within(wanted: int, budget: int, queries: int, *, least: int) -> int:
    """As much a query as wanted, less where all together would take more than a budget."""
    return min(wanted, max(least, budget // max(1, queries)))

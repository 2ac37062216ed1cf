"""A tally of a whole history as the values that reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eddyline.backtest.prepare import Lane, PreparedBacktest
from eddyline.backtest.settings import Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Backtest, FiringVerdict, Overlap, QueryResult, Track
from eddyline.model.reject import Reject


@dataclass(frozen=True)
class StreamTally:
    """What was found on one stream, and what was read for it."""

    stream: str
    tally: Tally
    source: str = ""
    files: int = 0
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()  # the first few


def backtest_of(prepared: PreparedBacktest, streams: Iterable[StreamTally], settings: Settings) -> Backtest:
    """All streams together."""
    tracks, queries = [], []
    for read in streams:
        results = _StreamResults(prepared.lane(read.stream), read, settings)
        tracks.append(results.track())
        queries += results.results()
    queries.sort(key=lambda query: prepared.order[query.id])
    existing = sum(len(lane.existing) for lane in prepared.lanes)
    return Backtest(tuple(tracks), tuple(queries), prepared.refused, existing=existing)


class _StreamResults:
    """One stream's results being written."""

    def __init__(self, lane: Lane, read: StreamTally, settings: Settings) -> None:
        self.lane, self.read, self.settings = lane, read, settings
        self.tally = read.tally
        self.scale, self.rows_over, self.counts = self.tally.buckets.result()
        self.taken = {query.id for query in lane.existing}

    def track(self) -> Track:
        read, tally = self.read, self.tally
        return Track(
            self.lane.stream.name,
            read.source,
            read.files,
            tally.rows,
            self.scale,
            tuple(self.rows_over.tolist()),
            tally.buckets.rows_off_axis,
            read.rejected,
            read.rejects,
            len(self.lane.existing),
            tally.overlaps.exact,
        )

    def results(self) -> list[QueryResult]:
        return [self._result(number) for number in range(len(self.lane.tested))]

    def _result(self, number: int) -> QueryResult:
        query, tally = self.lane.tested[number], self.tally
        matches = int(tally.totals[number])
        return QueryResult(
            query.id,
            query.sql,
            self.lane.stream.name,
            matches,
            tally.rows,
            self._verdict(number, matches),
            tuple(self.counts[number].tolist()),
            int(tally.buckets.off_axis[number]),
            tally.first.rows[number],
            tally.last.rows[number],
            tally.samples.rows(number),
            int(tally.covered[number]) if self.lane.existing else None,
            tuple(self._overlaps(number)),
            query.id in self.taken,
        )

    def _verdict(self, number: int, matches: int) -> FiringVerdict:
        if number in self.lane.impossible:
            return FiringVerdict.IMPOSSIBLE
        if not matches:
            return FiringVerdict.NEVER
        return FiringVerdict.EVERYTHING if matches == self.tally.rows else FiringVerdict.FIRES

    def _overlaps(self, number: int) -> Iterator[Overlap]:
        """The largest ones with existing queries, then with others under test."""
        tested, every, size = len(self.lane.tested), len(self.lane.queries), self.settings.overlaps
        totals, overlaps = self.tally.totals, self.tally.overlaps
        for among in (range(tested, every), range(tested)):
            for other, shared in overlaps.largest(number, among, size):
                of_other = int(totals[other])
                most = min(int(totals[number]), of_other)  # an estimate may come out above what there is
                estimated = bool(overlaps.estimated[number])
                yield Overlap(self.lane.id(other), min(shared, most), of_other, other < tested, estimated)

"""A tally of a whole history as the values that reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eddyline.backtest.prepare import JoinLane, Lane, PreparedBacktest
from eddyline.backtest.rows import FoundPair, Shown
from eddyline.backtest.settings import Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Backtest, FiringVerdict, Overlap, Pair, QueryResult, Row, Track
from eddyline.model.reject import Reject


@dataclass(frozen=True)
class StreamTally:
    """What was found on one stream, or on a lane of joins, and what was read for it."""

    stream: str
    tally: Tally
    source: str = ""
    files: int = 0
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()  # the first few


def backtest_of(
    prepared: PreparedBacktest,
    streams: Iterable[StreamTally],
    settings: Settings,
    joins: Iterable[StreamTally] = (),
) -> Backtest:
    """All streams and joins together."""
    of_streams = [_LaneResults(prepared.lane(read.stream), read, settings) for read in streams]
    of_joins = [_LaneResults(prepared.join_lane(read.stream), read, settings) for read in joins]
    every = [*of_streams, *of_joins]
    queries = [result for results in every for result in results.results()]
    queries.sort(key=lambda query: prepared.order[query.id])
    return Backtest(
        tuple([results.track() for results in of_streams]),
        tuple(queries),
        prepared.refused,
        existing=sum(len(results.lane.existing) for results in every),
        joins=tuple([results.track() for results in of_joins]),
    )


class _LaneResults:
    """The results of one lane being written."""

    def __init__(self, lane: Lane | JoinLane, read: StreamTally, settings: Settings) -> None:
        self.lane, self.read, self.settings = lane, read, settings
        self.tally = read.tally
        self.scale, self.rows_over, self.counts = self.tally.buckets.result()
        self.taken = {query.id for query in lane.existing}

    def track(self) -> Track:
        read, tally = self.read, self.tally
        return Track(
            self.lane.name,
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
            self.lane.name,
            matches,
            tally.rows,
            self._verdict(number, matches),
            tuple(self.counts[number].tolist()),
            int(tally.buckets.off_axis[number]),
            self._shown(number, tally.first.rows[number]),
            self._shown(number, tally.last.rows[number]),
            tuple([self._sample(number, sample) for sample in tally.samples_of(number)]),
            int(tally.covered[number]) if self.lane.existing else None,
            tuple(self._overlaps(number)),
            query.id in self.taken,
            isinstance(self.lane, JoinLane),
        )

    def _shown(self, number: int, found: Shown | None) -> Row | Pair | None:
        return None if found is None else self._sample(number, found)

    def _sample(self, number: int, found: Shown) -> Row | Pair:
        """As a query's own: of a pair the rows by the aliases of the join, in its order."""
        if not isinstance(found, FoundPair):
            return found
        assert isinstance(self.lane, JoinLane), "only joins have pairs"
        rows = found.rows[::-1] if self.lane.is_turned(number) else found.rows
        aliases = [source.alias for source in self.lane.forms[number].sources]
        return Pair(found.at, dict(zip(aliases, rows, strict=True)))

    def _verdict(self, number: int, matches: int) -> FiringVerdict:
        if number in self.lane.impossible:
            return FiringVerdict.IMPOSSIBLE
        if not matches:
            return FiringVerdict.NEVER
        # of pairs nobody knows how many there are
        is_all = matches == self.tally.rows and isinstance(self.lane, Lane)
        return FiringVerdict.EVERYTHING if is_all else FiringVerdict.FIRES

    def _overlaps(self, number: int) -> Iterator[Overlap]:
        """The largest ones with existing queries, then with others under test."""
        tested, every, size = len(self.lane.tested), len(self.lane), self.settings.overlaps
        totals, overlaps = self.tally.totals, self.tally.overlaps
        for among in (range(tested, every), range(tested)):
            for other, shared in overlaps.largest(number, among, size):
                of_other = int(totals[other])
                most = min(int(totals[number]), of_other)  # an estimate may come out above what there is
                estimated = bool(overlaps.estimated[number])
                yield Overlap(self.lane.id(other), min(shared, most), of_other, other < tested, estimated)

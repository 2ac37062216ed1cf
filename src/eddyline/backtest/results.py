"""A tally of a whole history as the values that reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eddyline.backtest.prepare import Lane, Prepared
from eddyline.backtest.settings import Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Backtest, Overlap, QueryResult, Track, Verdict
from eddyline.model.reject import Reject


@dataclass(frozen=True)
class Finding:
    """What was found on one stream, and what was read for it."""

    stream: str
    tally: Tally
    source: str = ""
    files: int = 0
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()  # the first few


def backtest_of(prepared: Prepared, findings: Iterable[Finding], settings: Settings) -> Backtest:
    """All streams together."""
    tracks, queries = [], []
    for finding in findings:
        desk = _Desk(prepared.lane(finding.stream), finding, settings)
        tracks.append(desk.track())
        queries += desk.results()
    queries.sort(key=lambda query: prepared.order[query.id])
    existing = sum(len(lane.existing) for lane in prepared.lanes)
    return Backtest(tuple(tracks), tuple(queries), prepared.refused, existing=existing)


class _Desk:
    """One stream's results being written."""

    def __init__(self, lane: Lane, finding: Finding, settings: Settings) -> None:
        self.lane, self.finding, self.settings = lane, finding, settings
        self.tally = finding.tally
        self.scale, self.rows_over, self.counts = self.tally.buckets.result()
        self.taken = {query.id for query in lane.existing}

    def track(self) -> Track:
        finding, tally = self.finding, self.tally
        return Track(
            self.lane.stream.name,
            finding.source,
            finding.files,
            tally.rows,
            self.scale,
            tuple(self.rows_over.tolist()),
            tally.buckets.rows_off_axis,
            finding.rejected,
            finding.rejects,
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

    def _verdict(self, number: int, matches: int) -> Verdict:
        if number in self.lane.impossible:
            return Verdict.IMPOSSIBLE
        if not matches:
            return Verdict.NEVER
        return Verdict.EVERYTHING if matches == self.tally.rows else Verdict.FIRES

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

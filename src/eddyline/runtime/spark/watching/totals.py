"""The sums of all reports of a pipeline, kept from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eddyline.runtime.spark.watching.values import BatchReport

BOUNDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)  # seconds: buckets of the histogram
MOST_QUERIES: Final = 1_000  # whose matches the sums keep apart


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The sums of all reports of a source; `buckets` counts batches by their seconds, as BOUNDS and beyond."""

    last: BatchReport
    batches: int = 0
    rows: int = 0
    matched_rows: int = 0
    dropped_rows: int = 0
    dropped_files: int = 0
    matches: int = 0
    failures: int = 0
    problems: int = 0
    by_row: int = 0
    visited: int = 0
    working: float = 0.0
    watching: float = 0.0
    thinking: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    buckets: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)

    def plus(self, report: BatchReport) -> SourceTotals:
        """With one more batch."""
        place = next((i for i, bound in enumerate(BOUNDS) if report.total <= bound), len(BOUNDS))
        buckets = tuple(count + (i == place) for i, count in enumerate(self.buckets))
        return SourceTotals(
            last=report,
            batches=self.batches + 1,
            rows=self.rows + report.rows,
            matched_rows=self.matched_rows + report.matched_rows,
            dropped_rows=self.dropped_rows + report.dropped_rows,
            dropped_files=self.dropped_files + report.dropped_files,
            matches=self.matches + report.matches,
            failures=self.failures + report.failures,
            problems=self.problems + len(report.problems),
            by_row=self.by_row + report.by_row,
            visited=self.visited + report.visited,
            working=self.working + report.working,
            watching=self.watching + report.watching,
            thinking=self.thinking + report.thinking,
            seconds=_sum(self.seconds, {**report.seconds, "total": report.total}),
            buckets=buckets,
        )

    def to_json(self) -> dict[str, Any]:
        """As a document; `from_json` takes it back."""
        counts = {name: getattr(self, name) for name in (*_COUNTS, *_SECONDS)}
        return {
            "last": self.last.to_json(),
            **counts,
            "seconds": dict(self.seconds),
            "buckets": list(self.buckets),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> SourceTotals:
        counts: dict[str, Any] = {name: int(found.get(name, 0)) for name in _COUNTS}
        spent: dict[str, Any] = {name: float(found.get(name, 0.0)) for name in _SECONDS}
        buckets = tuple(found["buckets"])
        if len(buckets) != len(BOUNDS) + 1:
            raise ValueError("the bounds of the histogram are part of the format")
        last = BatchReport.from_json(found["last"])
        return cls(last, **counts, **spent, seconds=found["seconds"], buckets=buckets)


_COUNTS: Final = (
    "batches",
    "rows",
    "matched_rows",
    "dropped_rows",
    "dropped_files",
    "matches",
    "failures",
    "problems",
    "by_row",
    "visited",
)
_SECONDS: Final = ("working", "watching", "thinking")


@dataclass(frozen=True, slots=True)
class PipelineTotals:
    """The sums of all reports of a pipeline.

    A batch that is replayed after a failure is reported again: it is counted once, since nothing in it can differ.
    """

    sources: Mapping[str, SourceTotals] = field(default_factory=dict)
    delivered: Mapping[str, int] = field(default_factory=dict)
    # matches of queries while they were among the busiest of a batch
    queries: Mapping[str, int] = field(default_factory=dict)
    failing: Mapping[str, int] = field(default_factory=dict)  # failures, of those with the most in a batch

    def plus(self, report: BatchReport) -> PipelineTotals:
        """With one more batch, unless it is in already."""
        before = self.sources.get(report.source)
        if before is not None and report.batch_id <= before.last.batch_id:
            return self
        after = (before or SourceTotals(report)).plus(report)
        return PipelineTotals(
            {**self.sources, report.source: after},
            _sum(self.delivered, report.delivered),
            _busiest(_sum(self.queries, dict(report.top))),
            _busiest(_sum(self.failing, dict(report.failing))),
        )

    @property
    def newest(self) -> BatchReport | None:
        """The report with the latest time."""
        return max((one.last for one in self.sources.values()), key=lambda last: last.at, default=None)

    def count(self, name: str) -> int:
        """One of the counts, over all sources."""
        return sum(getattr(one, name) for one in self.sources.values())

    def busiest(self, count: int) -> list[str]:
        """The queries with the most matches, the first the busiest."""
        return sorted(self.queries, key=lambda id: (-self.queries[id], id))[:count]

    def most_failing(self, count: int) -> list[str]:
        """The queries with the most failures."""
        return sorted(self.failing, key=lambda id: (-self.failing[id], id))[:count]

    def to_json(self) -> dict[str, Any]:
        """As a document; `from_json` takes it back."""
        return {
            "sources": {name: one.to_json() for name, one in self.sources.items()},
            "delivered": dict(self.delivered),
            "queries": dict(self.queries),
            "failing": dict(self.failing),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> PipelineTotals:
        sources = {name: SourceTotals.from_json(one) for name, one in found["sources"].items()}
        return cls(sources, found["delivered"], found["queries"], found.get("failing", {}))


def total_of(reports: Iterable[BatchReport]) -> PipelineTotals:
    """The sums of some reports."""
    totals = PipelineTotals()
    for report in reports:
        totals = totals.plus(report)
    return totals


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(one)
    for name, value in other.items():
        both[name] = both.get(name, 0) + value
    return both


def _busiest(counts: dict[str, int]) -> dict[str, int]:
    """Not more than MOST_QUERIES of them: what queries match over years must not grow with their number."""
    if len(counts) <= MOST_QUERIES:
        return counts
    kept = sorted(counts, key=lambda id: (-counts[id], id))[: MOST_QUERIES // 2]
    return {id: counts[id] for id in kept}

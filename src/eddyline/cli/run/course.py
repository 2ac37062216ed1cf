"""The course of a run so far, as a view shows it: sums, the last batches, versions, problems."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from eddyline.runtime.spark.watching import BatchReport, PipelineTotals
from eddyline.runtime.spark.watching.values import STAGES

RECENT: Final = 60  # batches from which rates and times are taken
STARTING: Final = 2  # first batches of a run, in which workers start and code is loaded
KEPT: Final = 30  # changes and problems


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that happened: the version of the queries since, where it made one; when, and what."""

    version: int | None
    at: datetime
    text: str


@dataclass(slots=True)
class Course:
    """What the reports of a run come to. Nothing before the run is in it."""

    totals: PipelineTotals = field(default_factory=PipelineTotals)
    recent: deque[BatchReport] = field(default_factory=lambda: deque(maxlen=RECENT))
    changes: deque[RunEvent] = field(default_factory=lambda: deque(maxlen=KEPT))
    problems: deque[tuple[datetime, str]] = field(default_factory=lambda: deque(maxlen=KEPT))
    version: int = 0
    version_since: BatchReport | None = None

    def add(self, report: BatchReport) -> bool:
        """Take a report in; whether its version is a new one."""
        self.totals = self.totals.plus(report)
        self.recent.append(report)
        self.problems.extend((report.at, problem) for problem in report.problems)
        fresh = report.version != self.version and report.version >= self.version
        if fresh:
            self.version, self.version_since = report.version, report
        return fresh

    @property
    def rows_per_second(self) -> float:
        """Rows by the clock, over the last batches."""
        return self._by_the_clock(sum(report.rows for report in self.recent))

    @property
    def matches_per_second(self) -> float:
        """Matches by the clock, over the last batches."""
        return self._by_the_clock(sum(report.matches for report in self.recent))

    @property
    def rows_per_busy_second(self) -> float:
        """Rows in a second of work: what the pipeline could take if rows were always waiting."""
        gone = self.totals.count("batches") - len(self.recent)
        return rows_per_busy_second(list(self.recent)[max(0, STARTING - gone) :] or self.recent)

    def _by_the_clock(self, count: int) -> float:
        if not self.recent:
            return 0.0
        begin = min(report.at for report in self.recent)
        end = max(report.at + timedelta(seconds=report.total) for report in self.recent)
        passed = (end - begin).total_seconds()
        return count / passed if passed else 0.0

    @property
    def stage_seconds(self) -> dict[str, float]:
        """The usual time of each stage, and of all: medians of the last batches."""
        found = {
            stage: median(report.seconds.get(stage, 0.0) for report in self.recent) if self.recent else 0.0
            for stage in STAGES
        }
        found["total"] = median(report.total for report in self.recent) if self.recent else 0.0
        return found

    @property
    def latencies(self) -> list[float]:
        """Seconds of the last batches."""
        return [report.total for report in self.recent]


def rows_per_busy_second(reports: Iterable[BatchReport]) -> float:
    """The rows of some batches by the seconds that these took."""
    pairs = [(report.rows, report.total) for report in reports]
    busy = sum(seconds for _, seconds in pairs)
    return sum(rows for rows, _ in pairs) / busy if busy else 0.0

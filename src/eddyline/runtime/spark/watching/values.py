"""What is told of a pipeline: one report per batch, as a value and as JSON; never anything secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

STAGES: Final = ("pin", "match", "deliver", "commit")  # the parts of a batch, in their order; "total" is all
FORMAT: Final = 1  # of the lines of a file of reports
MOST_TOP: Final = 20  # queries named in a report
MOST_PROBLEMS: Final = 20
LONGEST_PROBLEM: Final = 500  # characters: a line of a report has a bounded length
EPOCH: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class BatchReport:
    """One micro-batch of one source, after it was committed.

    A match is a row that meets one query; a matched row is one that meets any. `at` is when the batch was given its
    version. What a report holds is cut to a bounded length, so that one that goes wrong in a million ways is still a line.

    >>> report = BatchReport(source="quotes", batch_id=3, version=2, queries=1_000, rows=20_000, matches=40)
    >>> BatchReport.from_json(report.to_json()) == report
    True
    """

    source: str
    batch_id: int
    version: int
    queries: int
    rows: int
    matched_rows: int = 0
    dropped_rows: int = 0  # dead letters
    dropped_files: int = 0  # that could not be read and were set aside
    matches: int = 0
    failures: int = 0  # operations that failed for a row and counted as NULL
    delivered: Mapping[str, int] = field(default_factory=dict)  # rows by sink
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage, and "total"
    top: tuple[tuple[str, int], ...] = ()  # the busiest queries of the batch, with their matches
    failing: tuple[tuple[str, int], ...] = ()  # the queries with the most failures, with their number
    newest_event: datetime | None = None  # the latest event time of its rows
    at: datetime = EPOCH
    problems: tuple[str, ...] = ()
    order: str = ""  # in which tuples visited subjects, in words
    by_row: int = 0  # tuples that did so row by row, counted once for each segment of the queries
    visited: int = 0  # ASCs that these visited
    working: float = 0.0  # seconds of the workers' processors
    watching: float = 0.0  # those of them that went into what the driver finds orders from
    thinking: float = 0.0  # seconds of the driver's, beside the batches, since the last report

    def __post_init__(self) -> None:
        cut = tuple(_short(problem) for problem in self.problems[:MOST_PROBLEMS])
        object.__setattr__(self, "problems", cut)
        object.__setattr__(self, "order", _short(self.order))
        for name in ("top", "failing"):
            object.__setattr__(self, name, tuple((id, count) for id, count in getattr(self, name)[:MOST_TOP]))

    @property
    def visited_each(self) -> float:
        """ASCs that a tuple visited, of those evaluated row by row."""
        return self.visited / self.by_row if self.by_row else 0.0

    @property
    def monitor_share(self) -> float:
        """Which part of the workers' time went into what orders are found from."""
        return self.watching / self.working if self.working else 0.0

    @property
    def total(self) -> float:
        """Seconds of the whole batch."""
        return self.seconds.get("total", sum(self.seconds.values()))

    @property
    def end(self) -> datetime:
        """When it was committed."""
        return self.at + timedelta(seconds=self.total)

    def to_json(self) -> dict[str, Any]:
        """As a document; `from_json` takes it back."""
        newest = self.newest_event
        return {
            "at": self.at.astimezone(UTC).isoformat(),
            "source": self.source,
            "batch_id": self.batch_id,
            "version": self.version,
            "queries": self.queries,
            "rows": self.rows,
            "matched_rows": self.matched_rows,
            "dropped_rows": self.dropped_rows,
            "dropped_files": self.dropped_files,
            "matches": self.matches,
            "failures": self.failures,
            "delivered": dict(self.delivered),
            "seconds": {stage: round(value, 6) for stage, value in self.seconds.items()},
            "top": [list(pair) for pair in self.top],
            "failing": [list(pair) for pair in self.failing],
            "newest_event": None if newest is None else newest.astimezone(UTC).isoformat(),
            "problems": list(self.problems),
            "order": self.order,
            "by_row": self.by_row,
            "visited": self.visited,
            "working": round(self.working, 6),
            "watching": round(self.watching, 6),
            "thinking": round(self.thinking, 6),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> BatchReport:
        """Fields of a later release are left out, those of an earlier one that are missing have their defaults."""
        known = {name: found[name] for name in cls.__slots__ if name in found}
        known["at"] = datetime.fromisoformat(known["at"])
        for name in ("top", "failing"):
            known[name] = tuple((id, count) for id, count in known.get(name, ()))
        if known.get("newest_event") is not None:
            known["newest_event"] = datetime.fromisoformat(known["newest_event"])
        known["problems"] = tuple(known.get("problems", ()))
        return cls(**known)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_PROBLEM else text[: LONGEST_PROBLEM - 3] + "..."

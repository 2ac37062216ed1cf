"""What a back-test finds, as frozen values: everything that a report shows, and nothing that knows how it looks.

    Backtest
      streams   one Track each:  files, rows, rejected rows, and the axis that counts stand over
      joins     one Track each:  two streams that are joined, and the axis that both have in common
      queries   one QueryResult each:  counts over the axis, first, last and sample rows, or pairs of rows, overlaps
      refused   queries that do not compile
      checks    expectations, each with its verdict

Invariant: `len(query.counts) == len(track.rows_over)` for the track that the query's `stream` names, and
`sum(query.counts) + query.off_axis == query.matches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eddyline.model.reject import Reject


class FiringVerdict(StrEnum):
    """What is to be said about how often a query fires."""

    FIRES = "fires"
    NEVER = "never"  # no row of the history matches
    IMPOSSIBLE = "impossible"  # no row of any history can
    EVERYTHING = "everything"  # every row of the history matches


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the history, with its place; values are plain: None, bool, int, float or text."""

    file: str
    number: int  # within the file, counted from one
    at: str  # where it stands on the axis
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that satisfy a join, by alias in the order of FROM."""

    at: str  # where the later of them stands on the axis
    rows: dict[str, Row]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many of a query's matches another query has too."""

    query: str
    shared: int
    of_other: int  # all matches of the other
    is_new: bool  # the other is one of the queries under test
    estimated: bool = False  # counted on some of the rows, and scaled


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query would have matched: rows, or pairs of rows if it is a join."""

    id: str
    sql: str
    stream: str  # of a join "quotes JOIN trades", as the track is called
    matches: int
    rows: int  # of its stream, or streams
    verdict: FiringVerdict
    counts: tuple[int, ...] = ()
    off_axis: int = 0  # matches whose row has no time
    first: Row | Pair | None = None
    last: Row | Pair | None = None
    samples: tuple[Row | Pair, ...] = ()
    covered: int | None = None  # matches that some existing query has too; None: nothing to compare with
    overlaps: tuple[Overlap, ...] = ()  # the largest
    replaces: bool = False  # an existing query has the same id
    is_join: bool = False

    @property
    def share(self) -> float:
        """Matches for each row of the stream; of a join that may be more than one.

        >>> QueryResult("q", "SELECT * FROM s", "s", matches=1, rows=4, verdict=FiringVerdict.FIRES).share
        0.25
        """
        return self.matches / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Scale:
    """The axis of one stream, cut into buckets of one width: bucket i starts at `start + i * width`."""

    kind: str  # "time", "number" or "row"
    column: str | None
    start: int  # microseconds since 1970, or a number
    width: int
    labels: tuple[str, ...]  # of the start of every bucket, and of the end of the last
    step: str  # the width in words


@dataclass(frozen=True, slots=True)
class Track:
    """One stream's history, or what two streams have that are joined; these have no source of their own."""

    stream: str
    source: str
    files: int
    rows: int
    scale: Scale
    rows_over: tuple[int, ...]  # rows of every bucket
    off_axis: int = 0  # rows without a time
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()  # the first few
    existing: int = 0  # existing queries over this stream
    exact_overlaps: bool = True  # else very small ones may be missing


@dataclass(frozen=True, slots=True)
class RefusedQuery:
    """A query that was left out; the rest went on."""

    id: str
    sql: str
    message: str  # in one line
    text: str  # with place and hint
    existing: bool = False


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """One expectation and whether it held."""

    query: str
    kind: str  # "min", "max", "match", "no_match"
    expected: str
    passed: bool
    message: str
    place: str


@dataclass(frozen=True, slots=True)
class Backtest:
    """All that one run found."""

    streams: tuple[Track, ...]
    queries: tuple[QueryResult, ...]
    refused: tuple[RefusedQuery, ...] = ()
    checks: tuple[ExpectationResult, ...] = ()
    existing: int = 0  # existing queries that were compared with
    joins: tuple[Track, ...] = ()

    @property
    def tracks(self) -> tuple[Track, ...]:
        """Of streams, and of joined ones."""
        return (*self.streams, *self.joins)

    def of(self, *verdicts: FiringVerdict) -> tuple[QueryResult, ...]:
        """The queries with one of some verdicts."""
        return tuple(query for query in self.queries if query.verdict in verdicts)

    @property
    def failed(self) -> tuple[ExpectationResult, ...]:
        """Expectations that did not hold."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether every query under test was accepted and every expectation held."""
        return not self.failed and not any(not refusal.existing for refusal in self.refused)

    @property
    def rows(self) -> int:
        """Rows of all streams."""
        return sum(track.rows for track in self.streams)

    @property
    def rejected(self) -> int:
        """Rows of all streams that could not be read."""
        return sum(track.rejected for track in self.streams)

    @property
    def matches(self) -> int:
        """Matches of all queries under test."""
        return sum(query.matches for query in self.queries)

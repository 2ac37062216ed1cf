"""What is asked of a cluster: queries, rows, matches, and how the cluster may be built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from eddyline.errors import UsageError

Kind = Literal["keyed", "ranges"]
KINDS: Final[tuple[Kind, ...]] = ("keyed", "ranges")
SHARE: Final = 1e-6  # assumed where nobody says more: each query matches one row in a million
COLUMNS: Final = 7  # likewise
LEAST_UTILISATION: Final = 0.1
MOST: Final = 1e15  # more than that is a slip of the keyboard


@dataclass(frozen=True, slots=True)
class Load:
    """So many queries over so many rows a second.

    kind        keyed: a query asks for a rare value, such as a symbol; ranges: it only has bounds
    share       of the rows that one query matches, on average
    delivered   share of the matches that become results: those of shadow queries do not
    columns     that conditions or SELECT lists read: these go to Python
    """

    queries: int
    rows_per_second: float
    columns: int = COLUMNS
    share: float = SHARE
    delivered: float = 1.0
    kind: Kind = "keyed"
    cores_per_worker: int = 4
    utilisation: float = 0.7  # of the time that cores may be busy: the rest is for peaks
    longest_batch: float = 60.0  # seconds

    def __post_init__(self) -> None:
        for name, value in (("queries", self.queries), ("rows per second", self.rows_per_second)):
            _check(name, value, 0 < value <= MOST, "a number above 0")
        _check("columns", self.columns, 1 <= self.columns <= 10_000, "a number from 1 to 10,000")
        per_row = self.matches_per_row
        _check("matches per row", per_row, 0 <= per_row <= self.queries, "at least 0, at most one per query")
        cores = self.cores_per_worker
        _check("cores per worker", cores, 1 <= cores <= 1_000, "a number from 1 to 1,000")
        busy = self.utilisation
        _check("utilisation", busy, LEAST_UTILISATION <= busy <= 1, "a number from 0.1 to 1")
        longest = self.longest_batch
        _check("the longest batch", longest, 1 <= longest <= 86_400, "1 to 86,400 seconds")

    @property
    def matches_per_row(self) -> float:
        """Queries that a row matches, on average."""
        return self.share * self.queries

    @property
    def results_per_second(self) -> float:
        """Rows that the sinks get."""
        return self.rows_per_second * self.matches_per_row * self.delivered

    def with_queries(self, queries: float) -> Load:
        """With more or fewer queries, each of which matches the same share of the rows."""
        return replace(self, queries=max(1, round(queries)))

    def with_rows(self, rows_per_second: float) -> Load:
        """With more or fewer rows."""
        return replace(self, rows_per_second=rows_per_second)


def _check(name: str, value: float, fine: bool, wanted: str) -> None:
    if not fine:  # NaN is never fine
        raise UsageError(f"{name}: {value:g} is not {wanted}")

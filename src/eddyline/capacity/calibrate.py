"""The rates as a pipeline has them, found from what it has reported of its batches.

Reports say what Python took in the workers and how long batches were. So these are taken from them; what Java takes, and how
costs grow with queries and columns, is taken from the rates that are given.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eddyline.capacity.load import KINDS, Kind
from eddyline.capacity.rates import Rates

WARM_UPS: Final = 2  # first batches of a source, in which workers start
LEAST_ROWS: Final = 1_000  # of a batch that says something about a row
SPREAD: Final = (
    4.0  # how many times larger the largest batches have to be for a line through them and the smallest
)
LEAST_BATCHES: Final = 8  # for such a line


@dataclass(frozen=True, slots=True)
class ObservedBatch:
    """What a report says of a batch: `working` are seconds of the workers' processors in Python, `seconds` all of it."""

    source: str
    batch_id: int
    queries: int
    rows: int
    matches: int
    delivered: int
    working: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Rates with what some batches said, and what these batches were.

    `factor`: how many times as long as by the given rates Python took. `batch` are seconds of a batch without rows, None where
    batches were too much alike to tell.
    """

    rates: Rates
    kind: Kind
    batches: int
    rows: int  # of a batch, the median
    queries: int  # of the last one
    share: float
    delivered: float
    factor: float
    batch: float | None

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "batches": self.batches,
            "rows_per_batch": self.rows,
            "queries": self.queries,
            "matches_per_row": self.share * self.queries,
            "delivered_share": self.delivered,
            "python_factor": self.factor,
            "batch_seconds": self.batch,
            "kind": self.kind,
        }


def calibrate(
    rates: Rates, batches: Sequence[ObservedBatch], columns: int, kind: Kind | None = None
) -> Calibrated | None:
    """The rates as these batches have them; None if they say too little. Without a kind the nearer one is taken."""
    steady = [batch for batch in _steady(batches) if batch.rows and batch.queries]
    most = max((batch.rows for batch in steady), default=0)
    large = [
        batch for batch in steady if batch.rows >= max(LEAST_ROWS, most / 2) and batch.working > 0
    ]  # in small ones what a batch takes anyway would count as rows
    if not large:
        return None
    factors = {one: _factor(rates, large, columns, one) for one in ([kind] if kind else KINDS)}
    chosen = min(factors, key=lambda one: abs(math.log(factors[one])))
    matches = sum(batch.matches for batch in steady)
    fixed = _fixed(steady)
    return Calibrated(
        rates.scaled(factors[chosen], batch=fixed),
        chosen,
        len(large),
        int(statistics.median(batch.rows for batch in large)),
        steady[-1].queries,
        matches / sum(batch.rows * batch.queries for batch in steady),
        min(1.0, sum(batch.delivered for batch in steady) / matches) if matches else 1.0,
        factors[chosen],
        fixed,
    )


def _steady(batches: Sequence[ObservedBatch]) -> list[ObservedBatch]:
    first: dict[str, int] = {}
    for batch in batches:
        first[batch.source] = min(batch.batch_id, first.get(batch.source, batch.batch_id))
    return [batch for batch in batches if batch.batch_id >= first[batch.source] + WARM_UPS]


def _factor(rates: Rates, batches: Sequence[ObservedBatch], columns: int, kind: Kind) -> float:
    """The median of what Python took by what the rates say."""
    grid = rates.matching[kind]
    return statistics.median(
        batch.working / (batch.rows * grid.at(batch.queries, columns) + batch.delivered * rates.result_python)
        for batch in batches
    )


def _fixed(batches: Sequence[ObservedBatch]) -> float | None:
    """Seconds of a batch without rows: where the line through batches of different sizes meets 0 rows."""
    rows = [batch.rows for batch in batches]
    if len(rows) < LEAST_BATCHES or max(rows) < SPREAD * min(rows):
        return None
    taken = [batch.seconds for batch in batches]
    slope, intercept = statistics.linear_regression(rows, taken)
    if slope < 0 or intercept <= 0:
        return None
    return min(intercept, min(taken))

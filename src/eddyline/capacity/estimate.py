"""What a load needs, what it runs into, and what of that lies beyond all that was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from eddyline.capacity.limits import Limit, limits
from eddyline.capacity.load import Load
from eddyline.capacity.rates import Rates
from eddyline.capacity.sizing import Sizing, size

MEASURED_CORES: Final = 2  # on which predictions were held against runs


@dataclass(frozen=True, slots=True)
class Estimate:
    """All that can be said of a load."""

    sizing: Sizing
    limits: tuple[Limit, ...]

    @property
    def load(self) -> Load:
        """What was asked."""
        return self.sizing.load

    @property
    def first(self) -> Limit:
        """What breaks first, or has broken."""
        return self.limits[0]

    @property
    def holds(self) -> bool:
        """Whether one pipeline can do it as pipelines are usually set up."""
        return self.sizing.is_possible and self.first.used < 1

    @property
    def extrapolated(self) -> tuple[str, ...]:
        """What lies beyond what was measured, in words."""
        load, rates = self.load, self.sizing.rates
        grid, found = rates.matching[load.kind], []
        if load.queries > grid.most_queries:
            found.append(f"queries: measured up to {grid.most_queries:,}, beyond that by the last slope")
        if load.columns > grid.columns[-1]:
            found.append(f"columns: measured up to {grid.columns[-1]}, beyond that by the last slope")
        if self.sizing.tasks > MEASURED_CORES:
            found.append(
                f"cores: runs were compared on up to {MEASURED_CORES}, beyond that they are assumed to add up"
            )
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        load = self.load
        return {
            "load": {
                "queries": load.queries,
                "rows_per_second": load.rows_per_second,
                "columns": load.columns,
                "matches_per_row": load.matches_per_row,
                "delivered_share": load.delivered,
                "kind": load.kind,
                "cores_per_worker": load.cores_per_worker,
                "utilisation": load.utilisation,
                "longest_batch": load.longest_batch,
            },
            "possible": self.holds,
            "needs": self.sizing.as_json(),
            "limits": [limit.as_json() for limit in self.limits],
            "extrapolated": list(self.extrapolated),
        }


def estimate(load: Load, rates: Rates) -> Estimate:
    """What a load needs and runs into."""
    sizing = size(load, rates)
    return Estimate(sizing, limits(sizing))

"""What a pipeline runs into when queries or rows become more, in the order in which it does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from eddyline.capacity.load import MOST, Load
from eddyline.capacity.rates import Rates
from eddyline.capacity.sizing import DRIVER_MOST, GIB, IN_PLAN, Sizing

MAX_RESULT: Final = GIB  # Spark's `spark.driver.maxResultSize`, as it is by default
STALLED_AFTER: Final = 900.0  # seconds of a start after which a pipeline is unhealthy, by default
DRIVER_MEMORY: Final = 64 * GIB  # assumed: the largest driver that is at hand
MEMORY_PER_CORE: Final = 4 * GIB  # assumed: what a general machine of a cloud has
PRECISE: Final = 1.0005  # how near the number is where a limit is passed


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that may be so much at most. `queries` and `rows_per_second` say when it is, all else being as asked.

    None says that it does not depend on them. `growth` is how many times as many queries, or rows, are possible: below 1 the
    limit is passed.
    """

    name: str
    unit: str
    now: float
    most: float
    queries: float | None
    rows_per_second: float | None
    growth: float
    to_do: str

    @property
    def used(self) -> float:
        """Which part of it is used; from 1 on it breaks."""
        return self.now / self.most

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "name": self.name,
            "unit": self.unit,
            "now": self.now,
            "most": self.most,
            "used": self.used,
            "growth": self.growth if math.isfinite(self.growth) else None,
            "breaks_at_queries": self.queries,
            "breaks_at_rows_per_second": self.rows_per_second,
            "to_do": self.to_do,
        }


class _Kind(NamedTuple):
    """A kind of limit: what it is called, how much of it a load needs and how much there is."""

    name: Callable[[Sizing], str]
    unit: str
    now: Callable[[Sizing], float]
    most: Callable[[Sizing], float]
    to_do: str


def _driver_time(sizing: Sizing) -> str:
    parts = sizing.longest_driver_parts
    return f"the driver's time for a batch, most of it {max(parts, key=parts.__getitem__)}"


KINDS: Final[tuple[_Kind, ...]] = (
    _Kind(
        _driver_time,
        "seconds",
        lambda sizing: sum(sizing.longest_driver_parts.values()),
        lambda sizing: DRIVER_MOST * sizing.load.utilisation * sizing.load.longest_batch,
        "longer batches (--longest-batch), or several pipelines with a part of the queries each",
    ),
    _Kind(
        lambda sizing: "what tasks tell the driver (spark.driver.maxResultSize)",
        "bytes",
        lambda sizing: sizing.told_bytes,
        lambda sizing: MAX_RESULT,
        "raise spark.driver.maxResultSize, and spark.driver.memory with it; shorter batches; several pipelines with a part of the queries each",
    ),
    _Kind(
        lambda sizing: "the compiled set in the plan of a batch",
        "bytes",
        lambda sizing: sizing.archive_bytes,
        lambda sizing: IN_PLAN,
        "beyond it workers must be able to read the checkpoint's folder: mount it on all of them, or use several "
        "pipelines with a part of the queries each",
    ),
    _Kind(
        lambda sizing: "compiling all queries at the start (stalled_after)",
        "seconds",
        lambda sizing: sizing.compiling_seconds,
        lambda sizing: STALLED_AFTER,
        "raise stalled_after; it is done once, versions grow out of the one before",
    ),
    _Kind(
        lambda sizing: "a batch that waits for changed queries",
        "seconds",
        lambda sizing: sizing.change_seconds,
        lambda sizing: sizing.load.utilisation * sizing.load.longest_batch,
        "change many queries at once instead of one after the other, or use longer batches",
    ),
    _Kind(
        lambda sizing: "memory of the driver",
        "bytes",
        lambda sizing: sizing.driver_python_bytes + sizing.driver_java_bytes,
        lambda sizing: DRIVER_MEMORY,
        "a larger machine, or several pipelines with a part of the queries each",
    ),
    _Kind(
        lambda sizing: "memory of a worker",
        "bytes",
        lambda sizing: sizing.worker_python_bytes + sizing.worker_java_bytes,
        lambda sizing: sizing.load.cores_per_worker * MEMORY_PER_CORE,
        "workers with more memory per core, or with more cores, which share the compiled set",
    ),
)


def limits(sizing: Sizing) -> tuple[Limit, ...]:
    """All limits, in the order in which they are met: by queries or by rows, whichever is sooner."""
    found = [_limit(kind, sizing) for kind in KINDS]
    return tuple(sorted(found, key=lambda limit: (limit.growth, -limit.used)))


def _limit(kind: _Kind, sizing: Sizing) -> Limit:
    load, rates = sizing.load, sizing.rates
    queries = _reached(kind, rates, load.with_queries)
    rows = _reached(kind, rates, load.with_rows)
    name = kind.name(sizing if kind.now(sizing) >= kind.most(sizing) else _later(sizing, queries, rows))
    now, most = kind.now(sizing), kind.most(sizing)
    growths = [] if queries is None else [queries / load.queries]
    growths += [] if rows is None else [rows / load.rows_per_second]
    growth = min(growths, default=0.0 if now >= most else math.inf)
    return Limit(name, kind.unit, now, most, queries, rows, growth, kind.to_do)


def _later(sizing: Sizing, queries: float | None, rows: float | None) -> Sizing:
    """The load where the limit is met, so that it is called by what breaks there."""
    load = sizing.load
    if queries is not None and (rows is None or queries / load.queries <= rows / load.rows_per_second):
        return Sizing(load.with_queries(queries), sizing.rates)
    return sizing if rows is None else Sizing(load.with_rows(rows), sizing.rates)


def _reached(kind: _Kind, rates: Rates, at: Callable[[float], Load]) -> float | None:
    """The number from which on the limit is passed, found by halving; None if it is passed nowhere, or everywhere."""

    def passed(number: float) -> bool:
        sizing = Sizing(at(number), rates)
        return kind.now(sizing) >= kind.most(sizing)

    low, high = 1.0, MOST
    if passed(low) or not passed(high):
        return None
    while high / low > PRECISE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passed(middle) else (middle, high)
    return high

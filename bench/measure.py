"""Times: a median of several runs after a warm-up, and the rate of an added row.

The clock is the CPU time of this process: other work on the machine then matters little. Peers are kept to one
thread, as we are; only the measurement of two threads looks at the wall clock.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

REPEATS: Final = 5
WARM_UPS: Final = 2
Clock = Callable[[], float]


@dataclass(frozen=True)
class Setting:
    """How much is measured; `quick` takes small batches and few repeats, `queries` is the largest set."""

    quick: bool = False
    queries: int = 1_000_000

    def sizes(self, *sizes: int) -> list[int]:
        """Sizes of query sets that are wanted; the smallest stands for all if none is."""
        most = min(self.queries, 10_000) if self.quick else self.queries
        return [size for size in sizes if size <= most] or [min(min(sizes), self.queries)]

    def rows(self, rows: int) -> int:
        """A number of rows, a tenth of it if the run is quick."""
        return max(1_000, rows // 10) if self.quick else rows

    def batches(self, queries: int, small: int, large: int) -> tuple[int, int]:
        """Two sizes for a marginal rate; for few queries small ones would drown in what a call costs anyway."""
        return (small, large) if queries <= 1_000 else (self.rows(small), self.rows(large))


def once(run: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Seconds of one call."""
    start = clock()
    run()
    return max(clock() - start, 1e-9)


def seconds(
    run: Callable[[], object],
    *,
    warm_ups: int = WARM_UPS,
    budget: float = 6.0,
    clock: Clock = time.process_time,
) -> float:
    """Median seconds of five calls; fewer if they would take more than `budget`, more if all are short."""
    for _ in range(warm_ups):
        run()
    times = [once(run, clock)]
    while len(times) < 50 and (
        (len(times) < REPEATS and sum(times) + times[-1] < budget) or sum(times) < budget / 30
    ):
        times.append(once(run, clock))
    return statistics.median(times)


def rate(run: Callable[[pa.RecordBatch], object], batch: pa.RecordBatch, **options: float) -> float:
    """Rows a second of a whole call."""
    return batch.num_rows / seconds(lambda: run(batch), **options)


def marginal(
    run: Callable[[object], object], small: tuple[int, object], large: tuple[int, object], **options: float
) -> float:
    """Rows a second between two sizes of a batch, so that what a call costs anyway does not count.

    Each size is its number of rows and the batch in the form that `run` takes.
    """
    short = seconds(lambda: run(small[1]), **options)
    long = seconds(lambda: run(large[1]), **options)
    if long <= short:  # lost in noise: the whole call is a lower bound
        return large[0] / long
    return (large[0] - small[0]) / (long - short)

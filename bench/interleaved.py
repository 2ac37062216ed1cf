"""Several query sets over the same batches, in turns: what disturbs one of them disturbs all.

Where a machine is now quick and now slow, for seconds, times of different rounds tell little beside each other. So each side
is compared with the first one round by round, and the median of that counts.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from bench.measure import once
from eddyline.queryset import QuerySet

ROUNDS: Final = 31
WARM: Final = 1.5  # seconds of matching before anything counts: orders and choices have settled
TURN: Final = 0.015  # seconds of one turn at least; shorter ones would measure the clock
HOPELESS: Final = 3.0  # times as long as the quickest: not worth measuring any closer


def interleaved(sides: Mapping[str, QuerySet], batches: Sequence[pa.RecordBatch]) -> dict[str, float]:
    """Median CPU seconds that each side takes for all batches, by its median beside the first side."""
    warm = {name: _warmed(side, batches) for name, side in sides.items()}
    most = HOPELESS * min(each.seconds for each in warm.values())
    order = [name for place, name in enumerate(sides) if not place or warm[name].seconds <= most]
    found = {name: [] if name in order else [warm[name].seconds] for name in sides}
    for number in range(ROUNDS):
        random.Random(number).shuffle(order)  # nobody always comes after the same one
        for name in order:
            turns = warm[name].turns
            took = once(lambda name=name, turns=turns: _match(sides[name], batches, turns))
            found[name].append(took / turns)
    first = found[next(iter(sides))]
    return {name: statistics.median(first) * _beside(times, first) for name, times in found.items()}


def _beside(times: list[float], first: list[float]) -> float:
    """How many times as long as the first one a side takes; one that was not measured in rounds has a single time."""
    if len(times) < len(first):
        return times[0] / statistics.median(first)
    return statistics.median([mine / others for mine, others in zip(times, first, strict=True)])


@dataclass(frozen=True)
class _Warmed:
    """What a side took for all batches when it was warm, and how often it goes over them in one turn."""

    seconds: float
    turns: int


def _warmed(side: QuerySet, batches: Sequence[pa.RecordBatch]) -> _Warmed:
    _match(side, batches, 1)  # kernels may have to be compiled
    started, times = time.process_time(), []
    while time.process_time() - started < WARM or not times:
        times.append(once(lambda: _match(side, batches, 1)))
    last = statistics.median(times[len(times) // 2 :])
    return _Warmed(last, max(1, round(TURN / last)))


def _match(side: QuerySet, batches: Sequence[pa.RecordBatch], times: int) -> None:
    for _ in range(times):
        for batch in batches:
            side.match(batch)

"""The watermark of a stream, and which of its tuples are left out of joins: row by row, whatever the size of batches.

    late           event time below the watermark: the highest event time of earlier tuples, less the lateness
    ahead          event time further ahead of the clock than the stream allows
    no time        NULL
    out of range   so far from 1970, or from 0, that differences of such times would not fit into 64 bits

Tuples that are left out do not move the watermark. Where the data is complete, only the last two are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.evaluate.arrays import numbers, validity
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.arrays import Flags
from eddyline.model.event_time import DAY, LONGEST, EventTime, longest

NEVER: Final = -LONGEST  # below every event time
REASONS: Final = ("late", "ahead", "no time", "out of range")
_SECOND: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class Watermark:
    """How far a stream has come.

    highest     event time of all tuples that were not left out
    least       below which it is not, since somebody said so
    """

    times: EventTime
    highest: int = NEVER
    least: int | None = None

    def value(self, is_complete: bool = False) -> int | None:
        """The least event time of tuples to come; None if that can be any."""
        found = [] if self.least is None else [self.least]
        if not is_complete and self.times.lateness is not None and self.highest > NEVER:
            found.append(self.highest - self.times.lateness)
        return max(found, default=None)

    def advanced(self, to: int) -> Watermark:
        """Raised by hand."""
        return Watermark(self.times, self.highest, to if self.least is None else max(self.least, to))


@dataclass(frozen=True, eq=False)
class Judged:
    """What becomes of a batch's tuples: their times, which of them are joined, and why the others are not."""

    times: npt.NDArray[np.int64]
    kept: Flags
    left_out: dict[str, int]
    watermark: Watermark


def judge(watermark: Watermark, column: pa.Array, clock: int | None) -> Judged:
    """Judge the event times of a batch; `clock` as `clock_of` gives it, None where the data is complete."""
    times = numbers(column).astype(np.int64)
    valid = validity(column)
    has_time = np.ones(len(times), np.bool_) if valid is None else valid
    limit = longest(watermark.times.type)
    in_range = (times > -limit) & (times < limit)
    wrong = {"no time": ~has_time, "out of range": has_time & ~in_range}
    kept = has_time & in_range
    if clock is not None:
        times_allowed = watermark.times
        if times_allowed.ahead is not None:
            wrong["ahead"] = kept & (times > clock + times_allowed.ahead)
            kept &= ~wrong["ahead"]
        wrong["late"] = kept & _late(watermark, np.where(kept, times, NEVER))
        kept &= ~wrong["late"]
    left_out = {reason: int(np.count_nonzero(wrong[reason])) for reason in REASONS if reason in wrong}
    highest = max(watermark.highest, int(times[kept].max(initial=NEVER)))
    moved = Watermark(watermark.times, highest, watermark.least)
    return Judged(times, kept, {reason: count for reason, count in left_out.items() if count}, moved)


def _late(watermark: Watermark, times: npt.NDArray[np.int64]) -> Flags:
    """Which times are below the watermark when their turn comes; a late one is below the highest and does not move it."""
    late = np.zeros(len(times), np.bool_)
    if watermark.times.lateness is not None:
        before = np.empty(len(times), np.int64)
        before[:1] = watermark.highest
        np.maximum.accumulate(times[:-1], out=before[1:])
        np.maximum(before, watermark.highest, out=before)
        late |= times < before - watermark.times.lateness
    if watermark.least is not None:
        late |= times < watermark.least
    return late


def clock_of(times: EventTime, now: int, zone: Zone) -> int:
    """What the clock shows in the unit of an event time; `now` is in microseconds since 1970 in UTC.

    >>> from eddyline.functions.zones import find_zone
    >>> clock_of(EventTime("day", t.DATE), 86_399_000_000, find_zone("+02:00"))
    1
    """
    if times.type == t.TIMESTAMP or times.type in t.INTEGRAL:
        return now
    local = now + int(zone.offset_at(np.array([now // _SECOND]))[0]) * _SECOND
    return local // DAY if times.type == t.DATE else local

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
from eddyline.kernels.join import judge_times
from eddyline.model import types as t
from eddyline.model.arrays import Flags
from eddyline.model.event_time import DAY, LONGEST, EventTime, longest

NEVER: Final = -LONGEST  # below every event time
REASONS: Final = ("late", "ahead", "no time", "out of range")  # as `judge_times` counts them
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
    times = numbers(column).astype(np.int64, copy=False).view()
    times.flags.writeable = False  # as most are: the kernel is compiled for these alone
    valid = validity(column)
    of = watermark.times
    if clock is None and valid is None and len(times):
        least, highest = int(times.min()), int(times.max())
        if -longest(of.type) < least and highest < longest(of.type):
            moved = Watermark(of, max(watermark.highest, highest), watermark.least)
            return Judged(times, np.ones(len(times), np.bool_), {}, moved)
    lateness, least, latest = -1, NEVER, LONGEST
    if clock is not None:
        lateness = -1 if of.lateness is None else of.lateness
        least = NEVER if watermark.least is None else max(NEVER, min(watermark.least, LONGEST))
        latest = LONGEST if of.ahead is None else min(clock + of.ahead, LONGEST)
    kept, counts = np.empty(len(times), np.bool_), np.zeros(len(REASONS), np.int64)
    highest = judge_times(
        times,
        np.empty(0, np.bool_) if valid is None else np.require(valid, np.bool_, ["C", "W"]),
        longest(of.type),
        watermark.highest,
        lateness,
        least,
        latest,
        kept,
        counts,
    )
    left_out = {reason: count for reason, count in zip(REASONS, counts.tolist(), strict=True) if count}
    return Judged(times, kept, left_out, Watermark(of, int(highest), watermark.least))


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

"""Dates and timestamps from text, from numbers and from one another; timestamps as numbers."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from eddyline.model import types as t
from eddyline.reference.casts import numbers
from eddyline.reference.failure import Failure
from eddyline.reference.numbers import decimals, floats
from eddyline.reference.numbers.arithmetic import in_range, wrap
from eddyline.reference.numbers.decimals import EXACT
from eddyline.reference.times import datetime_text
from eddyline.reference.times.zones import DAY, SECOND, zone


def to_time(source: t.DataType, target: t.DataType, value: Any, time_zone: str) -> int:
    """A date, a timestamp or a timestamp without zone."""
    if source == t.STRING:
        return datetime_text.read(target, value, time_zone)
    if t.is_numeric(source):
        return _from_number(value)
    if source == t.DATE:
        midnight = value * DAY
        return in_range(target, zone(time_zone).start_of_day(midnight) if target == t.TIMESTAMP else midnight)
    local = zone(time_zone).to_local(value) if source == t.TIMESTAMP else value
    if target == t.DATE:
        return local // DAY
    return in_range(target, zone(time_zone).to_instant(local) if target == t.TIMESTAMP else local)


def _from_number(seconds: int | float | Decimal) -> int:
    """Seconds since 1970 as a timestamp: whole ones are clipped, floats checked, decimals wrap around."""
    if isinstance(seconds, float):
        if not math.isfinite(seconds):
            raise Failure(f"{seconds} is no time")
        return numbers.whole(t.LONG, seconds * SECOND)
    if isinstance(seconds, Decimal):
        return wrap(t.TIMESTAMP, decimals.truncate(EXACT.multiply(seconds, SECOND)))
    low, high = t.RANGE[t.TIMESTAMP]
    return min(max(seconds * SECOND, low), high)


def to_number(target: t.DataType, instant: int) -> Any:
    """Seconds since 1970: rounded down for integers, with a fraction otherwise."""
    if t.is_integral(target):
        return in_range(target, instant // SECOND)
    if isinstance(target, t.DecimalType):
        return decimals.fit(EXACT.scaleb(Decimal(instant), -6), target)
    # Java divides two doubles.
    seconds = floats.nearest(instant, t.DOUBLE) / SECOND
    return numbers.to_number(t.DOUBLE, target, seconds)

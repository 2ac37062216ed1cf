"""Fields, truncation and arithmetic of dates (days) and timestamps (microseconds)."""

from __future__ import annotations

from typing import Final

from eddyline.model import types as t
from eddyline.reference.numbers.arithmetic import in_range, wrap
from eddyline.reference.times import calendar
from eddyline.reference.times.zones import DAY, SECOND, WallClock, zone

UTC: Final = WallClock(None)


def clock(kind: t.DataType, time_zone: str) -> WallClock:
    """The zone whose wall clock counts for a timestamp: the session's, or none for a timestamp without zone."""
    return UTC if kind == t.TIMESTAMP_NTZ else zone(time_zone)


def year(days: int) -> int:
    return calendar.from_days(days)[0]


def month(days: int) -> int:
    return calendar.from_days(days)[1]


def day(days: int) -> int:
    return calendar.from_days(days)[2]


def dayofweek(days: int) -> int:
    """1 is Sunday; 1970-01-01 was a Thursday."""
    return (days + 4) % 7 + 1


def hour(wall_clock: WallClock, instant: int) -> int:
    return wall_clock.to_local(instant) // (3600 * SECOND) % 24


def minute(wall_clock: WallClock, instant: int) -> int:
    return wall_clock.to_local(instant) // (60 * SECOND) % 60


def second(wall_clock: WallClock, instant: int) -> int:
    return wall_clock.to_local(instant) // SECOND % 60


def unix_timestamp(instant: int) -> int:
    """Whole seconds, towards zero as in Java: half a second before 1970 is second 0."""
    seconds = abs(instant) // SECOND
    return seconds if instant >= 0 else -seconds


_DATE_UNITS: Final = {
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
    "QUARTER": "quarter",
    "WEEK": "week",
} | dict.fromkeys(("MONTH", "MON", "MM"), "month")
_CLOCK_UNITS: Final = {"DAY": DAY, "DD": DAY, "HOUR": 3600 * SECOND, "MINUTE": 60 * SECOND}
_INSTANT_UNITS: Final = {"SECOND": SECOND, "MILLISECOND": 1000, "MICROSECOND": 1}


def date_trunc(wall_clock: WallClock, unit: str, instant: int) -> int | None:
    """The start of the unit that the instant lies in, on the wall clock; NULL for an unknown unit."""
    unit = unit.upper()
    if unit in _DATE_UNITS:
        start = _start_of(_DATE_UNITS[unit], wall_clock.to_local(instant) // DAY)
        return in_range(t.TIMESTAMP, wall_clock.start_of_day(start * DAY))
    if unit in _CLOCK_UNITS:
        local = wall_clock.to_local(instant)
        start = local - local % _CLOCK_UNITS[unit]
        return in_range(t.TIMESTAMP, wall_clock.to_instant(start, preferred=wall_clock.offset_at(instant)))
    if unit in _INSTANT_UNITS:
        return in_range(t.TIMESTAMP, instant - instant % _INSTANT_UNITS[unit])
    return None


def _start_of(unit: str, days: int) -> int:
    if unit == "week":
        return days - (days + 3) % 7  # Mondays
    year, month, _ = calendar.from_days(days)
    first = {"year": 1, "quarter": month - (month - 1) % 3, "month": month}[unit]
    return calendar.to_days(year, first, 1)


def date_add(days: int, more: int) -> int:
    return wrap(t.DATE, days + more)


def date_sub(days: int, less: int) -> int:
    return wrap(t.DATE, days - less)


def datediff(end: int, start: int) -> int:
    return wrap(t.INT, end - start)


def date_add_months(days: int, months: int) -> int:
    return in_range(t.DATE, calendar.plus_months(days, months))


def time_add(wall_clock: WallClock, interval: t.DataType, instant: int, amount: int) -> int:
    """Months and whole days move the wall clock, keeping its offset where possible; the rest is added as it is."""
    local, offset = wall_clock.to_local(instant), wall_clock.offset_at(instant)
    if interval == t.YEAR_MONTH:
        days, time = divmod(local, DAY)
        moved, rest = calendar.plus_months(days, amount) * DAY + time, 0
    else:
        whole = abs(amount) // DAY * DAY * (1 if amount >= 0 else -1)
        moved, rest = local + whole, amount - whole
    return in_range(t.TIMESTAMP, wall_clock.to_instant(moved, preferred=offset) + rest)


def subtract_dates(end: int, start: int) -> int:
    return in_range(t.DAY_TIME, (end - start) * DAY)


def subtract_times(wall_clock: WallClock, end: int, start: int) -> int:
    """How far apart the two are on the wall clock."""
    return in_range(t.DAY_TIME, wall_clock.to_local(end) - wall_clock.to_local(start))

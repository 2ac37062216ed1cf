"""Dates and timestamps read from text as CAST reads them, without a format."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from eddyline.model import types as t
from eddyline.reference.failure import Failure
from eddyline.reference.numbers.arithmetic import in_range
from eddyline.reference.text import JAVA_SPACE, SPACE
from eddyline.reference.times import calendar
from eddyline.reference.times.zones import DAY, SECOND, WallClock, zone

_DATE = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_DAY: Final = (
    r"(?P<sign>[+-]?)(?P<year>[0-9]{4,6})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T]%s)?)?)?"
)
_TIME: Final = (
    r"(?P<hour>[0-9]{1,2})%s(?::(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?(?P<zone>[^0-9].*)?)?)?"
)
_TIMESTAMP = re.compile(_DAY % (_TIME % ""), re.DOTALL)
_JUST_TIME = re.compile(_TIME % "(?=:)", re.DOTALL)
_AFTER_T = re.compile("T" + _TIME % "", re.DOTALL)


def read(target: t.DataType, text: str, time_zone: str) -> int:
    """A date, a timestamp or a timestamp without zone; fails where the text is none.

    >>> read(t.DATE, " 2020-1-2 ", "UTC"), read(t.TIMESTAMP, "1970-01-01 01:00:00+01:00", "UTC")
    (18263, 0)
    """
    return _date(text) if target == t.DATE else _timestamp(target, text, time_zone)


def _date(text: str) -> int:
    match = _DATE.fullmatch(text.strip(SPACE))
    if match is None:
        raise Failure(f"{text!r} is no date")
    sign, year, month, day = match.groups()
    return in_range(t.DATE, _days(sign, year, month, day))


def _timestamp(target: t.DataType, text: str, time_zone: str) -> int:
    """The time of day may be cut short, and its zone named; without a zone the session's counts."""
    trimmed = text.strip(SPACE)
    match = _TIMESTAMP.fullmatch(trimmed) or _JUST_TIME.fullmatch(trimmed) or _AFTER_T.fullmatch(trimmed)
    if match is None:
        raise Failure(f"{text!r} is no timestamp")
    part = match.groupdict()
    named = zone(part["zone"].strip(JAVA_SPACE)) if part["zone"] else None
    wall_clock = named or zone(time_zone)
    if "year" in part:
        days = _days(part["sign"], part["year"], part["month"], part["day"])
    elif target == t.TIMESTAMP:
        days = _today(wall_clock)
    else:
        raise Failure(f"{text!r} has no date")
    local = days * DAY + _time_of_day(part)
    return in_range(target, local if target == t.TIMESTAMP_NTZ else wall_clock.to_instant(local))


def _days(sign: str, year: str, month: str | None, day: str | None) -> int:
    date = int(sign + year), int(month or 1), int(day or 1)
    if not calendar.is_date(*date):
        raise Failure(f"there is no day {date}")
    return calendar.to_days(*date)


def _time_of_day(part: dict[str, str | None]) -> int:
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        raise Failure("no such time of day")
    micros = int((part["fraction"] or "").ljust(6, "0")[:6])
    return (hour * 3600 + minute * 60 + second) * SECOND + micros


def _today(wall_clock: WallClock) -> int:
    """A time without a date is one of the current day, as in Spark."""
    now = int(datetime.now(UTC).timestamp()) * SECOND
    return wall_clock.to_local(now) // DAY

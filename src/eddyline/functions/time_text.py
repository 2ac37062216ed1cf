"""Dates and timestamps as Spark's casts read and write them."""

from __future__ import annotations

import re
import time
from typing import Final, NamedTuple

import numpy as np

from eddyline.functions.civil import days_of
from eddyline.functions.zones import Zone, find_zone

MICROS_PER_SECOND: Final = 1_000_000
MICROS_PER_DAY: Final = 86_400 * MICROS_PER_SECOND
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

# At both ends white space and control characters do not count.
_TRIM: Final = "".join(map(chr, (*range(0x21), 0x7F)))

_DATE: Final = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIME: Final = r"([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?"
_TIMESTAMP: Final = re.compile(
    rf"([+-]?)([0-9]{{4,6}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:[ T]{_TIME})?)?)?", re.DOTALL
)
_ONLY_TIME: Final = re.compile(_TIME, re.DOTALL)
_JAVA_TRIM: Final = "".join(map(chr, range(0x21)))


def parse_date(text: str) -> int | None:
    """Days since 1970 of a text, or None if it is no date.

    >>> parse_date(" 1970-1-2 "), parse_date("1970-01-02T whatever"), parse_date("1970-01 x")
    (1, 1, None)
    """
    match = _DATE.fullmatch(text.strip(_TRIM))
    if match is None:
        return None
    sign, year, month, day = match.groups()
    days = days_of(int(sign + year), int(month or 1), int(day or 1))
    return days if days is not None and -(2**31) <= days < 2**31 else None


class LocalDateTime(NamedTuple):
    """A date and a time without a zone, and the zone if the text names one."""

    days: int | None  # since 1970-01-01; None for today
    micros: int  # since midnight
    zone: Zone | None

    @property
    def total(self) -> int:
        """Microseconds since 1970-01-01T00:00:00; may lie beyond 64 bits."""
        assert self.days is not None, "a time without a date is no point in time"
        return self.days * MICROS_PER_DAY + self.micros


def parse_wall_clock(text: str) -> LocalDateTime | None:
    """The date, time and zone of a text, or None if it is no timestamp.

    >>> parse_wall_clock("1970-01-02 00:00:01.5")
    LocalDateTime(days=1, micros=1500000, zone=None)
    >>> parse_wall_clock("1970-01-01T00:00:01 Nowhere") is None
    True
    """
    trimmed = text.strip(_TRIM)
    match = _TIMESTAMP.fullmatch(trimmed)
    if match is None:
        return _parse_only_time(text, trimmed)
    sign, year, month, day, *clock = match.groups()
    days = days_of(int(sign + year), int(month or 1), int(day or 1))
    return None if days is None else _at_time(days, *clock)


def _parse_only_time(text: str, trimmed: str) -> LocalDateTime | None:
    """`T10`, `T10:30` and so on at the very beginning, or `10:30` and so on without the T: a time of today."""
    match = _ONLY_TIME.fullmatch(trimmed[1:] if text.startswith("T") else trimmed)
    if match is None or (match[2] is None and not text.startswith("T")):
        return None
    return _at_time(None, *match.groups())


def _at_time(
    days: int | None,
    hour: str | None,
    minute: str | None,
    second: str | None,
    fraction: str | None,
    name: str | None,
) -> LocalDateTime | None:
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    zone = None if name is None else find_zone(name.strip(_JAVA_TRIM))
    if hours > 23 or minutes > 59 or seconds > 59 or (name is not None and zone is None):
        return None
    total = hours * 3600 + minutes * 60 + seconds
    return LocalDateTime(days, total * MICROS_PER_SECOND + int((fraction or "")[:6].ljust(6, "0")), zone)


def parse_timestamp(text: str, session: Zone) -> int | None:
    """Microseconds since 1970 UTC of a text, or None if it is no timestamp.

    >>> parse_timestamp("1970-01-01 02:00:00+02:00", find_zone("UTC"))
    0
    """
    clock = parse_wall_clock(text)
    if clock is None:
        return None
    zone = clock.zone or session
    if clock.days is None:
        clock = clock._replace(days=_today(zone))
    return instant(clock.total, zone)


def _today(zone: Zone) -> int:
    now = int(time.time())
    return (now + int(zone.offset_at(np.array([now]))[0])) // 86_400


def parse_timestamp_ntz(text: str) -> int | None:
    """Microseconds since 1970 on the wall clock of a text, whose zone does not count; None if it is no timestamp."""
    clock = parse_wall_clock(text)
    if clock is None or clock.days is None or not LONG_MIN <= clock.total <= LONG_MAX:
        return None
    return clock.total


def instant(local: int, zone: Zone) -> int | None:
    """The instant of a wall-clock time, both in microseconds; None beyond 64 bits."""
    seconds, micros = divmod(local, MICROS_PER_SECOND)
    offset = int(zone.offset_of_local(np.array([seconds]))[0])
    result = (seconds - offset) * MICROS_PER_SECOND + micros
    return result if LONG_MIN <= result <= LONG_MAX else None


def date_text(year: int, month: int, day: int) -> str:
    """A date as Spark writes it: at least four digits of the year, a sign before more.

    >>> date_text(1, 2, 3), date_text(-1, 2, 3), date_text(12345, 2, 3)
    ('0001-02-03', '-0001-02-03', '+12345-02-03')
    """
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def time_text(micros: int) -> str:
    """A time of day as Spark writes it: the fraction without trailing zeros.

    >>> time_text(1_500_000), time_text(0)
    ('00:00:01.5', '00:00:00')
    """
    seconds, fraction = divmod(micros, MICROS_PER_SECOND)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text if fraction == 0 else f"{text}.{fraction:06d}".rstrip("0")

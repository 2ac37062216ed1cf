"""Event times: in which unit they count, and lengths and moments of time as people write them.

type of the event time         unit              a length is written as
timestamp, timestamp_ntz       microsecond       "10 seconds", "1 hour 30 minutes", timedelta(seconds=10)
date                           day               "2 days", timedelta(days=2)
tinyint .. bigint              1                 10
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from eddyline.errors import SchemaError
from eddyline.model import types as t
from eddyline.model.names import short_repr

Length = str | int | timedelta  # as users give it
Moment = datetime | date | int  # of event time, as its type has them; an int, too, beyond Python's calendar

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

DAY: Final = 86_400_000_000  # microseconds
LONGEST: Final = 2**62  # units; event times and lengths below it have differences that fit into 64 bits
LONGEST_IN_DAYS: Final = LONGEST // DAY  # the same for dates, whose differences are told in microseconds, too
_UNITS: Final = {
    "microsecond": 1,
    "us": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": 1_000_000,
    "sec": 1_000_000,
    "s": 1_000_000,
    "minute": 60_000_000,
    "min": 60_000_000,
    "m": 60_000_000,
    "hour": 3_600_000_000,
    "h": 3_600_000_000,
    "day": DAY,
    "d": DAY,
    "week": 7 * DAY,
    "w": 7 * DAY,
}
_CANONICAL: Final = ("week", "day", "hour", "minute", "second", "millisecond", "microsecond")
_PIECE: Final = re.compile(r"\s*(\d+)\s*([a-zA-Z]+)")
_EXAMPLE: Final = 'write it as "10 seconds", "5 minutes" or "1 day"'


def is_event_time(kind: t.DataType | None) -> bool:
    """Whether values of a type can be event times."""
    return kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DATE) or kind in t.INTEGRAL


def longest(kind: t.DataType) -> int:
    """What event times of a type, and lengths between them, have to stay below to be joined, in their unit."""
    return LONGEST_IN_DAYS if kind == t.DATE else LONGEST


def length_in_units(length: Length, kind: t.DataType, what: str) -> int:
    """A length in the unit of an event time's type; a `SchemaError` says what is wrong with it.

    >>> (
    ...     length_in_units("1 minute 30 seconds", t.TIMESTAMP, "lateness"),
    ...     length_in_units("2 weeks", t.DATE, "lateness"),
    ... )
    (90000000, 14)
    >>> length_in_units(5, t.LONG, "lateness")
    5
    """
    if kind in t.INTEGRAL:
        if isinstance(length, str) and _is_number(length):
            length = int(length)
        if isinstance(length, bool) or not isinstance(length, int):
            raise SchemaError(
                f"{what} {short_repr(length)} does not fit an event time that is a whole number",
                hint="give a number, in the unit of the column",
            )
        units = length
    else:
        found = microseconds(length, what)
        if kind == t.DATE and found % DAY:
            raise SchemaError(
                f"{what} {short_repr(length)} does not fit an event time that is a date",
                hint='dates count whole days: "1 day"',
            )
        units = found // DAY if kind == t.DATE else found
    if not 0 <= units < longest(kind):
        problem = "is negative" if units < 0 else "is too long"
        raise SchemaError(f"{what} {short_repr(length)} {problem}")
    return units


def microseconds(length: Length, what: str) -> int:
    """A length of time in microseconds.

    >>> microseconds("2 hours 5 s", "lateness"), microseconds(timedelta(milliseconds=3), "lateness")
    (7205000000, 3000)
    """
    if isinstance(length, timedelta):
        return length // MICROSECOND
    if not isinstance(length, str):
        raise SchemaError(f"{what} {short_repr(length)} is no length of time", hint=_EXAMPLE)
    total, end = 0, 0
    for piece in _PIECE.finditer(length):
        unit = piece[2].lower()
        known = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if piece.start() != end or known is None or len(piece[1]) > 20:
            break
        total, end = total + int(piece[1]) * known, piece.end()
    if end == 0 or length[end:].strip():
        is_calendar = re.search(r"month|year", length, re.IGNORECASE)
        raise SchemaError(
            f"{what} {short_repr(length)} is no length of time",
            hint="months and years differ in length; give days" if is_calendar else _EXAMPLE,
        )
    return total


def settled_length(length: Length | None, what: str) -> str | int | None:
    """A length as it is written down, whatever event time it is for: a number, or a length of time as text.

    >>> (
    ...     settled_length(timedelta(seconds=90), "join_window"),
    ...     settled_length("90 s", "join_window"),
    ...     settled_length("5", "join_window"),
    ... )
    ('1 minute 30 seconds', '1 minute 30 seconds', 5)
    """
    if length is None:
        return None
    is_number = isinstance(length, str) and _is_number(length)
    if is_number or (isinstance(length, int) and not isinstance(length, bool)):
        return length_in_units(length, t.LONG, what)
    return length_text(length_in_units(length, t.TIMESTAMP, what), t.TIMESTAMP)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*\d+\s*", text) is not None and len(text) < 40


def length_text(units: int, kind: t.DataType) -> str:
    """A length as people read it.

    >>> (
    ...     length_text(90_000_000, t.TIMESTAMP),
    ...     length_text(14, t.DATE),
    ...     length_text(5, t.LONG),
    ...     length_text(0, t.DATE),
    ... )
    ('1 minute 30 seconds', '14 days', '5', '0 days')
    """
    if kind in t.INTEGRAL:
        return str(units)
    if kind == t.DATE:
        return _counted(units, "day")
    found, left = [], abs(units)
    for unit in _CANONICAL[1:]:  # weeks are read as days
        count, left = divmod(left, _UNITS[unit])
        if count:
            found.append(_counted(count, unit))
    return ("-" if units < 0 else "") + (" ".join(found) or "0 seconds")


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" if abs(count) == 1 else f"{count} {unit}s"


@dataclass(frozen=True, slots=True)
class EventTime:
    """What a stream says about its event time; lengths are in the unit of `type`.

    lateness    how far a tuple may lie behind the latest one before it, and still be joined; None: not said
    ahead       how far a tuple may lie ahead of the clock; None: as far as any
    idle        after how long a silent stream no longer holds back the others, in microseconds; None: never
    """

    column: str
    type: t.DataType
    lateness: int | None = None
    ahead: int | None = None
    idle: int | None = None


def units_of(moment: Moment, times: EventTime, stream: str) -> int:
    """A moment in the unit of an event time.

    >>> units_of(date(1970, 1, 3), EventTime("day", t.DATE), "quotes")
    2
    """
    kind = times.type
    if kind == t.TIMESTAMP and isinstance(moment, datetime) and moment.tzinfo is not None:
        return (moment - EPOCH) // MICROSECOND
    if kind == t.TIMESTAMP_NTZ and isinstance(moment, datetime) and moment.tzinfo is None:
        return (moment - EPOCH.replace(tzinfo=None)) // MICROSECOND
    if kind == t.DATE and isinstance(moment, date) and not isinstance(moment, datetime):
        return (moment - EPOCH.date()).days
    if kind in t.INTEGRAL and isinstance(moment, int) and not isinstance(moment, bool):
        return moment
    wanted = {t.TIMESTAMP: "a datetime with a time zone", t.TIMESTAMP_NTZ: "a datetime without time zone"}
    raise SchemaError(
        f'{short_repr(moment)} is no event time of stream "{stream}"',
        hint=f"its event time is a {kind}: give {wanted.get(kind, 'a date' if kind == t.DATE else 'a whole number')}",
    )


def moment_of(units: int | None, kind: t.DataType) -> Moment | None:
    """An event time, given in the unit of its type, as people read it.

    >>> moment_of(2, t.DATE), moment_of(5, t.LONG), moment_of(2**62, t.TIMESTAMP) == 2**62
    (datetime.date(1970, 1, 3), 5, True)
    """
    if units is None or kind in t.INTEGRAL:
        return units
    try:
        if kind == t.DATE:
            return EPOCH.date() + timedelta(days=units)
        zone = UTC if kind == t.TIMESTAMP else None
        return EPOCH.replace(tzinfo=zone) + timedelta(microseconds=units)
    except OverflowError:  # beyond Python's calendar
        return units

"""Values written as text."""

from __future__ import annotations

from typing import Any

from eddyline.model import types as t
from eddyline.reference.casts import intervals
from eddyline.reference.numbers import floats
from eddyline.reference.text import from_octets
from eddyline.reference.times import calendar
from eddyline.reference.times.datetimes import clock
from eddyline.reference.times.zones import DAY, SECOND


def text(kind: t.DataType, value: Any, time_zone: str) -> str:
    """As CAST(... AS STRING) gives it.

    >>> text(t.DATE, 2932897, "UTC"), text(t.ArrayType(t.BOOLEAN), [True, None], "UTC")
    ('+10000-01-01', '[true, null]')
    """
    if kind == t.BOOLEAN:
        return "true" if value else "false"
    if t.is_fractional(kind):
        return floats.as_text(value, kind)
    if isinstance(kind, t.DecimalType):
        return f"{value:f}"
    if kind == t.BINARY:
        return from_octets(value)
    if kind == t.DATE:
        return _date(value)
    if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        return _timestamp(clock(kind, time_zone).to_local(value))
    if t.is_interval(kind):
        return intervals.text(kind, value)
    if isinstance(kind, t.ArrayType | t.MapType | t.StructType):
        return _nested(kind, value, time_zone)
    return str(value)


def _date(days: int) -> str:
    """At least four digits for the year, a plus sign where there are more."""
    year, month, day = calendar.from_days(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _timestamp(local: int) -> str:
    """Without zone, and with as many digits after the second as it needs."""
    days, time = divmod(local, DAY)
    seconds, micros = divmod(time, SECOND)
    clock_time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{_date(days)} {clock_time}" + (f".{micros:06}".rstrip("0") if micros else "")


def _nested(kind: t.DataType, value: Any, time_zone: str) -> str:
    def one(of: t.DataType, each: Any) -> str:
        return "null" if each is None else text(of, each, time_zone)

    match kind:
        case t.ArrayType():
            return "[" + ", ".join(one(kind.element, each) for each in value) + "]"
        case t.MapType():
            pairs = [f"{one(kind.key, key)} ->{' ' + one(kind.value, each)}" for key, each in value]
            return "{" + ", ".join(pairs) + "}"
        case t.StructType():
            fields = zip(kind.fields, value, strict=True)
            return "{" + ", ".join(one(field, each) for (_, field), each in fields) + "}"
    raise AssertionError(f"{kind} is not nested")

"""Intervals written as text and read from it, made from numbers and turned into them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from eddyline.model import types as t
from eddyline.reference.casts import numbers
from eddyline.reference.failure import Failure
from eddyline.reference.numbers import decimals
from eddyline.reference.numbers.arithmetic import in_range
from eddyline.reference.numbers.decimals import EXACT
from eddyline.reference.text import SPACE
from eddyline.reference.times.zones import DAY, SECOND

_UNIT: Final = {t.DAY_TIME: SECOND, t.YEAR_MONTH: 1}

# Spark takes a bar for a plus sign.
_MONTHS = re.compile(r"([+|-]?)([0-9]+)-([0-9]+)")
_DAYS = re.compile(r"([+|-]?)([0-9]+) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,9}))?")
_LITERAL: Final = {
    t.YEAR_MONTH: re.compile(r"INTERVAL\s+([+|-]?)'(.*)'\s+YEAR\s+TO\s+MONTH", re.IGNORECASE | re.ASCII),
    t.DAY_TIME: re.compile(r"INTERVAL\s+([+|-]?)'(.*)'\s+DAY\s+TO\s+SECOND", re.IGNORECASE | re.ASCII),
}


def text(kind: t.DataType, amount: int) -> str:
    """As Spark writes a literal of the type.

    >>> text(t.DAY_TIME, -90061500000), text(t.YEAR_MONTH, 14)
    ("INTERVAL '-1 01:01:01.5' DAY TO SECOND", "INTERVAL '1-2' YEAR TO MONTH")
    """
    sign, size = "-" if amount < 0 else "", abs(amount)
    if kind == t.YEAR_MONTH:
        return f"INTERVAL '{sign}{size // 12}-{size % 12}' YEAR TO MONTH"
    days, time = divmod(size, DAY)
    seconds, micros = divmod(time, SECOND)
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    clock_time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    return f"INTERVAL '{sign}{days} {clock_time}' DAY TO SECOND"


def cast(source: t.DataType, target: t.DataType, value: Any) -> Any:
    """An interval from text, or from and to a number of its smallest unit: seconds or months."""
    if source == t.STRING:
        return _read(target, value)
    if t.is_interval(target):
        amount = EXACT.multiply(Decimal(value), _UNIT[target])
        return in_range(target, int(decimals.half_up(amount, 0)))
    amount = EXACT.divide(Decimal(value), _UNIT[source])
    return numbers.to_number(t.DecimalType(38, 6), target, amount)


def _read(target: t.DataType, text: str) -> int:
    """Text as it stands between the quotes of a literal, or a whole literal with both its signs."""
    trimmed, sign = text.strip(SPACE), ""
    literal = _LITERAL[target].fullmatch(trimmed)
    if literal is not None:
        sign, trimmed = literal.groups()
    match = (_MONTHS if target == t.YEAR_MONTH else _DAYS).fullmatch(trimmed)
    if match is None:
        raise Failure(f"{text!r} is no {target}")
    size = _months(*match.groups()[1:]) if target == t.YEAR_MONTH else _microseconds(*match.groups()[1:])
    return in_range(target, -size if (sign == "-") != (match[1] == "-") else size)


def _months(years: str, months: str) -> int:
    if int(months) > 11:
        raise Failure("a year has twelve months")
    return int(years) * 12 + int(months)


def _microseconds(days: str, hours: str, minutes: str, seconds: str, fraction: str | None) -> int:
    if int(hours) > 23 or int(minutes) > 59 or int(seconds) > 59:
        raise Failure("no such time of day")
    whole = int(days) * 86_400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * SECOND + int((fraction or "").ljust(6, "0")[:6])

"""Timestamps read from text by a format of the letters y M d H m s S, separators and quoted text.

Letters follow java.time.format.DateTimeFormatter in its strict mode, with Spark's one change: n letters S read one to
n digits. Fields that the format lacks are those of 1970-01-01 00:00:00.

    MM dd HH mm ss   exactly two digits         y yyy       at least so many, a minus sign allowed
    M d H m s        one digit or more          yyyy yyyyy  so many; more only after a plus sign; a minus sign allowed
                                                yy          two digits, of 2000 to 2099

Where numbers follow one another without anything between, those of exactly two digits are kept for their fields, and
only the rest goes to the number before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from eddyline.model import types as t
from eddyline.reference.failure import Failure
from eddyline.reference.numbers.arithmetic import in_range
from eddyline.reference.times import calendar
from eddyline.reference.times.zones import DAY, SECOND, WallClock

_FIELDS: Final = {
    "y": "year",
    "M": "month",
    "d": "day",
    "H": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
}
_RANGES: Final = {"year": (-999_999_999, 999_999_999), "month": (1, 12), "day": (1, 31)} | {
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "fraction": (0, 999_999),
}
_MANY: Final = 19  # digits of a number without a width of its own


@dataclass(frozen=True)
class _Number:
    """Digits of a field; `reserved` of those that follow belong to the fixed numbers right behind it."""

    field: str
    least: int
    most: int
    minus: bool = False
    plus_beyond_least: bool = False
    reserved: int = 0

    @property
    def fixed(self) -> bool:
        return self.least == self.most


_Item = str | _Number


def parse_timestamp(wall_clock: WallClock, text: str, form: str) -> int:
    """The instant at which the wall clock shows what is written; fails where the text does not fit.

    >>> parse_timestamp(WallClock(None), "02/01/1970 0:00", "dd/MM/yyyy H:mm") == DAY
    True
    """
    position = 0
    fields: dict[str, int] = {}
    for item in _items(form):
        if isinstance(item, str):
            position = _skip(text, position, item)
        else:
            position, value = _read(text, position, item)
            if fields.setdefault(item.field, value) != value:
                raise Failure(f"{text!r} has two values for the {item.field}")
    if position != len(text):
        raise Failure(f"{text!r} goes on after what {form!r} describes")
    return in_range(t.TIMESTAMP, wall_clock.to_instant(_local(fields)))


def _local(fields: dict[str, int]) -> int:
    for field, value in fields.items():
        low, high = _RANGES[field]
        if not low <= value <= high:
            raise Failure(f"there is no {field} {value}")
    date = fields.get("year", 1970), fields.get("month", 1), fields.get("day", 1)
    if not calendar.is_date(*date):
        raise Failure(f"there is no day {date}")
    hour, minute, second = (fields.get(name, 0) for name in ("hour", "minute", "second"))
    seconds = hour * 3600 + minute * 60 + second
    return calendar.to_days(*date) * DAY + seconds * SECOND + fields.get("fraction", 0)


def _skip(text: str, position: int, literal: str) -> int:
    """Past fixed text, in any case."""
    end = position + len(literal)
    if text[position:end].lower() != literal.lower():
        raise Failure(f"{text!r} lacks {literal!r} at {position}")
    return end


def _read(text: str, position: int, item: _Number) -> tuple[int, int]:
    """Where a number ends, and its value."""
    sign = text[position] if text[position : position + 1] in ("+", "-") else ""
    if (sign == "-" and not item.minus) or (sign == "+" and not item.plus_beyond_least):
        raise Failure(f"{text!r} has a sign at {position}")
    start = position + len(sign)
    run = _digits(text, start, item.most + item.reserved)
    if item.reserved and run >= item.least:
        run = _digits(text, start, max(item.least, run - item.reserved))
    written = text[start : start + run]
    too_long = item.plus_beyond_least and sign != "-" and (run > item.least) != (sign == "+")
    if run < item.least or too_long or (sign == "-" and int(written) == 0):
        raise Failure(f"{text!r} has no {item.field} at {position}")
    return start + run, _value(item, sign + written)


def _digits(text: str, start: int, most: int) -> int:
    match = re.compile("[0-9]*").match(text, start, min(start + most, len(text)))
    return 0 if match is None else match.end() - start


def _value(item: _Number, written: str) -> int:
    if item.field == "fraction":
        return int(written.ljust(6, "0")[:6])
    return int(written) + (2000 if item.field == "year" and item.fixed else 0)


@cache
def _items(form: str) -> tuple[_Item, ...]:
    """The format taken apart; text between quotes stands for itself, two quotes for one."""
    items: list[_Item] = []
    parts = form.rstrip("'").split("'") if form.endswith("'") else form.split("'")
    for index, part in enumerate(parts):
        if part == "" and index > 0:
            items.append("'")
        elif index % 2:
            items.append(part)
        else:
            for run in re.finditer(r"([A-Za-z])\1*|[^A-Za-z]+", part):
                items.append(_number(run[1], len(run[0])) if run[1] else run[0])
    return _reserve(items)


def _number(letter: str, count: int) -> _Number:
    assert letter in _FIELDS, f"the binder refuses formats with the letter {letter}"
    field = _FIELDS[letter]
    if letter == "S":
        return _Number(field, 1, count)
    if letter == "y" and count != 2:
        return _Number(field, count, _MANY, minus=True, plus_beyond_least=count >= 4)
    assert count <= 2, f"the binder refuses formats with {letter * count}"
    return _Number(field, 2, 2) if count == 2 else _Number(field, 1, _MANY, minus=True)


def _reserve(items: list[_Item]) -> tuple[_Item, ...]:
    """Give every number the widths of the fixed ones that follow it without a break."""
    result = list(items)
    base: int | None = None  # where the number stands that makes room for those behind it
    for index, item in enumerate(items):
        if isinstance(item, str) or (item.field == "fraction" and not item.fixed):
            base = None
        elif base is not None and item.fixed:
            before = result[base]
            assert isinstance(before, _Number), "only numbers make room"
            result[base] = replace(before, reserved=before.reserved + item.most)
        else:
            base = index
    return tuple(result)

r"""Values of literals, read from the text as Spark reads it: escapes, suffixes, hex digits, intervals."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np

from eddyline.model import types as t

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))|\\$", re.S)
_SIMPLE: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def unescape(body: str) -> str:
    r"""The value of a string literal's inside.

    >>> unescape(r"a\nb"), unescape(r"50\%"), unescape(r"\u0041\102\q")
    ('a\nb', '50\\%', 'ABq')
    """
    return _ESCAPE.sub(_unescaped, body) if "\\" in body else body


def _unescaped(found: re.Match[str]) -> str:
    short, long, octal, single = found.groups()
    if short or long:
        return _character(int(short or long, 16))
    if octal:
        return chr(int(octal, 8))
    return _SIMPLE.get(single, single) if single else "\\"


def _character(code: int) -> str:
    # A pair of \u escapes may spell one character; lone halves have no UTF-8 form and become "?" as in Java.
    return chr(code) if code < 0x110000 else "?"


def join_surrogates(text: str) -> str:
    """Pairs of surrogate escapes as the one character they spell; what is left over becomes "?"."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "?")


_LARGEST: Final = {
    t.FLOAT: Decimal(float(np.finfo(np.float32).max)),
    t.DOUBLE: Decimal(float(np.finfo(np.float64).max)),
}
_INTEGER_SUFFIX: Final = {"Y": t.BYTE, "S": t.SHORT, "L": t.LONG}
_NUMBER = re.compile(r"(\d+)?(?:(\.)(\d*))?(?:[eE]([+-]?\d+))?([a-zA-Z]*)")


class BadLiteral(ValueError):
    """A literal that has the form of one but no value; the message says why."""


def number(text: str, negative: bool) -> tuple[object, t.DataType]:
    """Value and type of a number: suffix, point, exponent and size decide.

    >>> number("5", True), number("3000000000", False)[1].name, str(number("2.50", False)[1])
    ((-5, DataType(name='int')), 'bigint', 'decimal(3,2)')
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise BadLiteral(f"{text} is not a number")
    _, point, _, exponent, suffix = found.groups()
    sign, suffix = "-" if negative else "", suffix.upper()
    digits = sign + text[: len(text) - len(suffix)]
    if suffix in _INTEGER_SUFFIX and point is None and exponent is None:
        return _integer(digits, _INTEGER_SUFFIX[suffix])
    if suffix == "BD" or (suffix == "" and exponent is None and point is not None):
        return _decimal(digits)
    if suffix in ("D", "F") or (suffix == "" and exponent is not None):
        return _fractional(digits, t.FLOAT if suffix == "F" else t.DOUBLE)
    if suffix == "":
        return _whole(digits)
    raise BadLiteral(f"{text} is not a number: Spark knows the suffixes Y, S, L, F, D and BD")


def _integer(digits: str, kind: t.DataType) -> tuple[int, t.DataType]:
    value, (low, high) = int(digits), t.RANGE[kind]
    if not low <= value <= high:
        raise BadLiteral(f"{digits} is outside of {kind}, which goes from {low} to {high}")
    return value, kind


def _whole(digits: str) -> tuple[object, t.DataType]:
    if len(digits) > 60:
        raise BadLiteral("the number has more than 38 digits")
    value = int(digits)
    for kind in (t.INT, t.LONG):
        if t.RANGE[kind][0] <= value <= t.RANGE[kind][1]:
            return value, kind
    return _decimal(digits)


def _exact(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise BadLiteral(f"the exponent of {digits} is too long") from None


def _decimal(digits: str) -> tuple[Decimal, t.DataType]:
    value = _exact(digits)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "a number in digits is finite"
    scale, length = max(0, -exponent), len(value.as_tuple().digits) + max(0, exponent)
    kind = t.DecimalType(max(length if value else 1, scale), scale)
    if kind.precision > t.MAX_PRECISION:
        raise BadLiteral(
            f"the number has {kind.precision} digits, and a decimal holds at most {t.MAX_PRECISION}"
        )
    return Decimal(format(value, "f")), kind


def _fractional(digits: str, kind: t.DataType) -> tuple[float, t.DataType]:
    value = float(digits)
    if math.isinf(value) or _exact(digits).copy_abs() > _LARGEST[kind]:
        raise BadLiteral(f"{digits} is outside of {kind}")
    return (float(np.float32(value)) if kind == t.FLOAT else value), kind


def hexadecimal(digits: str) -> bytes:
    """The bytes of X'...'; an odd number of digits has a zero in front."""
    try:
        return bytes.fromhex("0" * (len(digits) % 2) + digits)
    except ValueError:
        raise BadLiteral("X'...' holds hexadecimal digits only") from None


_MICROS: Final = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_MONTHS: Final = {"YEAR": 12, "MONTH": 1}
UNITS: Final = frozenset({*_MICROS, *_MONTHS})
_CHAIN: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


def unit(word: str) -> str | None:
    """The unit that a word names, singular or plural; None where it names none.

    >>> unit("hours"), unit("fortnight")
    ('HOUR', None)
    """
    upper = word.upper()
    singular = upper[:-1] if upper.endswith("S") else upper
    return singular if singular in UNITS else None


def interval(parts: list[tuple[str, str]]) -> tuple[int, t.DataType, bool]:
    """Amount, type and "days only" of `INTERVAL value unit value unit ...`.

    >>> interval([("1", "DAY"), ("2", "HOUR")])
    (93600000000, DataType(name='interval day to second'), False)
    """
    months = all(name in _MONTHS for _, name in parts)
    if not months and any(name in _MONTHS for _, name in parts):
        raise BadLiteral("an interval holds years and months, or weeks to microseconds, not both")
    sizes = _MONTHS if months else _MICROS
    total = Decimal(0)
    for value, name in parts:
        if not re.fullmatch(r"[+-]?\d+(\.\d+)?", value.strip()) or ("." in value and name != "SECOND"):
            raise BadLiteral(f"{value!r} is not a number of {name.lower()}s")
        total += Decimal(value.strip()) * sizes[name]
    _check_range(int(total), months)
    days_only = all(name in ("DAY", "WEEK") for _, name in parts)
    return int(total), t.YEAR_MONTH if months else t.DAY_TIME, days_only


def _check_range(amount: int, months: bool) -> None:
    low, high = t.RANGE[t.YEAR_MONTH if months else t.DAY_TIME]
    if not low <= amount <= high:
        raise BadLiteral("the interval is too long")


def interval_range(text: str, first: str, last: str) -> tuple[int, t.DataType, bool]:
    """Amount of `INTERVAL 'text' first TO last`, such as '1 02:03:04.5' DAY TO SECOND or '1-2' YEAR TO MONTH."""
    if (first, last) == ("YEAR", "MONTH"):
        found = re.fullmatch(r"\s*([+-]?)(\d+)-(\d{1,2})\s*", text)
        if found is None or int(found[3]) > 11:
            raise BadLiteral(f"{text!r} is not an interval YEAR TO MONTH; write it as '1-6'")
        amount = int(found[2]) * 12 + int(found[3])
        _check_range(amount, months=True)
        return (-amount if found[1] == "-" else amount), t.YEAR_MONTH, False
    return _day_time_range(text, first, last)


def _day_time_range(text: str, first: str, last: str) -> tuple[int, t.DataType, bool]:
    if first not in _CHAIN or last not in _CHAIN or _CHAIN.index(first) >= _CHAIN.index(last):
        raise BadLiteral(f"there is no interval {first} TO {last}")
    names = _CHAIN[_CHAIN.index(first) : _CHAIN.index(last) + 1]
    pattern, limits = "", {"HOUR": 24, "MINUTE": 60, "SECOND": 60}
    for index in range(len(names)):
        pattern += ("" if index == 0 else " " if names[index - 1] == "DAY" else ":") + r"(\d+)"
    pattern += r"(?:\.(\d{1,9}))?" if last == "SECOND" else "()"
    found = re.fullmatch(r"\s*([+-]?)" + pattern + r"\s*", text)
    if found is None or any(
        int(value) >= limits[name] for name, value in zip(names[1:], found.groups()[2:], strict=False)
    ):
        raise BadLiteral(f"{text!r} is not an interval {first} TO {last}")
    values, fraction = found.groups()[1:-1], found.groups()[-1] or ""
    amount = sum(int(value) * _MICROS[name] for name, value in zip(names, values, strict=True))
    amount += int((fraction + "000000")[:6])
    _check_range(amount, months=False)
    return (-amount if found[1] == "-" else amount), t.DAY_TIME, False

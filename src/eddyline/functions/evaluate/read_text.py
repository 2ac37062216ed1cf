"""Conversion from text: numbers, truth values, dates and timestamps, each distinct text read once."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

import pyarrow as pa

from eddyline.functions.evaluate.arrays import Outcome
from eddyline.functions.evaluate.each_value import Failed, each_value
from eddyline.functions.number_text import (
    fit_decimal,
    nearest_float,
    parse_decimal,
    parse_double,
    parse_fraction,
)
from eddyline.functions.time_text import parse_date, parse_timestamp, parse_timestamp_ntz
from eddyline.functions.zones import Zone
from eddyline.model import types as t

_WHITE: Final = "".join(map(chr, (*range(0x21), 0x7F)))
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_LONGEST: Final = 19  # digits of a bigint
_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})


def read_whole(text: str, low: int, high: int) -> int:
    """A whole number within a range; white space around it does not count.

    >>> read_whole(" +12 ", -128, 127)
    12
    """
    text = text.strip(_WHITE)
    if _WHOLE.fullmatch(text) is None:
        raise Failed
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _LONGEST:  # Python refuses to read thousands of them, zeros in front included
        raise Failed
    value = int(digits or "0") * (-1 if text.startswith("-") else 1)
    if not low <= value <= high:
        raise Failed
    return value


def read_truth(text: str) -> bool:
    """A truth value, spelled out or as its first letter or digit, in any case."""
    word = text.strip(_WHITE).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise Failed


def _read_double(text: str) -> float:
    number = parse_double(text)
    if number is None:
        raise Failed
    return number


def _read_float(text: str) -> float:
    number = parse_fraction(text)
    if number is None:
        raise Failed
    return nearest_float(number)


def _read_decimal(text: str, target: t.DecimalType) -> Decimal:
    number = parse_decimal(text)
    fitted = None if number is None else fit_decimal(number, target.precision, target.scale)
    if fitted is None:
        raise Failed
    return fitted


def _found(value: int | None) -> int:
    if value is None:
        raise Failed
    return value


def reader(target: t.DataType, zone: Zone) -> Callable[[str], object]:
    """A function that reads one text as a value of the type, or raises `Failed`.

    >>> from eddyline.functions.zones import find_zone
    >>> reader(t.DATE, find_zone("UTC"))("1970-01-02")
    1
    """
    if target in t.INTEGRAL:
        low, high = t.RANGE[target]
        return lambda text: read_whole(text, low, high)
    if target in t.FRACTIONAL:
        return _read_float if target == t.FLOAT else _read_double
    if isinstance(target, t.DecimalType):
        return lambda text: _read_decimal(text, target)
    if target == t.DATE:
        return lambda text: _found(parse_date(text))
    if target == t.TIMESTAMP:
        return lambda text: _found(parse_timestamp(text, zone))
    if target == t.TIMESTAMP_NTZ:
        return lambda text: _found(parse_timestamp_ntz(text))
    assert target == t.BOOLEAN, f"text is not read as {target}"
    return read_truth


def _read(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return each_value(reader(target, zone), [array], [source], target)


def _to_binary(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return Outcome(array.view(pa.binary()))


CONVERSIONS: Final[dict[tuple[str, str], Callable[[pa.Array, t.DataType, t.DataType, Zone], Outcome]]] = {
    **{
        ("string", target): _read
        for target in ("integral", "fractional", "decimal", "boolean", "date", "timestamp", "timestamp_ntz")
    },
    ("string", "binary"): _to_binary,
}

"""Text read as a number or a boolean."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final

from eddyline.model import types as t
from eddyline.reference.failure import Failure
from eddyline.reference.numbers import decimals, floats
from eddyline.reference.numbers.arithmetic import in_range
from eddyline.reference.text import JAVA_SPACE, SPACE

_LARGEST_SCALE: Final = 2**31 - 1
_LONGEST: Final = 19  # digits of a bigint
_LONGEST_EXPONENT: Final = 12

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")

_WORDS: Final = dict.fromkeys(("t", "true", "y", "yes", "1"), True) | dict.fromkeys(
    ("f", "false", "n", "no", "0"), False
)
_SPECIAL: Final = {"nan": math.nan, "+nan": math.nan, "-nan": math.nan} | {
    sign + word: math.copysign(math.inf, -1 if sign == "-" else 1)
    for sign in ("", "+", "-")
    for word in ("inf", "infinity")
}


def to_number(target: t.DataType, text: str) -> Any:
    """The boolean, integer, float or decimal that is written there; fails if there is none."""
    if target == t.BOOLEAN:
        return _boolean(text)
    if isinstance(target, t.DecimalType):
        return _decimal(target, text)
    if t.is_fractional(target):
        return _float(target, text)
    return _integer(target, text)


def _boolean(text: str) -> bool:
    word = _WORDS.get(text.strip(SPACE).lower())
    if word is None:
        raise Failure(f"{text!r} is no boolean")
    return word


def _integer(target: t.DataType, text: str) -> int:
    """Digits with a sign at most: no point, no exponent."""
    trimmed = text.strip(SPACE)
    if _INTEGER.fullmatch(trimmed) is None:
        raise Failure(f"{text!r} is no {target}")
    digits = trimmed.lstrip("+-").lstrip("0")
    if len(digits) > _LONGEST:
        raise Failure(f"{text!r} is beyond {target}")
    return in_range(target, int((trimmed[0] if trimmed[0] == "-" else "") + (digits or "0")))


def _decimal(target: t.DecimalType, text: str) -> Decimal:
    trimmed = text.strip(JAVA_SPACE)
    if _DECIMAL.fullmatch(trimmed) is None or (not trimmed.isascii() and max(trimmed) > "\uffff"):
        raise Failure(f"{text!r} is no decimal")
    number = _number(trimmed)
    if number.adjusted() >= t.MAX_PRECISION or number.adjusted() < -_LARGEST_SCALE:
        raise Failure(f"{text!r} is too large or too small for any decimal")  # also 0e500
    return decimals.fit(number, target)


def _float(target: t.DataType, text: str) -> float:
    """What Java reads (so 1.5d and 0x1p3 too), and Spark's own words for infinity and NaN."""
    trimmed = text.strip(JAVA_SPACE)
    if _FLOAT.fullmatch(trimmed) is not None:
        number = _number(trimmed.rstrip("fFdD"))
        negative = trimmed.startswith("-")
        return math.copysign(floats.nearest(number, target), -1 if negative else 1)
    if _HEXADECIMAL.fullmatch(trimmed) is not None:
        return _hexadecimal(target, trimmed)
    if trimmed.lower() in _SPECIAL:
        return _SPECIAL[trimmed.lower()]
    raise Failure(f"{text!r} is no number")


def _number(text: str) -> Decimal:
    """What is written there; an exponent that Python's decimals cannot hold becomes one that is as good as infinite."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = exponent.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _LONGEST_EXPONENT:
        digits = "9" * _LONGEST_EXPONENT
    return Decimal(f"{mantissa}e{'-' if exponent.startswith('-') else ''}{digits}")


def _hexadecimal(target: t.DataType, text: str) -> float:
    try:
        number = float.fromhex(text.rstrip("fFdD"))
    except OverflowError:
        number = -math.inf if text.startswith("-") else math.inf
    return floats.round32(number) if target == t.FLOAT else number

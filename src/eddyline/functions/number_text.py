"""Numbers as Java writes and reads them.

Java 19 and later write the shortest decimal that reads back as the same double, as Python does; Java 17 and 18 give a
digit too many for some doubles (2.0E23 is written 1.9999999999999998E23). This module follows the later ones.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Final

import numpy as np

EXACT: Final = Context(prec=1200, rounding=ROUND_HALF_UP, Emin=-999_999_999, Emax=999_999_999)


def double_text(value: float) -> str:
    """A double as `Double.toString` writes it.

    >>> [double_text(x) for x in (1.0, 1e7, 0.001, 1e-4, 5e-324, -0.0, math.inf)]
    ['1.0', '1.0E7', '0.001', '1.0E-4', '4.9E-324', '-0.0', 'Infinity']
    """
    if 1e-3 <= abs(value) < 1e7:
        return repr(value)
    if not math.isfinite(value) or value == 0:
        return _special(value)
    digits, exponent = _scientific(repr(value))
    if len(digits) == 1:  # Java looks for the nearest decimal of two digits then
        digits, exponent = _scientific(f"{value:.1e}")
    return _java(value < 0, digits, exponent)


def float_text(value: float) -> str:
    """A 32-bit float as `Float.toString` writes it.

    >>> [float_text(float(np.float32(x))) for x in (0.1, 3.4028235e38, 1.4e-45, 16777216)]
    ['0.1', '3.4028235E38', '1.4E-45', '1.6777216E7']
    """
    if not math.isfinite(value) or value == 0:
        return _special(value)
    digits, exponent = _scientific(np.format_float_scientific(np.float32(value), unique=True, trim="-"))
    if len(digits) == 1:
        digits, exponent = _scientific(f"{value:.1e}")
    return _java(value < 0, digits, exponent)


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return sign + ("0.0" if value == 0 else "Infinity")


def _scientific(text: str) -> tuple[str, int]:
    """Significant digits without trailing zeros, and the exponent of the first."""
    number = Decimal(text)
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return digits, number.adjusted()


def _java(negative: bool, digits: str, exponent: int) -> str:
    if -3 <= exponent < 7:
        padded = digits.ljust(exponent + 1, "0") if exponent >= 0 else "0" * -exponent + digits
        point = max(exponent, 0) + 1
        text = f"{padded[:point]}.{padded[point:] or '0'}"
    else:
        text = f"{digits[0]}.{digits[1:] or '0'}E{exponent}"
    return "-" + text if negative else text


# What Double.parseDouble reads, after taking off everything up to U+0020 at both ends.
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?")
_HEXADECIMAL: Final = re.compile(
    r"([+-]?)0[xX](?:([0-9a-fA-F]+)\.?|([0-9a-fA-F]*)\.([0-9a-fA-F]+))[pP]([+-]?[0-9]+)[fFdD]?"
)
_INFINITE: Final = {
    sign + name: -math.inf if sign == "-" else math.inf
    for sign in ("", "+", "-")
    for name in ("inf", "infinity")
}
# No number of more digits lies half way between two doubles: of those behind it only matters whether all are zeros.
_DECIDING: Final = 800
_CONTROLS: Final = "".join(map(chr, range(0x21)))


def parse_fraction(text: str) -> Fraction | float | None:
    """The exact number that a text denotes for Spark's cast to float or double; inf or NaN as floats; None if none.

    >>> parse_fraction(" 1.5d "), parse_fraction("-iNf"), parse_fraction("0x1p-1"), parse_fraction("1_0")
    (Fraction(3, 2), -inf, Fraction(1, 2), None)
    """
    text = text.strip(_CONTROLS)
    if _DECIMAL.fullmatch(text):
        return _decimal_fraction(text.rstrip("fFdD"))
    hexadecimal = _HEXADECIMAL.fullmatch(text)
    if hexadecimal:
        sign, whole, before, after, power = hexadecimal.groups()
        digits = whole if whole is not None else before + after
        exponent = _exponent(power) - 4 * len(after or "")
        return _power(sign == "-", int(digits, 16), 2, exponent)
    if text in ("+NaN", "-NaN") or text.lower() == "nan":
        return math.nan
    return _INFINITE.get(text.lower())


def _decimal_fraction(text: str) -> Fraction | float:
    mantissa, _, power = text.lower().partition("e")
    whole, _, after = mantissa.lstrip("+-").partition(".")
    digits, exponent = (whole + after).lstrip("0"), _exponent(power) - len(after)
    if len(digits) > _DECIDING:
        rest = digits[_DECIDING:]
        digits = digits[:_DECIDING] + ("1" if rest.strip("0") else "0")
        exponent += len(rest) - 1
    return _power(text.startswith("-"), int(digits or "0"), 10, exponent)


def _exponent(text: str) -> int:
    """The number that an exponent says, as far as it matters: beyond a billion all are alike."""
    digits = text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) < 10 else 10**9
    return -size if text.startswith("-") else size


def _power(negative: bool, value: int, base: int, exponent: int) -> Fraction | float:
    """Value times base to the exponent, without computing powers that no double can hold."""
    sign = -1 if negative else 1
    size = value.bit_length() * math.log(2, base) + exponent
    if value == 0 or size < -1200:
        return sign * 0.0
    return sign * math.inf if size > 1100 else sign * value * Fraction(base) ** exponent


def parse_double(text: str) -> float | None:
    """The double that a text denotes for Spark's cast, or None if it denotes none.

    >>> parse_double("1.5d"), parse_double("x")
    (1.5, None)
    """
    plain = text.strip(_CONTROLS)
    if _DECIMAL.fullmatch(plain):
        return float(plain.rstrip("fFdD"))
    number = parse_fraction(text)
    return None if number is None else nearest_double(number)


def nearest_double(number: Fraction | float) -> float:
    """The double next to an exact number, ties to even; too large ones are infinite."""
    if isinstance(number, float):
        return number
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def nearest_float(number: Fraction | float) -> float:
    """The 32-bit float next to an exact number, rounded once.

    >>> nearest_float(Fraction(16777217)), nearest_float(Fraction(10) ** 40)
    (16777216.0, inf)
    """
    double = nearest_double(number)
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(double)
        if isinstance(number, float) or math.isinf(double) or Fraction(double) == number:
            return float(near)
        around = [np.nextafter(near, np.float32(end)) for end in (-np.inf, near, np.inf)]
    best = min(around, key=lambda f: (abs(_position(f) - number), int(f.view(np.uint32)) & 1))
    return float(best)


def _position(value: np.float32) -> Fraction:
    """Where a float stands on the number line; infinity one step above the largest, as for rounding."""
    if np.isinf(value):
        return Fraction(2**128 if value > 0 else -(2**128))
    return Fraction(float(value))


_BIG_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(\d+))?")


def parse_decimal(text: str) -> Decimal | None:
    """The number that a text denotes for Spark's cast to decimal, exactly; None if it denotes none.

    >>> parse_decimal(" +.5e+1 "), parse_decimal("1d")
    (Decimal('5'), None)
    """
    text = text.strip(_CONTROLS)
    match = _BIG_DECIMAL.fullmatch(text)
    if match is None or any(character > "\uffff" for character in text):
        return None
    if match[1] is not None and len(match[1].lstrip("0")) > 10:
        return None
    exact = Decimal(text)
    scale = -int(exact.as_tuple().exponent)
    return exact if -(2**31) <= scale < 2**31 else None


def fit_decimal(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """The number rounded half up to a decimal type, or None if it has too many digits before the point.

    >>> fit_decimal(Decimal("1.25"), 5, 1), fit_decimal(Decimal("1e9"), 5, 1)
    (Decimal('1.3'), None)
    """
    if number and number.adjusted() > precision - scale:
        return None
    if number.adjusted() < -scale - 2:
        number = Decimal(0)
    rounded = EXACT.quantize(number, Decimal((0, (1,), -scale)))
    if not rounded:
        return rounded.copy_abs()
    return rounded if rounded.adjusted() < precision - scale else None

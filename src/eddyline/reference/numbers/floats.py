"""Binary floating point as Java has it: 32-bit rounding, and the shortest decimal that reads back the same."""

from __future__ import annotations

import ctypes
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from eddyline.model import types as t

_NOTHING32 = 2.0**-200  # far below half of the smallest 32-bit float


def round32(value: float) -> float:
    """The nearest 32-bit float, infinite where it is beyond the largest.

    >>> round32(0.1), round32(1e300)
    (0.10000000149011612, inf)
    """
    return ctypes.c_float(value).value


def nearest(exact: int | Decimal, kind: t.DataType) -> float:
    """The float or double that is nearest to an exact number, rounded only once."""
    approximate = _to_double(exact)
    if kind == t.DOUBLE:
        return approximate
    if math.isinf(approximate) or abs(approximate) < _NOTHING32:
        return approximate if math.isinf(approximate) else 0.0
    # By way of a double it was rounded twice, so the neighbours may be nearer.
    middle = round32(approximate)
    around = [_step32(middle, -math.inf), middle, _step32(middle, math.inf)]
    return min(around, key=lambda near: (abs(_position(near) - Fraction(exact)), _bits32(near) & 1))


def _position(value: float) -> Fraction:
    """Where a 32-bit float stands on the number line; infinity one step above the largest, for rounding."""
    if math.isinf(value):
        return Fraction(2**128 if value > 0 else -(2**128))
    return Fraction(value)


def _to_double(exact: int | Decimal) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _step32(value: float, towards: float) -> float:
    """The next 32-bit float in a direction."""
    if value == towards:
        return value
    if value == 0:
        return math.copysign(_from_bits32(1), towards)
    step = 1 if (towards > value) == (value > 0) else -1
    return _from_bits32(_bits32(value) + step)


def _bits32(value: float) -> int:
    return int.from_bytes(bytes(ctypes.c_float(value)), "little")


def _from_bits32(bits: int) -> float:
    return ctypes.c_float.from_buffer_copy(bits.to_bytes(4, "little")).value


def shortest(value: float, kind: t.DataType) -> Decimal:
    """The decimal of fewest digits, but at least two, that reads back as this finite value; the nearest of those.

    That is Double.toString and Float.toString from Java 19 on; earlier ones sometimes give a digit more.

    >>> shortest(5e-324, t.DOUBLE), shortest(2e23, t.DOUBLE)
    (Decimal('4.9E-324'), Decimal('2.0E+23'))
    """
    exact = Decimal(value)
    if value == 0:
        return exact
    for length in range(2, 18):
        bounds = {Context(prec=length, rounding=mode).plus(exact) for mode in (ROUND_FLOOR, ROUND_CEILING)}
        same = [near for near in bounds if nearest(near, kind) == value]
        if same:
            return min(
                same, key=lambda near: (abs(Fraction(near) - Fraction(exact)), near.as_tuple().digits[-1] % 2)
            )
    raise AssertionError("17 digits tell every double from every other")


def as_text(value: float, kind: t.DataType) -> str:
    """As Java prints it: plain from 0.001 to 10 million, otherwise with an exponent.

    >>> [as_text(x, t.DOUBLE) for x in (1.0, 1e7, 0.001, -0.0, math.inf)]
    ['1.0', '1.0E7', '0.001', '-0.0', 'Infinity']
    """
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return sign + "Infinity"
    if value == 0:
        return sign + "0.0"
    number = abs(shortest(value, kind))
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    point = number.adjusted() + 1  # so many digits stand before the point
    if not -3 < point <= 7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"

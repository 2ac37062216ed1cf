"""Sums, products, quotients and rounding of numbers and intervals."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

from eddyline.model import types as t
from eddyline.reference.failure import Failure
from eddyline.reference.numbers import decimals, floats
from eddyline.reference.numbers.decimals import DECIMAL128, EXACT, fit


def in_range(kind: t.DataType, value: int) -> int:
    """The value, if the type is wide enough for it; fails if not."""
    low, high = t.RANGE[kind]
    if not low <= value <= high:
        raise Failure(f"{value} is beyond {kind}")
    return value


def wrap(kind: t.DataType, value: int) -> int:
    """What Java's unchecked arithmetic leaves of a value: its lowest bits."""
    low, high = t.RANGE[kind]
    return (value - low) % (high - low + 1) + low


def add(kind: t.DataType, left: Any, right: Any) -> Any:
    if isinstance(kind, t.DecimalType):
        return fit(EXACT.add(left, right), kind)
    return _settle(kind, left + right)


def sub(kind: t.DataType, left: Any, right: Any) -> Any:
    if isinstance(kind, t.DecimalType):
        return fit(EXACT.subtract(left, right), kind)
    return _settle(kind, left - right)


def mul(kind: t.DataType, left: Any, right: Any) -> Any:
    if isinstance(kind, t.DecimalType):
        return fit(EXACT.multiply(left, right), kind)
    return _settle(kind, left * right)


def _settle(kind: t.DataType, value: Any) -> Any:
    """A result in the machine's form: integers checked, floats rounded to their width."""
    if kind == t.DOUBLE:
        return value
    return floats.round32(value) if kind == t.FLOAT else in_range(kind, value)


def div(kind: t.DataType, left: Any, right: Any) -> Any:
    """Of two doubles or two decimals."""
    if right == 0:
        raise Failure("division by zero")
    if not isinstance(kind, t.DecimalType):
        return left / right
    quotient = Fraction(left) / Fraction(right) * 10**kind.scale
    rounded = math.floor(abs(quotient) + Fraction(1, 2))
    return fit(EXACT.scaleb(Decimal(rounded if quotient >= 0 else -rounded), -kind.scale), kind)


def int_div(kind: t.DataType, left: Any, right: Any) -> int:
    """The bigint quotient of two values of a type, towards zero; only bigints are checked for overflow."""
    if right == 0:
        raise Failure("division by zero")
    if isinstance(left, Decimal):
        return wrap(t.LONG, int(fit(EXACT.divide_int(left, right), t.DecimalType(t.MAX_PRECISION, 0))))
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return wrap(kind, quotient) if t.is_interval(kind) else in_range(t.LONG, quotient)


def mod(kind: t.DataType, left: Any, right: Any) -> Any:
    """The remainder, with the sign of the dividend."""
    if right == 0:
        raise Failure("remainder by zero")
    if isinstance(kind, t.DecimalType):
        whole = str(int(EXACT.divide_int(left.copy_abs(), right.copy_abs())))
        if (
            len(whole.rstrip("0")) > 39
        ):  # Spark divides with 39 digits and gives up where they do not hold the quotient
            raise Failure("quotient too long")
        return fit(EXACT.remainder(left, right), kind)
    if t.is_fractional(kind):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def neg(kind: t.DataType, value: Any) -> Any:
    if isinstance(kind, t.DecimalType):
        return fit(DECIMAL128.minus(value), kind)
    return _settle(kind, -value)


def abs_(kind: t.DataType, value: Any) -> Any:
    if isinstance(kind, t.DecimalType):
        return neg(kind, value) if value < 0 else value
    return _settle(kind, abs(value))


def floor(kind: t.DataType, value: Any) -> Any:
    return _whole(kind, value, ROUND_FLOOR)


def ceil(kind: t.DataType, value: Any) -> Any:
    return _whole(kind, value, ROUND_CEILING)


def _whole(kind: t.DataType, value: Any, rounding: str) -> Any:
    if isinstance(value, int):
        return value
    if isinstance(kind, t.DecimalType):
        return fit(value.to_integral_value(rounding), kind)
    return clip(t.LONG, math.floor if rounding == ROUND_FLOOR else math.ceil, value)


def clip(kind: t.DataType, whole: Any, value: float) -> int:
    """A float made an integer as Java does: NaN gives 0, what is too large the nearest end of the type."""
    if math.isnan(value):
        return 0
    low, high = t.RANGE[kind]
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(whole(value)), low), high)


def round_(kind: t.DataType, value: Any, digits: int) -> Any:
    """Half up to so many digits after the point (negative: before it)."""
    if isinstance(kind, t.DecimalType):
        return fit(decimals.half_up(value, digits), kind)
    if not t.is_fractional(kind):
        return in_range(kind, int(decimals.half_up(Decimal(value), digits)))
    if not math.isfinite(value):
        return value
    # Spark rounds the decimal that Java prints, of a float after widening it to a double.
    return floats.nearest(decimals.abs_zero(decimals.half_up(floats.shortest(value, t.DOUBLE), digits)), kind)


def isnan(value: float | None) -> bool:
    return value is not None and math.isnan(value)

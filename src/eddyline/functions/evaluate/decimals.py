"""Exact decimals as whole numbers: unscaled values in int64 where every intermediate fits, in Python integers elsewhere.

1.25 as decimal(10,2)  is held as  125      (times 10 to the scale)
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate.arrays import Mask, Numbers, Outcome, arrow_type, from_buffer, meet, validity
from eddyline.model.types import DecimalType

LONG_DIGITS: Final = 18  # any number of so many digits fits into 64 bits
_LOW: Final = (1 << 64) - 1


def unscaled(array: pa.Array, digits: int = 0) -> Numbers:
    """Values times 10 to the scale: int64 if they and the caller's intermediates of `digits` digits fit, else objects.

    >>> from decimal import Decimal
    >>> unscaled(pa.array([Decimal("1.25"), Decimal("-0.01")], pa.decimal128(10, 2))).tolist()
    [125, -1]
    """
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array), np.int64)
    words = np.frombuffer(buffer, np.int64, 2 * len(array), array.offset * 16).reshape(-1, 2)
    if array.null_count:
        words = np.where(np.asarray(array.is_valid())[:, None], words, 0)
    if max(array.type.precision, digits) <= LONG_DIGITS:
        return words[:, 0]
    low = words[:, 0].astype(np.uint64).astype(object)
    return np.asarray(words[:, 1].astype(object) * (1 << 64) + low, object)


def decimal_array(values: Numbers, valid: Mask | None, kind: DecimalType) -> pa.Array:
    """A decimal array from unscaled values."""
    words = np.empty((len(values), 2), np.int64)
    if values.dtype == object:
        words[:, 0] = (values & _LOW).astype(np.uint64).view(np.int64)
        words[:, 1] = (values >> 64).astype(np.int64)
    else:
        words[:, 0] = values
        words[:, 1] = np.where(values < 0, -1, 0)
    return from_buffer(words, len(values), valid, arrow_type(kind))


def rescale(values: Numbers, scale: int, target: int) -> Numbers:
    """Unscaled values of one scale at another, rounded half up (away from zero).

    >>> rescale(np.array([125, -125, 124]), 2, 1).tolist()
    [13, -13, 12]
    """
    if target >= scale:
        return np.asarray(values * 10 ** (target - scale))
    return round_half_up(values, 10 ** (scale - target))


def round_half_up(values: Numbers, divisor: int) -> Numbers:
    """Quotients by a positive number, rounded half up (away from zero)."""
    size = (np.abs(values) + divisor // 2) // divisor
    return np.where(values < 0, -size, size)


def truncate(values: Numbers, divisor: Numbers | int) -> Numbers:
    """Quotients rounded towards zero; divisors must not be zero."""
    size = np.abs(values) // np.abs(divisor)
    return np.where((values < 0) != (np.asarray(divisor) < 0), -size, size)


def finish(values: Numbers, valid: Mask | None, kind: DecimalType, failed: Mask | None = None) -> Outcome:
    """An outcome of unscaled values of the result's scale: those with too many digits have failed."""
    limit = 10**kind.precision
    too_long = np.asarray(np.abs(values) >= limit, np.bool_)
    failed = too_long if failed is None else failed | too_long
    if not failed.any():
        return Outcome(decimal_array(values, valid, kind))
    failed = failed if valid is None else failed & valid
    values = np.where(failed | too_long, 0, values)
    return Outcome(decimal_array(values, meet(valid, ~failed), kind), failed)


def _pair(left: pa.Array, right: pa.Array, digits: int) -> tuple[Numbers, Numbers, Mask | None]:
    return unscaled(left, digits), unscaled(right, digits), meet(validity(left), validity(right))


def _aligned(left: pa.Array, right: pa.Array) -> tuple[Numbers, Numbers, Mask | None, int]:
    """Both at their larger scale."""
    a, b = left.type, right.type
    scale = max(a.scale, b.scale)
    digits = max(a.precision - a.scale, b.precision - b.scale) + scale + 1
    x, y, valid = _pair(left, right, digits)
    return rescale(x, a.scale, scale), rescale(y, b.scale, scale), valid, scale


def add(left: pa.Array, right: pa.Array, kind: DecimalType) -> Outcome:
    """Sums."""
    x, y, valid, scale = _aligned(left, right)
    return finish(rescale(x + y, scale, kind.scale), valid, kind)


def subtract(left: pa.Array, right: pa.Array, kind: DecimalType) -> Outcome:
    """Differences."""
    x, y, valid, scale = _aligned(left, right)
    return finish(rescale(x - y, scale, kind.scale), valid, kind)


def multiply(left: pa.Array, right: pa.Array, kind: DecimalType) -> Outcome:
    """Products."""
    x, y, valid = _pair(left, right, left.type.precision + right.type.precision)
    return finish(rescale(x * y, left.type.scale + right.type.scale, kind.scale), valid, kind)


def divide(left: pa.Array, right: pa.Array, kind: DecimalType) -> Outcome:
    """Quotients; division by zero fails."""
    shift = kind.scale + right.type.scale - left.type.scale
    digits = max(left.type.precision + max(shift, 0), right.type.precision + max(-shift, 0)) + 1
    x, y, valid = _pair(left, right, digits)
    zero = np.asarray(y == 0, np.bool_)
    y = np.where(zero, 1, y)
    x, y = (x * 10**shift, y) if shift >= 0 else (x, y * 10**-shift)
    size = (2 * np.abs(x) + np.abs(y)) // (2 * np.abs(y))
    return finish(np.where((x < 0) != (y < 0), -size, size), valid, kind, zero)


def remainder(left: pa.Array, right: pa.Array, kind: DecimalType) -> Outcome:
    """Remainders with the sign of the dividend; fails for a zero divisor or a whole quotient of over 39 digits."""
    x, y, valid, scale = _aligned(left, right)
    failed = np.asarray(y == 0, np.bool_)
    y = np.abs(np.where(failed, 1, y))
    size = np.abs(x) % y
    if x.dtype == object:
        failed = failed | np.asarray(_too_long(np.abs(x) // y), np.bool_)
    return finish(rescale(np.where(x < 0, -size, size), scale, kind.scale), valid, kind, failed)


def _has_over_39_digits(value: int) -> bool:
    """Whether a positive number has more than 39 digits, zeros at its end not counted."""
    return value >= 10**39 and len(str(value).rstrip("0")) > 39


_too_long = np.frompyfunc(_has_over_39_digits, 1, 1)


def negate(array: pa.Array, kind: DecimalType) -> Outcome:
    """Opposites; those of over 34 digits are rounded (half to even) to 34, as Scala's decimals are in Spark."""
    values = unscaled(array)
    if kind.precision <= 34:
        return Outcome(decimal_array(-values, validity(array), kind))
    return finish(-np.asarray(_to_34_digits(values)), validity(array), kind)


def absolute(array: pa.Array, kind: DecimalType) -> Outcome:
    """Values without their sign; those that had one are rounded as by `negate`."""
    values = unscaled(array)
    if kind.precision <= 34:
        return Outcome(decimal_array(np.abs(values), validity(array), kind))
    rounded = np.asarray(_to_34_digits(values))
    return finish(np.where(values < 0, -rounded, values), validity(array), kind)


def _round_to_34(value: int) -> int:
    if -(10**34) < value < 10**34:
        return value
    unit = 10 ** (len(str(abs(value))) - 34)
    quotient, rest = divmod(abs(value), unit)
    if 2 * rest > unit or (2 * rest == unit and quotient % 2 == 1):
        quotient += 1
    rounded: int = quotient * unit
    return rounded if value > 0 else -rounded


_to_34_digits = np.frompyfunc(_round_to_34, 1, 1)


def whole_quotient(left: pa.Array, right: pa.Array) -> tuple[Numbers, Mask | None, Mask]:
    """Whole parts of quotients as Python integers, where they count, and where they fail.

    A quotient fails for a zero divisor, and beyond the 38 digits (at most) that Spark gives it before it becomes a
    bigint, which itself wraps around.
    """
    a, b = left.type, right.type
    x, y, valid = _pair(left, right, LONG_DIGITS + 1)
    x, y = x.astype(object) * 10**b.scale, y.astype(object) * 10**a.scale
    zero = np.asarray(y == 0, np.bool_)
    quotient = truncate(x, np.where(zero, 1, y))
    limit = 10 ** min(max(a.precision - a.scale + b.scale, 1), 38)
    return quotient, valid, zero | np.asarray(np.abs(quotient) >= limit, np.bool_)


def wrap_to_long(values: Numbers) -> Numbers:
    """Python integers cut to their lowest 64 bits, as Java's conversion to long does.

    >>> wrap_to_long(np.array([2**63], object)).tolist()
    [-9223372036854775808]
    """
    return (values & _LOW).astype(np.uint64).view(np.int64)

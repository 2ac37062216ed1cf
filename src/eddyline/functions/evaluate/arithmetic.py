"""Arithmetic on integers, floating point and decimals, with every failure (overflow, zero divisor) found exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import decimals
from eddyline.functions.evaluate.arrays import (
    Mask,
    Numbers,
    Outcome,
    build,
    meet,
    nulls,
    numbers,
    numpy_type,
    outcome,
    validity,
)
from eddyline.functions.evaluate.each_value import each_value
from eddyline.functions.number_text import EXACT, nearest_float
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call

_LONG = t.RANGE[t.LONG]


def _add(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.add(left, right, call.type)
    a, b, valid = _pair(left, right)
    with np.errstate(all="ignore"):
        total = a + b
    if call.type in t.FRACTIONAL:
        return Outcome(build(total, valid, call.type))
    return outcome(total, valid, call.type, ((a ^ total) & (b ^ total)) < 0)


def _subtract(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.subtract(left, right, call.type)
    a, b, valid = _pair(left, right)
    with np.errstate(all="ignore"):
        difference = a - b
    if call.type in t.FRACTIONAL:
        return Outcome(build(difference, valid, call.type))
    return outcome(difference, valid, call.type, ((a ^ b) & (a ^ difference)) < 0)


def _multiply(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.multiply(left, right, call.type)
    a, b, valid = _pair(left, right)
    with np.errstate(all="ignore"):
        product = a * b
    if call.type in t.FRACTIONAL:
        return Outcome(build(product, valid, call.type))
    return outcome(product, valid, call.type, _product_overflows(a, b, product))


def _product_overflows(a: Numbers, b: Numbers, product: Numbers) -> Mask:
    """Where a product of integers did not fit: narrow ones are redone in 64 bits, wide ones divided back."""
    if product.dtype.itemsize < 8:
        return np.asarray(a.astype(np.int64) * b.astype(np.int64) != product, np.bool_)
    lowest = np.iinfo(np.int64).min
    with np.errstate(all="ignore"):
        divisor = np.where((a == 0) | (a == -1), 1, a)
        back = product // divisor
        wrong = (a != 0) & (a != -1) & ((back != b) | (product % divisor != 0))
    return np.asarray(wrong | ((a == -1) & (b == lowest)), np.bool_)


def _divide(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.divide(left, right, call.type)
    a, b, valid = _pair(left, right)
    with np.errstate(all="ignore"):
        quotient = a / b
    return outcome(quotient, valid, call.type, np.broadcast_to(b == 0, quotient.shape))


def _int_divide(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if pa.types.is_decimal(left.type):
        quotient, valid, failed = decimals.whole_quotient(left, right)
        return outcome(decimals.wrap_to_long(quotient), valid, t.LONG, failed)
    a, b, valid = _pair(left, right)
    a, b = a.astype(np.int64), b.astype(np.int64)
    failed = (b == 0) | ((a == _LONG[0]) & (b == -1))
    return outcome(_quotient(a, np.where(failed, 1, b)), valid, t.LONG, failed)


def _quotient(a: Numbers, b: Numbers) -> Numbers:
    """Quotients of integers towards zero, for divisors other than zero."""
    down = a // b
    return np.asarray(down + ((a % b != 0) & ((a < 0) != (b < 0))))


def _modulo(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.remainder(left, right, call.type)
    a, b, valid = _pair(left, right)
    zero = np.broadcast_to(b == 0, np.broadcast_shapes(a.shape, b.shape))
    with np.errstate(all="ignore"):
        if call.type in t.INTEGRAL:
            rest = np.fmod(a, np.where((b == 0) | (b == -1), b.dtype.type(1), b))
        else:
            rest = np.fmod(a, b)
    return outcome(rest, valid, call.type, zero)


def _negate(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.negate(array, call.type)
    a = numbers(array)
    if call.type in t.FRACTIONAL:
        return Outcome(build(-a, validity(array), call.type))
    with np.errstate(all="ignore"):
        return outcome(-a, validity(array), call.type, a == np.iinfo(a.dtype).min)


def _absolute(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    if isinstance(call.type, t.DecimalType):
        return decimals.absolute(array, call.type)
    a = numbers(array)
    if call.type in t.FRACTIONAL:
        return Outcome(build(np.abs(a), validity(array), call.type))
    with np.errstate(all="ignore"):
        return outcome(np.abs(a), validity(array), call.type, a == np.iinfo(a.dtype).min)


def _floor(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _to_whole(call, arguments[0], np.floor, lambda value, unit: value // unit)


def _ceil(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _to_whole(call, arguments[0], np.ceil, lambda value, unit: -(-value // unit))


def _to_whole(
    call: Call,
    array: pa.Array,
    fractional: Callable[[Numbers], Numbers],
    exact: Callable[[Numbers, int], Numbers],
) -> Outcome:
    kind = call.arguments[0].type
    if isinstance(kind, t.DecimalType):
        assert isinstance(call.type, t.DecimalType), "a decimal stays one"
        whole = exact(decimals.unscaled(array), 10**kind.scale)
        return decimals.finish(decimals.rescale(whole, 0, call.type.scale), validity(array), call.type)
    if kind in t.INTEGRAL:
        return Outcome(build(numbers(array).astype(np.int64), validity(array), t.LONG))
    return Outcome(
        build(clip_to_long(fractional(numbers(array).astype(np.float64))), validity(array), t.LONG)
    )


def clip_to_long(values: Numbers) -> Numbers:
    """Doubles as bigint the way Java converts them: cut towards zero, NaN as 0, the rest clipped to the range.

    >>> clip_to_long(np.array([1e30, -1.5, np.nan])).tolist()
    [9223372036854775807, -1, 0]
    """
    low, high = float(_LONG[0]), float(_LONG[1])
    inside = (values >= low) & (values < high)
    cut = np.where(inside, values, 0.0).astype(np.int64)
    return np.where(values >= high, _LONG[1], np.where(values < low, _LONG[0], cut))


def _round(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    array, digits_array = arguments
    if digits_array.null_count:
        return Outcome(nulls(len(array), call.type))
    digits = digits_array[0].as_py()
    kind = call.arguments[0].type
    if isinstance(kind, t.DecimalType):
        return _round_decimal(array, digits, kind, call.type)
    if kind in t.INTEGRAL:
        return _round_integral(array, digits, kind)
    return each_value(lambda value: _round_double(value, digits, kind), [array], [kind], kind)


def _round_decimal(array: pa.Array, digits: int, kind: t.DecimalType, target: t.DataType) -> Outcome:
    assert isinstance(target, t.DecimalType), "a decimal stays one"
    values = decimals.unscaled(array, decimals.LONG_DIGITS + 1)
    rounded = decimals.rescale(values, kind.scale, digits) if digits < kind.scale else values
    scale = min(digits, kind.scale)
    return decimals.finish(decimals.rescale(rounded, scale, target.scale), validity(array), target)


def _round_integral(array: pa.Array, digits: int, kind: t.DataType) -> Outcome:
    if digits >= 0:
        return Outcome(array)
    unit = 10 ** min(-digits, 30)
    rounded = decimals.round_half_up(numbers(array).astype(object), unit) * unit
    low, high = t.RANGE[kind]
    failed = np.asarray((rounded < low) | (rounded > high), np.bool_)
    return outcome(np.where(failed, 0, rounded).astype(numpy_type(kind)), validity(array), kind, failed)


def _round_double(value: float, digits: int, kind: t.DataType) -> float:
    """Half up on the shortest decimal form of the double (a float is widened first), as Java's BigDecimal does it."""
    if value - value != 0:  # NaN or infinite
        return value
    exact = Decimal(repr(value))
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int), "a finite number has an exponent"
    digits = max(digits, -400)  # more than any double has before the point
    rounded = exact if exponent >= -digits else EXACT.quantize(exact, Decimal((0, (1,), -digits)))
    return (nearest_float(Fraction(rounded)) if kind == t.FLOAT else float(rounded)) + 0.0


def _is_nan(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    valid = validity(array)
    nan = np.isnan(numbers(array))
    return Outcome(build(nan if valid is None else nan & valid, None, t.BOOLEAN))


def _pair(left: pa.Array, right: pa.Array) -> tuple[Numbers, Numbers, Mask | None]:
    return numbers(left), numbers(right), meet(validity(left), validity(right))


KERNELS = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
    "int_div": _int_divide,
    "mod": _modulo,
    "neg": _negate,
    "abs": _absolute,
    "floor": _floor,
    "ceil": _ceil,
    "round": _round,
    "isnan": _is_nan,
}

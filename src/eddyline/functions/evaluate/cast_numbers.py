"""Conversion between numbers, and between numbers and truth values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import decimals
from eddyline.functions.evaluate.arithmetic import clip_to_long
from eddyline.functions.evaluate.arrays import (
    Mask,
    Numbers,
    Outcome,
    build,
    numbers,
    numpy_type,
    outcome,
    validity,
)
from eddyline.functions.evaluate.each_value import Failed, each_value
from eddyline.functions.number_text import fit_decimal, nearest_float
from eddyline.functions.zones import Zone
from eddyline.model import types as t

_DIGITS: Final = {t.BYTE: 3, t.SHORT: 5, t.INT: 10, t.LONG: 19}
_EXACT_DOUBLE: Final = 2**53  # whole numbers up to here, and powers of ten up to 10**22, are exact doubles


def _integral_to_integral(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return to_range(numbers(array), validity(array), target)


def to_range(values: Numbers, valid: Mask | None, target: t.DataType) -> Outcome:
    """Whole numbers as an integral type; those outside of its range fail."""
    low, high = t.RANGE[target]
    if values.dtype != object and np.can_cast(values.dtype, numpy_type(target)):
        return Outcome(build(values.astype(numpy_type(target)), valid, target))
    failed = np.asarray((values < low) | (values > high), np.bool_)
    return outcome(np.where(failed, 0, values).astype(numpy_type(target)), valid, target, failed)


def _to_fractional(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return Outcome(build(numbers(array).astype(numpy_type(target)), validity(array), target))


def _fractional_to_integral(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Cut towards zero. The test is Java's, on doubles: 2**63 itself passes as a bigint and is clipped."""
    values = numbers(array).astype(np.float64)
    low, high = t.RANGE[target]
    with np.errstate(invalid="ignore"):
        inside = (np.floor(values) <= float(high)) & (np.ceil(values) >= float(low))
    whole = clip_to_long(np.where(inside, values, 0.0))
    return outcome(whole.astype(numpy_type(target)), validity(array), target, ~inside)


def _integral_to_decimal(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    assert isinstance(target, t.DecimalType), "the target was looked up as a decimal"
    values = numbers(array)
    wide = _DIGITS[source] + target.scale > decimals.LONG_DIGITS
    values = values.astype(object if wide else np.int64)
    return decimals.finish(values * 10**target.scale, validity(array), target)


def _decimal_to_decimal(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    assert isinstance(source, t.DecimalType) and isinstance(target, t.DecimalType), "looked up as decimals"
    values = decimals.unscaled(array, source.precision + max(target.scale - source.scale, 0))
    return decimals.finish(decimals.rescale(values, source.scale, target.scale), validity(array), target)


def _decimal_to_integral(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Cut towards zero; a decimal of more than 18 digits becomes an int or less by way of a double, as in Spark."""
    assert isinstance(source, t.DecimalType), "the source was looked up as a decimal"
    if source.precision > decimals.LONG_DIGITS and target != t.LONG:
        doubles = _decimal_to_double(array, source, t.DOUBLE, zone).values
        return _fractional_to_integral(doubles, t.DOUBLE, target, zone)
    return to_range(decimals.truncate(decimals.unscaled(array), 10**source.scale), validity(array), target)


def _decimal_to_fractional(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    if target == t.DOUBLE:
        return _decimal_to_double(array, source, target, zone)
    return each_value(lambda value: nearest_float(Fraction(value)), [array], [source], target)


def _decimal_to_double(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """The nearest double: one division of exact doubles where both are, Python's exact division elsewhere."""
    assert isinstance(source, t.DecimalType), "the source was looked up as a decimal"
    values = decimals.unscaled(array)
    if values.dtype != object and source.scale <= 22 and (np.abs(values) <= _EXACT_DOUBLE).all():
        return Outcome(build(values / float(10**source.scale), validity(array), t.DOUBLE))
    quotients = (values.astype(object) / 10**source.scale).astype(np.float64)
    return Outcome(build(quotients, validity(array), t.DOUBLE))


def _fractional_to_decimal(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    assert isinstance(target, t.DecimalType), "the target was looked up as a decimal"
    return each_value(lambda value: _double_to_decimal(value, target), [array], [source], target)


def _double_to_decimal(value: float, target: t.DecimalType) -> Decimal:
    """The shortest decimal form of a double, rounded to a decimal type."""
    if value - value != 0:  # NaN or infinite
        raise Failed
    fitted = fit_decimal(Decimal(repr(value)), target.precision, target.scale)
    if fitted is None:
        raise Failed
    return fitted


def _to_boolean(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    values = decimals.unscaled(array) if isinstance(source, t.DecimalType) else numbers(array)
    return Outcome(build(np.asarray(values != 0, np.bool_), validity(array), t.BOOLEAN))


def _boolean_to_number(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return Outcome(build(numbers(array).astype(numpy_type(target)), validity(array), target))


def _boolean_to_decimal(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    assert isinstance(target, t.DecimalType), "the target was looked up as a decimal"
    return decimals.finish(numbers(array).astype(object) * 10**target.scale, validity(array), target)


CONVERSIONS: Final[dict[tuple[str, str], Callable[[pa.Array, t.DataType, t.DataType, Zone], Outcome]]] = {
    ("integral", "integral"): _integral_to_integral,
    ("integral", "fractional"): _to_fractional,
    ("integral", "decimal"): _integral_to_decimal,
    ("integral", "boolean"): _to_boolean,
    ("fractional", "integral"): _fractional_to_integral,
    ("fractional", "fractional"): _to_fractional,
    ("fractional", "decimal"): _fractional_to_decimal,
    ("fractional", "boolean"): _to_boolean,
    ("decimal", "integral"): _decimal_to_integral,
    ("decimal", "fractional"): _decimal_to_fractional,
    ("decimal", "decimal"): _decimal_to_decimal,
    ("decimal", "boolean"): _to_boolean,
    ("boolean", "integral"): _boolean_to_number,
    ("boolean", "fractional"): _boolean_to_number,
    ("boolean", "decimal"): _boolean_to_decimal,
}

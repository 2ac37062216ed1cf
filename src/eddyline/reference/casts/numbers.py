"""Numbers and booleans into one another."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

from eddyline.model import types as t
from eddyline.reference.failure import Failure
from eddyline.reference.numbers import decimals, floats
from eddyline.reference.numbers.arithmetic import clip, in_range

_COMPACT: Final = 18  # digits of a decimal that Spark holds as a bigint


def to_number(source: t.DataType, target: t.DataType, value: Any) -> Any:
    """A number or boolean as another number or boolean."""
    if target == t.BOOLEAN:
        return value != 0
    if source == t.BOOLEAN:
        value, source = int(value), t.INT
    if isinstance(target, t.DecimalType):
        return _to_decimal(source, target, value)
    if t.is_fractional(target):
        return _to_float(target, value)
    return _to_integer(source, target, value)


def _to_decimal(source: t.DataType, target: t.DecimalType, value: Any) -> Decimal:
    if t.is_fractional(source):
        if not math.isfinite(value):
            raise Failure(f"{value} is no decimal")
        # The decimal that Java prints for the double; a float is widened first.
        value = floats.shortest(value, t.DOUBLE)
    return decimals.fit(Decimal(value), target)


def _to_float(target: t.DataType, value: int | float | Decimal) -> float:
    if isinstance(value, float):
        return floats.round32(value) if target == t.FLOAT else value
    return floats.nearest(value, target)


def _to_integer(source: t.DataType, target: t.DataType, value: int | float | Decimal) -> int:
    if isinstance(value, Decimal):
        if target == t.LONG or (isinstance(source, t.DecimalType) and source.precision <= _COMPACT):
            return in_range(target, decimals.truncate(value))
        value = floats.nearest(value, t.DOUBLE)  # so does Spark, and 0.99999999999999999999 becomes 1
    if isinstance(value, float):
        return whole(target, value)
    return in_range(target, value)


def whole(target: t.DataType, value: float) -> int:
    """The whole part of a float; fails beyond the type's range.

    The ends of the range are compared as doubles, so 2**63 passes for bigint and becomes 2**63 - 1.
    """
    low, high = t.RANGE[target]
    if not (math.isfinite(value) and math.floor(value) <= float(high) and math.ceil(value) >= float(low)):
        raise Failure(f"{value} is beyond {target}")
    return clip(target, math.trunc, value)

"""Comparison in Spark's order: NaN equals NaN and is above everything, -0.0 equals 0.0, text and bytes by bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import (
    Mask,
    Numbers,
    Outcome,
    build,
    length_of,
    meet,
    nulls,
    numbers,
    validity,
)
from eddyline.functions.evaluate.each_value import each_value
from eddyline.functions.evaluate.logic import choose, operands
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call

_ARROW = {"eq": "equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_MIRROR = {"gt": "lt", "ge": "le"}


def compare(name: str, left: pa.Array, right: pa.Array, kind: t.DataType) -> pa.Array:
    """One of eq, lt, le, gt, ge on two arrays of one Spark type; NULL where either is.

    >>> compare("lt", pa.array([1.0, float("nan")]), pa.array([float("nan")]), t.DOUBLE).to_pylist()
    [True, False]
    """
    if kind == t.VOID:
        return nulls(length_of([left, right]), t.BOOLEAN)
    if kind in t.FRACTIONAL:
        return _fractional(name, left, right)
    if isinstance(kind, t.ArrayType | t.StructType):
        return _nested(name, left, right, kind)
    return pc.call_function(_ARROW[name], operands([left, right]))


def _fractional(name: str, left: pa.Array, right: pa.Array) -> pa.Array:
    if name in _MIRROR:
        return _fractional(_MIRROR[name], right, left)
    a, b = numbers(left), numbers(right)
    with np.errstate(invalid="ignore"):
        result: Mask = (a == b) if name == "eq" else (a < b) if name == "lt" else (a <= b)
        if name == "lt":
            result = result | (np.isnan(b) & ~np.isnan(a))
        elif name == "eq":
            result = result | (np.isnan(a) & np.isnan(b))
        else:
            result = result | np.isnan(b)
    return build(result, meet(validity(left), validity(right)), t.BOOLEAN)


def _nested(name: str, left: pa.Array, right: pa.Array, kind: t.DataType) -> pa.Array:
    order = ordering(kind)
    tests: dict[str, Callable[[int], bool]] = {
        "eq": lambda sign: sign == 0,
        "lt": lambda sign: sign < 0,
        "le": lambda sign: sign <= 0,
        "gt": lambda sign: sign > 0,
        "ge": lambda sign: sign >= 0,
    }
    test = tests[name]
    return each_value(lambda a, b: test(order(a, b)), [left, right], [kind, kind], t.BOOLEAN).values


def ordering(kind: t.DataType) -> Callable[[Any, Any], int]:
    """A function that gives the sign of a comparison of two Python values of the type; NULL is lowest.

    >>> ordering(t.ArrayType(t.INT))([1, None], [1, 2])
    -1
    """
    if isinstance(kind, t.ArrayType):
        element = ordering(kind.element)
        return _with_null(
            lambda a, b: _first([element(x, y) for x, y in zip(a, b, strict=False)], len(a) - len(b))
        )
    if isinstance(kind, t.StructType):
        fields = [ordering(field) for _, field in kind.fields]
        return _with_null(lambda a, b: _first([f(x, y) for f, x, y in zip(fields, a, b, strict=True)], 0))
    if kind in t.FRACTIONAL:
        return _with_null(lambda a, b: _sign((a != a, 0.0 if a != a else a), (b != b, 0.0 if b != b else b)))
    if kind == t.STRING:
        return _with_null(lambda a, b: _sign(_bytes(a), _bytes(b)))
    return _with_null(_sign)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _sign(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


def _first(signs: list[int], otherwise: int) -> int:
    return next((sign for sign in signs if sign), (otherwise > 0) - (otherwise < 0))


def _with_null(order: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    def total(a: Any, b: Any) -> int:
        if a is None or b is None:
            return int(a is not None) - int(b is not None)
        return order(a, b)

    return total


def _comparison(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    return Outcome(compare(call.function, left, right, call.arguments[0].type))


def _null_safe_equal(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    left, right = arguments
    equal = compare("eq", left, right, call.arguments[0].type).fill_null(False)
    both_null = pc.call_function("and", operands([left.is_null(), right.is_null()]))
    return Outcome(pc.call_function("or", operands([equal, both_null])))


def _in(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    subject, *others = arguments
    kind = call.arguments[0].type
    constants = [array for array in others if len(array) == 1]
    varying = [array for array in others if len(array) != 1]
    if len(subject) == 1 or kind == t.VOID or isinstance(kind, t.ArrayType | t.StructType | t.MapType):
        constants, varying = [], list(others)
    found = [compare("eq", subject, array, kind) for array in varying]
    if constants:
        found.append(_in_constants(subject, pa.concat_arrays(constants), kind))
    if not found:
        return Outcome(pa.array([False]))
    return Outcome(
        reduce(lambda a, b: pc.call_function("or_kleene", operands([a, b])), sorted(found, key=len))
    )


def _in_constants(subject: pa.Array, constants: pa.Array, kind: t.DataType) -> pa.Array:
    """Whether each entry is one of the constants; NULL instead of false if a constant is NULL, or for NULL itself."""
    if kind in t.FRACTIONAL:
        subject, constants = _one_zero(subject, kind), _one_zero(constants, kind)
    found = pc.is_in(subject, value_set=constants.drop_null())
    unknown = constants.null_count > 0
    valid = numbers(found) if unknown else None
    return build(numbers(found), meet(valid, validity(subject)), t.BOOLEAN)


def _one_zero(array: pa.Array, kind: t.DataType) -> pa.Array:
    """The same numbers without the negative zero and with a single NaN, for Arrow's hashing."""
    values: Numbers = numbers(array) + numbers(array).dtype.type(0)
    return build(np.where(np.isnan(values), values.dtype.type(np.nan), values), validity(array), kind)


def _extreme(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    """The greatest or least of the arguments that are not NULL; of equals the first."""
    better = "gt" if call.function == "greatest" else "lt"
    result = arguments[0]
    for array in arguments[1:]:
        take_next = compare(better, array, result, call.type).fill_null(False)
        only = pc.call_function("and", operands([array.is_valid(), result.is_null()]))
        result = choose(pc.call_function("or", operands([take_next, only])), array, result)
    return Outcome(result)


KERNELS = {
    **dict.fromkeys(_ARROW, _comparison),
    "null_safe_eq": _null_safe_equal,
    "in": _in,
    "greatest": _extreme,
    "least": _extreme,
}

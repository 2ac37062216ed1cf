"""Conversion between all pairs of types that Spark converts in ANSI mode."""

from __future__ import annotations

from typing import Any

from eddyline.model import types as t
from eddyline.reference.casts import from_text, intervals, numbers, times, to_text
from eddyline.reference.failure import Failure
from eddyline.reference.text import octets


def cast(source: t.DataType, target: t.DataType, value: Any, time_zone: str) -> Any:
    """The value in another type; fails where it has no such form.

    >>> cast(t.STRING, t.INT, " 12 ", "UTC"), cast(t.DOUBLE, t.INT, -1.9, "UTC")
    (12, -1)
    """
    if value is None or source == target:
        return value
    if isinstance(source, t.ArrayType | t.MapType | t.StructType) and target != t.STRING:
        return _nested(source, target, value, time_zone)
    if target == t.STRING:
        return to_text.text(source, value, time_zone)
    if target == t.BINARY:
        return octets(value)
    if target in (t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ):
        return times.to_time(source, target, value, time_zone)
    if t.is_interval(target) or t.is_interval(source):
        return intervals.cast(source, target, value)
    if source == t.STRING:
        return from_text.to_number(target, value)
    if source == t.TIMESTAMP:
        return times.to_number(target, value)
    return numbers.to_number(source, target, value)


def _nested(source: t.DataType, target: t.DataType, value: Any, time_zone: str) -> Any:
    """Element by element: where one fails, it is NULL in the result."""
    failed = False

    def one(was: t.DataType, becomes: t.DataType, each: Any) -> Any:
        nonlocal failed
        try:
            return cast(was, becomes, each, time_zone)
        except Failure as failure:
            failed = True
            return failure.value

    result: Any
    match source, target:
        case t.ArrayType(), t.ArrayType():
            result = [one(source.element, target.element, each) for each in value]
        case t.MapType(), t.MapType():
            keys = [cast(source.key, target.key, key, time_zone) for key, _ in value]  # none may be NULL
            result = [
                (key, one(source.value, target.value, each))
                for key, (_, each) in zip(keys, value, strict=True)
            ]
        case t.StructType(), t.StructType():
            pairs = zip(source.fields, target.fields, value, strict=True)
            result = tuple(one(was, becomes, each) for (_, was), (_, becomes), each in pairs)
        case _:
            raise AssertionError(f"no cast from {source} to {target}")
    if failed:
        raise Failure(f"a part of {value!r} has no form as {target}", result)
    return result

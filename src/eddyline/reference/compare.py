"""Order and equality of two values of one type, as Spark has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eddyline.model import types as t
from eddyline.reference.text import octets


def compare(kind: t.DataType, left: Any, right: Any) -> int:
    """Negative, zero or positive, as `left` is below, equal to or above `right`; NULL (inside a value) is lowest.

    NaN equals NaN and is above every other number, -0.0 equals 0.0, text goes by its UTF-8 bytes.

    >>> compare(t.DOUBLE, float("nan"), float("inf")), compare(t.ArrayType(t.INT), [1, None], [1, 0])
    (1, -1)
    """
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(kind, t.ArrayType):
        return _elementwise(((kind.element, a, b) for a, b in zip(left, right, strict=False)), left, right)
    if isinstance(kind, t.StructType):
        kinds = [field for _, field in kind.fields]
        return _elementwise(zip(kinds, left, right, strict=True), left, right)
    if t.is_fractional(kind) and (left != left or right != right):
        return int(left != left) - int(right != right)
    if kind == t.STRING:
        left, right = octets(left), octets(right)
    return int(left > right) - int(left < right)


def _elementwise(pairs: Iterable[tuple[t.DataType, Any, Any]], left: Any, right: Any) -> int:
    for kind, a, b in pairs:
        order = compare(kind, a, b)
        if order:
            return order
    return len(left) - len(right)


def eq(kind: t.DataType, left: Any, right: Any) -> bool:
    return compare(kind, left, right) == 0


def lt(kind: t.DataType, left: Any, right: Any) -> bool:
    return compare(kind, left, right) < 0


def le(kind: t.DataType, left: Any, right: Any) -> bool:
    return compare(kind, left, right) <= 0


def gt(kind: t.DataType, left: Any, right: Any) -> bool:
    return compare(kind, left, right) > 0


def ge(kind: t.DataType, left: Any, right: Any) -> bool:
    return compare(kind, left, right) >= 0


def greatest(kind: t.DataType, *values: Any) -> Any:
    """The first of the largest among those that are not NULL."""
    best = None
    for value in values:
        if value is not None and (best is None or compare(kind, value, best) > 0):
            best = value
    return best


def least(kind: t.DataType, *values: Any) -> Any:
    """The first of the smallest among those that are not NULL."""
    best = None
    for value in values:
        if value is not None and (best is None or compare(kind, value, best) < 0):
            best = value
    return best

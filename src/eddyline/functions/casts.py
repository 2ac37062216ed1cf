"""Which explicit casts Spark accepts in ANSI mode."""

from __future__ import annotations

from eddyline.functions.coercion import TypeMismatch, cast
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

_TEMPORAL = (t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ)


def explicit_cast(expression: Expression, kind: t.DataType, *, lenient: bool) -> Expression:
    """`CAST(expression AS kind)`, or TRY_CAST where lenient.

    >>> from eddyline.model.expression import Column
    >>> explicit_cast(Column("a", t.DATE), t.INT, lenient=False)
    Traceback (most recent call last):
    ...
    eddyline.functions.coercion.TypeMismatch: date cannot be cast to int
    """
    if not allowed(expression.type, kind):
        raise TypeMismatch(f"{expression.type} cannot be cast to {kind}")
    if expression.type == kind or (isinstance(expression, Literal) and expression.value is None):
        return cast(expression, kind)
    return Call("try_cast" if lenient else "cast", (expression,), kind)


def allowed(kind: t.DataType, target: t.DataType) -> bool:
    """Whether a value of one type may be cast to the other at all; single values may still fail."""
    if kind == target or kind == t.VOID:
        return True
    if isinstance(target, t.ArrayType | t.MapType | t.StructType):
        return _allowed_nested(kind, target)
    if isinstance(kind, t.ArrayType | t.MapType | t.StructType):
        return False
    if target == t.STRING:
        return not t.is_interval(kind)
    if kind == t.STRING:
        return not t.is_interval(target)
    if t.is_numeric(target):
        return t.is_numeric(kind) or kind in (t.BOOLEAN, t.TIMESTAMP)
    if target == t.BOOLEAN:
        return t.is_numeric(kind)
    if target == t.TIMESTAMP and t.is_numeric(kind):
        return True
    return target in _TEMPORAL and kind in _TEMPORAL


def _allowed_nested(kind: t.DataType, target: t.DataType) -> bool:
    if isinstance(kind, t.ArrayType) and isinstance(target, t.ArrayType):
        return allowed(kind.element, target.element)
    if isinstance(kind, t.MapType) and isinstance(target, t.MapType):
        return allowed(kind.key, target.key) and allowed(kind.value, target.value)
    if isinstance(kind, t.StructType) and isinstance(target, t.StructType):
        pairs = zip(kind.fields, target.fields, strict=False)
        return len(kind.fields) == len(target.fields) and all(allowed(a, b) for (_, a), (_, b) in pairs)
    return False

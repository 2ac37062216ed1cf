"""Which types meet, and in which common type: Spark 4's rules in ANSI mode.

left        right            common
int         bigint           bigint            the wider integral type
int         float            double            a float cannot hold every int
bigint      decimal(10,2)    decimal(22,2)     digits before and after the point kept
decimal     double           double
string      int              bigint            text is read as a number
string      decimal          double
string      date             date
date        timestamp        timestamp
"""

from __future__ import annotations

from collections.abc import Iterable

from eddyline.errors import EddylineError
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

# Decimal types wide enough for every value of a binary type.
DECIMAL_OF = {
    t.BYTE: t.DecimalType(3, 0),
    t.SHORT: t.DecimalType(5, 0),
    t.INT: t.DecimalType(10, 0),
    t.LONG: t.DecimalType(20, 0),
    t.FLOAT: t.DecimalType(14, 7),
    t.DOUBLE: t.DecimalType(30, 15),
}

_TEMPORAL = (t.DATE, t.TIMESTAMP_NTZ, t.TIMESTAMP)  # each meets a later one in the later


class TypeMismatch(EddylineError):
    """Arguments that an operation cannot take; `argument` is the culprit's position where there is one."""

    def __init__(self, message: str, *, hint: str | None = None, argument: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.argument = argument


def bounded(precision: int, scale: int) -> t.DecimalType:
    """A decimal type of at most 38 digits; what is too much goes off the end, digits before the point stay.

    >>> str(bounded(40, 10))
    'decimal(38,8)'
    """
    excess = max(0, precision - t.MAX_PRECISION)
    return t.DecimalType(precision - excess, max(0, scale - excess))


def adjusted(precision: int, scale: int) -> t.DecimalType:
    """Result type of decimal arithmetic: past 38 digits the scale shrinks, but not below six.

    >>> str(adjusted(39, 10)), str(adjusted(77, 20))
    ('decimal(38,9)', 'decimal(38,6)')
    """
    if precision <= t.MAX_PRECISION:
        return t.DecimalType(precision, scale)
    return t.DecimalType(t.MAX_PRECISION, max(t.MAX_PRECISION - (precision - scale), min(scale, 6)))


def wider_decimal(a: t.DecimalType, b: t.DecimalType) -> t.DecimalType:
    """The decimal type that keeps both numbers' digits on both sides of the point."""
    scale = max(a.scale, b.scale)
    return bounded(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def common_type(a: t.DataType, b: t.DataType, *, promote_strings: bool = True) -> t.DataType | None:
    """The type in which values of two types meet, or None.

    >>> str(common_type(t.INT, t.FLOAT)), str(common_type(t.STRING, t.INT)), common_type(t.BOOLEAN, t.INT)
    ('double', 'bigint', None)
    """
    if a == b or b == t.VOID:
        return a
    if a == t.VOID:
        return b
    if t.is_numeric(a) and t.is_numeric(b):
        return _common_numeric(a, b)
    if a in _TEMPORAL and b in _TEMPORAL:
        return max(a, b, key=_TEMPORAL.index)
    if promote_strings and t.STRING in (a, b):
        return _common_with_string(b if a == t.STRING else a)
    return _common_nested(a, b, promote_strings)


def _common_numeric(a: t.DataType, b: t.DataType) -> t.DataType:
    if isinstance(a, t.DecimalType) or isinstance(b, t.DecimalType):
        if t.is_fractional(a) or t.is_fractional(b):
            return t.DOUBLE
        return wider_decimal(_as_decimal(a), _as_decimal(b))
    if t.is_fractional(a) or t.is_fractional(b):
        return t.DOUBLE
    return max(a, b, key=t.INTEGRAL.index)


def _as_decimal(kind: t.DataType) -> t.DecimalType:
    return kind if isinstance(kind, t.DecimalType) else DECIMAL_OF[kind]


def _common_with_string(other: t.DataType) -> t.DataType | None:
    if t.is_integral(other):
        return t.LONG
    if t.is_numeric(other):
        return t.DOUBLE
    return other if other in t.ATOMIC else None


def _common_nested(a: t.DataType, b: t.DataType, promote_strings: bool) -> t.DataType | None:
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        element = common_type(a.element, b.element, promote_strings=promote_strings)
        return None if element is None else t.ArrayType(element)
    if isinstance(a, t.MapType) and isinstance(b, t.MapType):
        key = common_type(a.key, b.key, promote_strings=promote_strings)
        value = common_type(a.value, b.value, promote_strings=promote_strings)
        return None if key is None or value is None else t.MapType(key, value)
    if isinstance(a, t.StructType) and isinstance(b, t.StructType) and _same_names(a, b):
        kinds = [
            common_type(x, y, promote_strings=promote_strings)
            for (_, x), (_, y) in zip(a.fields, b.fields, strict=True)
        ]
        fields = tuple(
            (name, kind) for (name, _), kind in zip(a.fields, kinds, strict=True) if kind is not None
        )
        return t.StructType(fields) if len(fields) == len(kinds) else None
    return None


def _same_names(a: t.StructType, b: t.StructType) -> bool:
    return [name.lower() for name, _ in a.fields] == [name.lower() for name, _ in b.fields]


def common_of_all(kinds: Iterable[t.DataType], *, promote_strings: bool = True) -> t.DataType | None:
    """The common type of a list, taken from left to right as Spark does."""
    result: t.DataType | None = t.VOID
    for kind in kinds:
        if result is not None:
            result = common_type(result, kind, promote_strings=promote_strings)
    return result


def cast(expression: Expression, kind: t.DataType) -> Expression:
    """The expression in another type: as it is where nothing changes, a NULL constant retyped, else a cast."""
    if expression.type == kind:
        return expression
    if isinstance(expression, Literal) and expression.value is None:
        return Literal(None, kind)
    return Call("cast", (expression,), kind)


def to_common(
    arguments: tuple[Expression, ...], what: str, *, promote_strings: bool = True
) -> tuple[Expression, ...]:
    """All arguments cast to their common type, or a `TypeMismatch` that names their types."""
    kind = common_of_all((a.type for a in arguments), promote_strings=promote_strings)
    if kind is None:
        names = ", ".join(str(kind) for kind in dict.fromkeys(a.type for a in arguments))
        raise TypeMismatch(
            f"{what} cannot bring together the types {names}", hint="write the cast that you mean"
        )
    return tuple(cast(a, kind) for a in arguments)


def implicit(expression: Expression, wanted: t.DataType, what: str, argument: int) -> Expression:
    """An argument in the type that a function wants, where Spark converts by itself."""
    if not _converts(expression.type, wanted):
        raise TypeMismatch(
            f"{what} wants {wanted} as argument {argument + 1}, not {expression.type}",
            hint=f"cast it: cast(... AS {wanted})" if expression.type in t.ATOMIC else None,
            argument=argument,
        )
    return cast(expression, wanted)


def _converts(kind: t.DataType, wanted: t.DataType) -> bool:
    if kind in (wanted, t.VOID):
        return True
    if wanted == t.STRING:
        return kind in t.ATOMIC or isinstance(kind, t.DecimalType) or t.is_interval(kind)
    if kind == t.STRING:
        return wanted in t.ATOMIC or isinstance(wanted, t.DecimalType)
    if t.is_numeric(wanted):
        return t.is_numeric(kind)
    return wanted in _TEMPORAL and kind in _TEMPORAL

"""Binding of `+ - * / div %` and of signs: numbers, decimals, text read as numbers, dates, times and intervals."""

from __future__ import annotations

from decimal import Decimal

from eddyline.functions.coercion import (
    DECIMAL_OF,
    TypeMismatch,
    adjusted,
    cast,
    common_type,
    implicit,
)
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "int_div": "div", "mod": "%"}
_TIMES = (t.TIMESTAMP, t.TIMESTAMP_NTZ)
_MICROS_PER_DAY = 86_400_000_000


def arithmetic(operation: str, left: Expression, right: Expression, context: Context) -> Expression:
    """A binary operation with its operands brought together as Spark does.

    >>> from eddyline.model.expression import Column
    >>> arithmetic("add", Column("a", t.INT), Column("b", t.LONG), Context())
    add(cast(Column('a', int)): bigint, Column('b', bigint)): bigint
    """
    temporal = _temporal(operation, left, right)
    if temporal is not None:
        return temporal
    left, right = _numbers(operation, left, right)
    kinds = (left.type, right.type)
    if any(isinstance(kind, t.DecimalType) for kind in kinds) and not any(map(t.is_fractional, kinds)):
        return _decimal(operation, _to_decimal(left, context), _to_decimal(right, context))
    kind = common_type(left.type, right.type)
    assert kind is not None, "two numeric types always have a common one"
    if operation == "div":
        kind = t.DOUBLE
    elif operation == "int_div":
        if not t.is_integral(kind):
            raise _mismatch(operation, left, right)
        kind = t.LONG
    return Call(operation, (cast(left, kind), cast(right, kind)), kind)


def _numbers(operation: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both operands numeric: text becomes bigint beside an integer, double beside other numbers; NULL follows suit."""
    if left.type == t.VOID and right.type == t.VOID:
        return cast(left, t.DOUBLE), cast(right, t.DOUBLE)
    left_type, right_type = left.type, right.type
    if t.STRING in (left_type, right_type):
        kind = common_type(left_type, right_type)
        if kind is None or not t.is_numeric(kind):
            raise _mismatch(operation, left, right)
        left = cast(left, kind) if left_type == t.STRING else left
        right = cast(right, kind) if right_type == t.STRING else right
    if left.type == t.VOID:
        left = cast(left, right.type)
    if right.type == t.VOID:
        right = cast(right, left.type)
    if not (t.is_numeric(left.type) and t.is_numeric(right.type)):
        raise _mismatch(operation, left, right)
    return left, right


def _mismatch(operation: str, left: Expression, right: Expression) -> TypeMismatch:
    return TypeMismatch(
        f'"{SYMBOLS[operation]}" cannot take {left.type} and {right.type}',
        hint="cast one side to what you mean",
    )


def literal_decimal(value: int) -> t.DecimalType:
    """The smallest decimal type of an integer constant.

    >>> str(literal_decimal(-120))
    'decimal(3,0)'
    """
    return t.DecimalType(len(str(abs(value))), 0)


def _to_decimal(operand: Expression, context: Context) -> Expression:
    if isinstance(operand.type, t.DecimalType):
        return operand
    if isinstance(operand, Literal) and isinstance(operand.value, int) and operand.type != t.BYTE:
        # Spark shortens every whole constant but a tinyint.
        value = context.constant(operand, "arithmetic", 0)
        assert isinstance(value, int), "integral literals hold integers"
        return Literal(Decimal(value), literal_decimal(value))
    return cast(operand, DECIMAL_OF[operand.type])


def _decimal(operation: str, left: Expression, right: Expression) -> Expression:
    assert isinstance(left.type, t.DecimalType) and isinstance(right.type, t.DecimalType), (
        "decimals on both sides"
    )
    kind = t.LONG if operation == "int_div" else decimal_result(operation, left.type, right.type)
    return Call(operation, (left, right), kind)


def decimal_result(operation: str, a: t.DecimalType, b: t.DecimalType) -> t.DecimalType:
    """Type of a decimal operation's result.

    >>> str(decimal_result("div", t.DecimalType(10, 2), t.DecimalType(1, 0)))
    'decimal(14,6)'
    """
    whole, scale = max(a.precision - a.scale, b.precision - b.scale), max(a.scale, b.scale)
    if operation in ("add", "sub"):
        return adjusted(whole + scale + 1, scale)
    if operation == "mul":
        return adjusted(a.precision + b.precision + 1, a.scale + b.scale)
    if operation == "div":
        scale = max(6, a.scale + b.precision + 1)
        return adjusted(a.precision - a.scale + b.scale + scale, scale)
    return adjusted(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def _temporal(operation: str, left: Expression, right: Expression) -> Expression | None:
    """Dates, times and intervals under + and -; None where the operands are none of these."""
    kinds = (left.type, right.type)
    if not any(kind == t.DATE or kind in _TIMES or t.is_interval(kind) for kind in kinds):
        return None
    if operation == "add":
        if t.is_interval(left.type) or (right.type == t.DATE and left.type != t.DATE):
            left, right = right, left
        result = _add(left, right)
    elif operation == "sub":
        result = _subtract(left, right)
    else:
        result = None
    if result is None:
        raise _mismatch(operation, left, right)
    return result


def _add(left: Expression, right: Expression) -> Expression | None:
    if t.is_interval(left.type):
        return Call("add", (left, right), left.type) if left.type == right.type else None
    if left.type == t.DATE and right.type in (t.INT, t.SHORT, t.BYTE, t.VOID):
        return Call("date_add", (left, cast(right, t.INT)), t.DATE)
    if not t.is_interval(right.type):
        return None
    if left.type == t.DATE:
        return _date_add(left, right)
    if left.type in _TIMES:
        return Call("time_add", (left, right), left.type)
    return None


def _date_add(date: Expression, interval: Expression) -> Expression:
    if interval.type == t.YEAR_MONTH:
        return Call("date_add_months", (date, interval), t.DATE)
    if isinstance(interval, DayInterval):
        assert isinstance(interval.value, int), "interval constants are integers"
        return Call("date_add", (date, Literal(interval.value // _MICROS_PER_DAY, t.INT)), t.DATE)
    return Call("time_add", (cast(date, t.TIMESTAMP), interval), t.TIMESTAMP)


class DayInterval(Literal):
    """An interval constant written in days (or weeks) only: added to a date it gives a date, not a timestamp."""

    __slots__ = ()


def _subtract(left: Expression, right: Expression) -> Expression | None:
    if t.is_interval(right.type):
        if left.type == right.type:
            return Call("sub", (left, right), left.type)
        if left.type == t.DATE or left.type in _TIMES:
            return _add(left, _negated(right))
        return None
    if left.type == t.DATE and right.type in (t.INT, t.SHORT, t.BYTE, t.VOID):
        return Call("date_sub", (left, cast(right, t.INT)), t.DATE)
    return _difference(left, right)


def _negated(interval: Expression) -> Expression:
    if isinstance(interval, DayInterval):
        assert isinstance(interval.value, int), "interval constants are integers"
        return DayInterval(-interval.value, interval.type)
    return Call("neg", (interval,), interval.type)


def _difference(left: Expression, right: Expression) -> Expression | None:
    kinds = {left.type, right.type}
    if kinds <= {t.DATE, t.STRING}:
        operands = (cast(left, t.DATE), cast(right, t.DATE))
        return Call("subtract_dates", operands, t.DAY_TIME)
    if not kinds <= {t.DATE, t.STRING, *_TIMES}:
        return None
    kind = left.type if left.type in _TIMES else right.type
    if kinds == set(_TIMES):
        # Unlike in comparisons: the hour that a wall clock skips has no instant of its own.
        kind = t.TIMESTAMP_NTZ
    return Call("subtract_times", (cast(left, kind), cast(right, kind)), t.DAY_TIME)


def negate(operand: Expression, what: str = '"-"') -> Expression:
    """A number or interval with the opposite sign; text is read as a double."""
    operand = signed(operand, what)
    if isinstance(operand, DayInterval):
        return _negated(operand)
    return Call("neg", (operand,), operand.type)


def signed(operand: Expression, what: str) -> Expression:
    """An operand that may carry a sign: numbers and intervals as they are, text and NULL as double."""
    if t.is_numeric(operand.type) or t.is_interval(operand.type):
        return operand
    if operand.type in (t.STRING, t.VOID):
        return implicit(operand, t.DOUBLE, what, 0)
    raise TypeMismatch(f"{what} wants a number, not {operand.type}", argument=0)

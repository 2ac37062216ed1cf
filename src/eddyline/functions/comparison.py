"""Binding of comparisons, IN, BETWEEN and logic: operands brought to one type as Spark does."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from eddyline.functions.arithmetic import literal_decimal
from eddyline.functions.coercion import DECIMAL_OF, TypeMismatch, cast, common_type, to_common, wider_decimal
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

SYMBOLS = {"eq": "=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "null_safe_eq": "<=>"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_LONG_RANGE = t.RANGE[t.LONG]
TRUE = Literal(True, t.BOOLEAN)
FALSE = Literal(False, t.BOOLEAN)
UNKNOWN = Literal(None, t.BOOLEAN)


def compare(operation: str, left: Expression, right: Expression, context: Context) -> Expression:
    """A comparison in the operands' common type.

    >>> from eddyline.model.expression import Column
    >>> compare("gt", Column("a", t.INT), Literal(2.5, t.DOUBLE), Context())
    gt(cast(Column('a', int)): double, Literal(2.5, double)): boolean
    """
    if left.type == t.VOID and right.type == t.VOID:
        return TRUE if operation == "null_safe_eq" else UNKNOWN
    if operation in _MIRRORED:
        if _is_whole_against_decimal(left, right):
            return _whole_against_decimal(operation, left, right, context)
        if _is_whole_against_decimal(right, left):
            return _whole_against_decimal(_MIRRORED[operation], right, left, context)
    left, right = _decimal_sides(left, right, context)
    nested = isinstance(left.type, t.ArrayType | t.StructType)  # text inside of these is not read as numbers
    kind = common_type(left.type, right.type, promote_strings=not nested)
    if kind is None:
        raise TypeMismatch(
            f'"{SYMBOLS[operation]}" cannot compare {left.type} with {right.type}',
            hint=_literal_hint(left.type)
            or _literal_hint(right.type)
            or "cast one side to the type of the other",
        )
    if not t.is_orderable(kind):
        raise TypeMismatch(f'"{SYMBOLS[operation]}" cannot compare values of type {kind}')
    return Call(operation, (cast(left, kind), cast(right, kind)), t.BOOLEAN)


def _literal_hint(kind: t.DataType) -> str | None:
    """How a constant of a type is written, where casting numbers or text to it is not the way."""
    if isinstance(kind, t.ArrayType):
        return "compare an element, such as a[0], or use array_contains"
    examples = {
        t.DATE: "DATE'2026-01-31'",
        t.TIMESTAMP: "TIMESTAMP'2026-01-31 12:00:00'",
        t.TIMESTAMP_NTZ: "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
        t.BOOLEAN: "TRUE or FALSE",
    }
    return f"compare {kind} with {examples[kind]}" if kind in examples else None


def _is_whole_against_decimal(left: Expression, right: Expression) -> bool:
    return (
        t.is_integral(left.type)
        and isinstance(right, Literal)
        and isinstance(right.type, t.DecimalType)
        and right.value is not None
    )


def _whole_against_decimal(
    operation: str, whole: Expression, bound: Expression, context: Context
) -> Expression:
    """`int_column > 2.5`: Spark compares with the whole number beside the decimal constant.

    A constant beyond bigint makes the comparison a plain true or false in Spark, even where the column is NULL.
    """
    assert isinstance(bound, Literal) and isinstance(bound.type, t.DecimalType), "checked by the caller"
    kind = wider_decimal(DECIMAL_OF[whole.type], bound.type)
    if kind.scale < bound.type.scale or bound.type.precision - bound.type.scale >= len(str(_LONG_RANGE[1])):
        value = context.constant(bound, "comparison", 1)
        assert isinstance(value, Decimal), "decimal literals hold decimals"
        if value > _LONG_RANGE[1] or value < _LONG_RANGE[0]:
            return TRUE if (value > 0) == (operation in ("lt", "le")) else FALSE
        rounding = ROUND_FLOOR if operation in ("gt", "le") else ROUND_CEILING
        limit = Literal(int(value.to_integral_value(rounding)), t.LONG)
        return Call(operation, (cast(whole, t.LONG), limit), t.BOOLEAN)
    # Inside bigint, and with room for all digits of the constant, the exact decimal comparison means the same and does
    # not depend on the constant's value.
    return Call(operation, (cast(whole, kind), cast(bound, kind)), t.BOOLEAN)


def _decimal_sides(left: Expression, right: Expression, context: Context) -> tuple[Expression, Expression]:
    """A whole-number constant beside a decimal counts only its own digits, where that can make a difference."""
    if isinstance(left.type, t.DecimalType) and t.is_integral(right.type):
        return left, _short_constant(right, left.type, context)
    if isinstance(right.type, t.DecimalType) and t.is_integral(left.type):
        return _short_constant(left, right.type, context), right
    return left, right


def _short_constant(operand: Expression, other: t.DecimalType, context: Context) -> Expression:
    if not isinstance(operand, Literal) or operand.value is None or operand.type == t.BYTE:
        return operand
    if other.scale + DECIMAL_OF[operand.type].precision <= t.MAX_PRECISION:
        return operand
    value = context.constant(operand, "comparison", 1)
    assert isinstance(value, int), "integral literals hold integers"
    return Literal(Decimal(value), literal_decimal(value))


def member(value: Expression, items: tuple[Expression, ...]) -> Expression:
    """`value IN (items)`, everything in one common type."""
    arguments = to_common((value, *items), "IN")
    kind = arguments[0].type
    if kind == t.VOID:
        return UNKNOWN
    if not t.is_orderable(kind):
        raise TypeMismatch(f"IN cannot compare values of type {kind}")
    return Call("in", arguments, t.BOOLEAN)


def between(value: Expression, low: Expression, high: Expression, context: Context) -> Expression:
    """`value BETWEEN low AND high`; each bound meets the value in a type of its own."""
    return conjunction((compare("ge", value, low, context), compare("le", value, high, context)))


def condition(operand: Expression, what: str) -> Expression:
    """An operand of AND, OR or NOT: boolean, or text that Spark reads as a boolean."""
    if operand.type in (t.BOOLEAN, t.VOID, t.STRING):
        return cast(operand, t.BOOLEAN)
    raise TypeMismatch(
        f"{what} wants a condition, not {operand.type}", hint="compare it with something, such as <> 0"
    )


def conditions(operands: Sequence[Expression], what: str) -> tuple[Expression, ...]:
    """Operands of a chain of AND or of OR; text is read as a boolean only where a condition stands beside it.

    >>> [str(part.type) for part in conditions((TRUE, Literal("true", t.STRING)), "AND")]
    ['boolean', 'boolean']
    """
    found = tuple([condition(operand, what) for operand in operands])
    _check_sides([operand.type for operand in operands], what)
    return found


def _check_sides(types: Sequence[t.DataType], what: str) -> t.DataType:
    """Refuse text beside text or NULL, as Spark does, which makes a balanced tree of a chain."""
    if len(types) == 1:
        return types[0]
    middle = (len(types) + 1) // 2
    sides = [_check_sides(half, what) for half in (types[:middle], types[middle:])]
    if t.STRING in sides and t.BOOLEAN not in sides:
        raise TypeMismatch(
            f"{what} cannot take {sides[0]} and {sides[1]}", hint="compare it with something, such as = 'x'"
        )
    return t.BOOLEAN


def conjunction(parts: tuple[Expression, ...]) -> Expression:
    """AND of any number of conditions; nested ones become one."""
    return _joined("and", parts)


def disjunction(parts: tuple[Expression, ...]) -> Expression:
    """OR of any number of conditions; nested ones become one."""
    return _joined("or", parts)


def _joined(operation: str, parts: tuple[Expression, ...]) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        nested = isinstance(part, Call) and part.function == operation
        flat.extend(part.arguments if nested else (part,))
    return flat[0] if len(flat) == 1 else Call(operation, tuple(flat), t.BOOLEAN)


def negation(operand: Expression) -> Expression:
    """NOT of a condition."""
    return Call("not", (operand,), t.BOOLEAN)

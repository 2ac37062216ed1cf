"""The value of an expression without columns, under the same semantics as evaluation over a batch."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Final

from eddyline.functions.evaluate import evaluate_constant
from eddyline.functions.evaluate.each_value import Failed
from eddyline.functions.evaluate.read_text import reader
from eddyline.functions.number_text import fit_decimal
from eddyline.functions.zones import find_zone
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal, Parameter


def fold(expression: Expression, time_zone: str = "UTC") -> Literal:
    """The value of an expression that reads no column; a parameter counts as the value at hand.

    An operation that fails gives NULL, as everywhere.

    >>> fold(Call("cast", (Literal(3, t.INT),), t.DecimalType(12, 2)))
    Literal(Decimal('3.00'), decimal(12,2))
    >>> fold(Call("cast", (Literal(300, t.INT),), t.BYTE))
    Literal(None, tinyint)
    >>> fold(Call("upper", (Literal("a", t.STRING),), t.STRING))
    Literal('A', string)
    """
    if isinstance(expression, Parameter):
        return Literal(expression.value, expression.type)
    if isinstance(expression, Literal):
        return expression
    assert isinstance(expression, Call), "an expression with columns has no value of its own"
    arguments = tuple([fold(argument, time_zone) for argument in expression.arguments])
    if expression.function in ("cast", "try_cast"):
        quick = _cast(arguments[0], expression.type, time_zone)
        if quick is not None:
            return quick
    return _evaluate(Call(expression.function, arguments, expression.type), time_zone)


@lru_cache(maxsize=1 << 16)
def _evaluate(call: Call, time_zone: str) -> Literal:
    return Literal(evaluate_constant(call, time_zone), call.type)


def _cast(constant: Literal, target: t.DataType, time_zone: str) -> Literal | None:
    """A cast between numbers or from text, the kinds that coercion makes of nearly every constant; None for others."""
    source, value = constant.type, constant.value
    if source == target:
        return constant
    if value is None:
        return Literal(None, target)
    if (
        source == t.STRING
        and (target in t.ATOMIC or isinstance(target, t.DecimalType))
        and target != t.BINARY
    ):
        return Literal(_read(str(value), target, time_zone), target)
    convert = _QUICK.get((_family(source), _family(target)))
    return None if convert is None else Literal(convert(value, target), target)


def _read(text: str, target: t.DataType, time_zone: str) -> object:
    zone = find_zone(time_zone)
    assert zone is not None, f"the time zone {time_zone} was checked where it came in"
    try:
        return reader(target, zone)(text)
    except Failed:
        return None


def _family(kind: t.DataType) -> str:
    return "integral" if kind in t.INTEGRAL else kind.name


def _to_integral(value: int, target: t.DataType) -> int | None:
    low, high = t.RANGE[target]
    return value if low <= value <= high else None


def _to_decimal(value: int | Decimal, target: t.DataType) -> Decimal | None:
    assert isinstance(target, t.DecimalType), "the target was looked up as a decimal"
    return fit_decimal(Decimal(value), target.precision, target.scale)


def _to_double(value: int | Decimal, target: t.DataType) -> float:
    return float(value)


_QUICK: Final[dict[tuple[str, str], Callable[..., object]]] = {
    ("integral", "integral"): _to_integral,
    ("integral", "decimal"): _to_decimal,
    ("decimal", "decimal"): _to_decimal,
    ("integral", "double"): _to_double,
    ("decimal", "double"): _to_double,
}

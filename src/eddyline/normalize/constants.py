"""The values of column-free expressions of a template, once the parameters' values are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from eddyline.functions.fold import fold
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal, Parameter
from eddyline.normalize.domain import Numbered
from eddyline.normalize.preimage import Monotone, NoOrdinal
from eddyline.normalize.rewrite import rewrite
from eddyline.normalize.rules.unwrap_casts import CASTS, cast_function

Values = Sequence[object]
Getter = Callable[[Values], Any]


def getter(expression: Expression, time_zone: str) -> Getter:
    """A function from the parameters' values to the value of the expression.

    >>> get = getter(Call("cast", (Parameter(1, t.INT, 0),), t.DOUBLE), "UTC")
    >>> get([3]), get([None])
    (3.0, None)
    """
    if isinstance(expression, Parameter):
        return itemgetter(expression.index)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda _: value
    if isinstance(expression, Call) and expression.function in CASTS:
        source, target = expression.arguments[0].type, expression.type
        inner = getter(expression.arguments[0], time_zone)
        if _widens(source, target):
            return inner
        convert = converter(source, target, time_zone)
        return lambda values: convert(inner(values))
    return lambda values: fold(substitute(expression, values), time_zone).value


def _widens(source: t.DataType, target: t.DataType) -> bool:
    """Whether a cast leaves the Python value as it is."""
    both = source in t.INTEGRAL and target in t.INTEGRAL
    return (both and t.INTEGRAL.index(source) <= t.INTEGRAL.index(target)) or (source, target) == (
        t.FLOAT,
        t.DOUBLE,
    )


def converter(source: t.DataType, target: t.DataType, time_zone: str) -> Callable[[Any], Any]:
    """A cast of single values: by the closed form where there is one, else by the evaluator."""
    if source in t.INTEGRAL and target == t.DOUBLE:
        return lambda value: None if value is None else float(value)
    function = cast_function(source, target, time_zone)
    if function is not None:
        return _apply(function)
    return lambda value: fold(Call("cast", (Literal(value, source),), target), time_zone).value


def _apply(function: Monotone) -> Callable[[Any], Any]:
    source, target, forward = function.source, function.target, function.forward

    def convert(value: Any) -> Any:
        if value is None:
            return None
        result = forward(source.ordinal(value)) if value == value else function.of_nan
        if isinstance(result, NoOrdinal):
            return None if result is NoOrdinal.NULL else float("nan")
        return target.value(result) if _in_range(target, result) else None

    return convert


def _in_range(domain: Numbered, ordinal: int) -> bool:
    return domain.low <= ordinal <= domain.high


def substitute(expression: Expression, values: Values, indexes: frozenset[int] | None = None) -> Expression:
    """The expression with parameters (all, or those of the given indexes) made plain constants."""
    if isinstance(expression, Parameter):
        return _plain(expression, values, indexes)

    def replace(call: Call) -> Expression:
        arguments = call.arguments
        if not any(isinstance(argument, Parameter) for argument in arguments):
            return call
        plain = [_plain(a, values, indexes) if isinstance(a, Parameter) else a for a in arguments]
        return Call(call.function, tuple(plain), call.type)

    return rewrite(expression, replace)


def _plain(parameter: Parameter, values: Values, indexes: frozenset[int] | None) -> Literal:
    if indexes is not None and parameter.index not in indexes:
        return parameter
    return Literal(values[parameter.index], parameter.type)

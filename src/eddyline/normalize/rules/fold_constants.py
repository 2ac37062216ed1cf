"""The rule that computes what is known before any tuple comes.

A parameter is not known: it stays, and with it everything around it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from eddyline.functions.fold import fold
from eddyline.functions.operations import OPERATIONS
from eddyline.model.expression import Call, Expression, Literal
from eddyline.model.names import is_unicode
from eddyline.model.types import BOOLEAN
from eddyline.normalize.rewrite import rewrite

NEVER_NULL: Final = frozenset({"is_null", "isnan", "null_safe_eq"})


def fold_constants(expression: Expression, time_zone: str) -> Expression:
    """Replace calls of constants by their value, and drop arguments that cannot matter.

    >>> from eddyline.model.types import INT
    >>> a, yes = Call("is_null", (Literal(1, INT),), BOOLEAN), Literal(True, BOOLEAN)
    >>> fold_constants(Call("and", (a, yes), BOOLEAN), "UTC")
    Literal(False, boolean)
    """
    return rewrite(expression, partial(_fold, time_zone=time_zone))


def _fold(call: Call, time_zone: str) -> Expression:
    operation = OPERATIONS.get(call.function)
    if operation is None:
        return call
    constants = [argument for argument in call.arguments if type(argument) is Literal]
    if len(constants) == len(call.arguments) and call.function not in _CHOICES:
        return _known(call, time_zone)
    if operation.strict and any(constant.value is None for constant in constants):
        return Literal(None, call.type)
    simplify = _SIMPLER.get(call.function)
    return call if simplify is None else simplify(call)


def _known(call: Call, time_zone: str) -> Expression:
    """The value of a call; bytes that are not valid UTF-8 stay a call, since constants are ordered as Python orders text."""
    value = fold(call, time_zone)
    return value if not isinstance(value.value, str) or is_unicode(value.value) else call


def _and(call: Call) -> Expression:
    return _connective(call, neutral=True)


def _or(call: Call) -> Expression:
    return _connective(call, neutral=False)


def _connective(call: Call, *, neutral: bool) -> Expression:
    """Without neutral constants; only the opposite one if it is there; NULL may decide, so one of them stays."""
    kept: list[Expression] = []
    null: Expression | None = None
    for argument in call.arguments:
        if type(argument) is not Literal:
            kept.append(argument)
        elif argument.value is None:
            null = argument
        elif argument.value is not neutral:
            return argument
    if null is not None:
        kept.append(null)
    if not kept:
        return Literal(neutral, BOOLEAN)
    if len(kept) == 1:
        return kept[0]
    return call if len(kept) == len(call.arguments) else Call(call.function, tuple(kept), call.type)


def _if(call: Call) -> Expression:
    condition, then, otherwise = call.arguments
    if type(condition) is not Literal:
        return call
    return then if condition.value is True else otherwise


def _case(call: Call) -> Expression:
    arguments = call.arguments
    kept: list[Expression] = []
    otherwise: Expression = arguments[-1] if len(arguments) % 2 else Literal(None, call.type)
    for condition, value in zip(arguments[0::2], arguments[1::2], strict=False):
        if type(condition) is not Literal:
            kept += (condition, value)
        elif condition.value is True:
            otherwise = value
            break
    if not kept:
        return otherwise
    whole = (*kept, otherwise)
    return call if whole == arguments else Call("case", whole, call.type)


def _coalesce(call: Call) -> Expression:
    kept: list[Expression] = []
    for argument in call.arguments:
        if type(argument) is Literal and argument.value is None:
            continue
        kept.append(argument)
        if type(argument) is Literal:
            break
    if not kept:
        return Literal(None, call.type)
    if len(kept) == 1:
        return kept[0]
    return call if len(kept) == len(call.arguments) else Call("coalesce", tuple(kept), call.type)


def _is_null(call: Call) -> Expression:
    inner = call.arguments[0]
    if isinstance(inner, Call) and inner.function in NEVER_NULL:
        return Literal(False, BOOLEAN)
    return call


_CHOICES: Final = frozenset({"and", "or", "if", "case", "coalesce"})
_SIMPLER: Final[dict[str, Callable[[Call], Expression]]] = {
    "and": _and,
    "or": _or,
    "if": _if,
    "case": _case,
    "coalesce": _coalesce,
    "is_null": _is_null,
}

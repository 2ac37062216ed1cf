"""Operations that decide which of their arguments are looked at at all."""

from __future__ import annotations

from collections.abc import Callable

from eddyline.model.expression import Call, Expression
from eddyline.reference.compare import compare

Value = Callable[[Expression], object]


def and_(call: Call, value: Value) -> object:
    """False as soon as one argument is; else NULL if any was NULL."""
    unknown = False
    for argument in call.arguments:
        truth = value(argument)
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def or_(call: Call, value: Value) -> object:
    """True as soon as one argument is; else NULL if any was NULL."""
    unknown = False
    for argument in call.arguments:
        truth = value(argument)
        if truth is True:
            return True
        unknown = unknown or truth is None
    return None if unknown else False


def in_(call: Call, value: Value) -> object:
    """True as soon as one of the others equals the first; else NULL if any was NULL."""
    subject, *others = call.arguments
    wanted = value(subject)
    if wanted is None:
        return None
    unknown = False
    for other in others:
        found = value(other)
        if found is None:
            unknown = True
        elif compare(subject.type, wanted, found) == 0:
            return True
    return None if unknown else False


def coalesce(call: Call, value: Value) -> object:
    for argument in call.arguments:
        found = value(argument)
        if found is not None:
            return found
    return None


def if_(call: Call, value: Value) -> object:
    condition, then, otherwise = call.arguments
    return value(then) if value(condition) is True else value(otherwise)


def case(call: Call, value: Value) -> object:
    """Condition, value, condition, value, ..., and perhaps one more: otherwise."""
    arguments = call.arguments
    for index in range(0, len(arguments) - 1, 2):
        if value(arguments[index]) is True:
            return value(arguments[index + 1])
    return value(arguments[-1]) if len(arguments) % 2 else None

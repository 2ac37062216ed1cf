"""The rule that parts IN lists into constants, which become one condition, and the rest, which become comparisons."""

from __future__ import annotations

from eddyline.model.expression import Call, Expression
from eddyline.model.types import BOOLEAN
from eddyline.normalize.rewrite import is_fixed, rewrite


def split_in(expression: Expression, time_zone: str) -> Expression:
    """`a IN (1, 2, b)` is `a IN (1, 2) OR a = b`, in three-valued logic too.

    >>> from eddyline.model.expression import Column, Literal
    >>> from eddyline.model.types import INT
    >>> a, b, one = Column("a", INT), Column("b", INT), Literal(1, INT)
    >>> split_in(Call("in", (a, one, b), BOOLEAN), "UTC").function
    'or'
    """
    return rewrite(expression, _split, frozenset({"in"}))


def _split(call: Call) -> Expression:
    value, *items = call.arguments
    constants = [] if is_fixed(value) else [item for item in items if is_fixed(item)]
    if len(constants) == len(items):
        return call
    parts: list[Expression] = [Call("in", (value, *constants), BOOLEAN)] if constants else []
    kept = {id(item) for item in constants}
    parts += [Call("eq", (value, item), BOOLEAN) for item in items if id(item) not in kept]
    return parts[0] if len(parts) == 1 else Call("or", tuple(parts), BOOLEAN)

"""The rule that turns comparisons to one side, so that the same thing said twice is the same expression.

10 < price           ->  price > 10
high > low           ->  low < high
high >= low          ->  NOT high < low         (both NULL together)
b = a                ->  a = b
"""

from __future__ import annotations

from typing import Final

from eddyline.model.expression import Call, Column, Expression, walk
from eddyline.model.types import BOOLEAN
from eddyline.normalize.rewrite import is_fixed, rewrite

MIRRORED: Final = {"eq": "eq", "null_safe_eq": "null_safe_eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def orient_comparison(expression: Expression, time_zone: str) -> Expression:
    """Constants to the right; between two expressions only `lt` and `eq` remain.

    >>> from eddyline.model.expression import Literal
    >>> from eddyline.model.types import INT
    >>> orient_comparison(Call("lt", (Literal(10, INT), Column("price", INT)), BOOLEAN), "UTC")
    gt(Column('price', int), Literal(10, int)): boolean
    """
    return rewrite(expression, _orient, frozenset(MIRRORED))


def _orient(call: Call) -> Expression:
    function = call.function
    left, right = call.arguments
    if is_fixed(right):
        return call
    if is_fixed(left):
        return Call(MIRRORED[function], (right, left), BOOLEAN)
    if function in ("gt", "le"):
        left, right = right, left
    if function in ("lt", "gt"):
        return Call("lt", (left, right), BOOLEAN)
    if function in ("le", "ge"):
        return Call("not", (Call("lt", (left, right), BOOLEAN),), BOOLEAN)
    if _rank(right) < _rank(left):
        return Call(function, (right, left), BOOLEAN)
    return call


def _rank(expression: Expression) -> tuple[int, list[str]]:
    """Any order of expressions will do that does not depend on how they were written."""
    words = [_word(node) for node in walk(expression)]
    return len(words), words


def _word(node: Expression) -> str:
    if isinstance(node, Call):
        return f"{node.function}:{node.type}"
    return f"{node.name}:{node.type}" if isinstance(node, Column) else repr(node)

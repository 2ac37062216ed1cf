"""Operators that bind in a way of their own, and the place of an operand that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eddyline.errors import Span
from eddyline.functions import comparison, table, texts
from eddyline.functions.arithmetic import negate, signed
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal
from eddyline.sql.grammar import syntax as s


def culprit(node: s.Node, argument: int | None) -> Span:
    """The place of the argument that does not fit, else of the whole operation."""
    if argument is None:
        return node.span
    if isinstance(node, s.Apply):
        parts: tuple[s.Node, ...] = node.arguments
    elif isinstance(node, s.Operator):
        parts = node.operands
    elif isinstance(node, s.Pattern):
        parts = (node.operand, *node.patterns)
    elif isinstance(node, s.Subscript):
        parts = (node.base, node.key)
    else:
        parts = ()
    return parts[argument].span if argument < len(parts) else node.span


def _is(value: Literal) -> Callable[[tuple[Expression, ...], Context], Expression]:
    return lambda a, c: comparison.compare("null_safe_eq", comparison.condition(a[0], "IS"), value, c)


OTHER_OPERATORS: Final[dict[str, Callable[[tuple[Expression, ...], Context], Expression]]] = {
    "ne": lambda a, c: comparison.negation(comparison.compare("eq", a[0], a[1], c)),
    "not": lambda a, c: comparison.negation(comparison.condition(a[0], "NOT")),
    "neg": lambda a, c: negate(a[0]),
    "pos": lambda a, c: signed(a[0], '"+"'),
    "concat": texts.concat,
    "between": lambda a, c: comparison.between(a[0], a[1], a[2], c),
    "in": lambda a, c: comparison.member(a[0], a[1:]),
    "rlike": lambda a, c: table.rlike(a[0], a[1], c),
    "is_null": lambda a, c: Call("is_null", a, t.BOOLEAN),
    "is_unknown": lambda a, c: Call("is_null", a, t.BOOLEAN),
    "is_true": _is(comparison.TRUE),
    "is_false": _is(comparison.FALSE),
}

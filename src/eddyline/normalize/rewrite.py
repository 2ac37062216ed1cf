"""Expressions rewritten from the leaves up, without recursion: a predicate may be hundreds of levels deep."""

from __future__ import annotations

from collections.abc import Callable

from eddyline.functions.operations import OPERATIONS
from eddyline.model.expression import Call, Column, Expression, Literal, walk
from eddyline.model.types import BINARY, STRING


def rewrite(
    expression: Expression, change: Callable[[Call], Expression], functions: frozenset[str] | None = None
) -> Expression:
    """Replace every call by what `change` makes of it, its arguments having been replaced before.

    With `functions`, only calls of these are offered; an expression without any comes back as it is.

    >>> from eddyline.model.types import INT
    >>> rewrite(Call("neg", (Call("neg", (Column("a", INT),), INT),), INT), lambda call: call.arguments[0])
    Column('a', int)
    """
    calls = calls_of(expression)
    if functions is not None and functions.isdisjoint([call.function for call in calls]):
        return expression
    done: dict[int, Expression] = {}
    for node in reversed(calls):
        if id(node) in done:
            continue
        call = _with_changed(node, done) if done else node
        new = change(call) if functions is None or call.function in functions else call
        if new is not node:
            done[id(node)] = new
    return done.get(id(expression), expression)


def _with_changed(call: Call, changes: dict[int, Expression]) -> Call:
    arguments = call.arguments
    changed = [changes.get(id(argument), argument) for argument in arguments]
    for new, old in zip(changed, arguments, strict=True):
        if new is not old:
            return Call(call.function, tuple(changed), call.type)
    return call


def with_columns(expression: Expression, columns: dict[str, Column]) -> Expression:
    """The expression with other columns in the place of its own, by their names."""
    if isinstance(expression, Column):
        return columns.get(expression.name, expression)

    def change(call: Call) -> Expression:
        if not any(isinstance(argument, Column) for argument in call.arguments):
            return call
        changed = [columns.get(a.name, a) if isinstance(a, Column) else a for a in call.arguments]
        return Call(call.function, tuple(changed), call.type)

    return rewrite(expression, change)


def calls_of(expression: Expression) -> list[Call]:
    """All calls in an expression, parents before their arguments."""
    found: list[Call] = []
    pending = [expression]
    while pending:
        current = pending.pop()
        if type(current) is Call:
            found.append(current)
            pending.extend(current.arguments)
    return found


def is_fixed(expression: Expression) -> bool:
    """Whether the value is known once the parameters are: no attribute, no function that only Spark has.

    Nor bytes read as text, which need not be UTF-8, as all text among constants is.
    """
    if isinstance(expression, Literal):
        return True
    if type(expression) is Column:
        return False
    return all(_is_known(node) for node in walk(expression))


def _is_known(node: Expression) -> bool:
    if not isinstance(node, Call):
        return not isinstance(node, Column)
    reads_bytes = node.type == STRING and node.arguments and node.arguments[0].type == BINARY
    return node.function in OPERATIONS and not reads_bytes

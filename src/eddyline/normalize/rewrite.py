"""Expressions rewritten from the leaves up, without recursion: a predicate may be hundreds of levels deep."""

from __future__ import annotations

from collections.abc import Callable

from eddyline.model.expression import Call, Expression, walk


def rewrite(
    expression: Expression, change: Callable[[Call], Expression], functions: frozenset[str] | None = None
) -> Expression:
    """Replace every call by what `change` makes of it, its arguments having been replaced before.

    With `functions`, only calls of these are offered; an expression without any comes back as it is.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> rewrite(Call("neg", (Call("neg", (Column("a", INT),), INT),), INT), lambda call: call.arguments[0])
    Column('a', int)
    """
    nodes = [node for node in walk(expression) if type(node) is Call]
    if functions is not None and not any(node.function in functions for node in nodes):
        return expression
    done: dict[int, Expression] = {}
    for node in reversed(nodes):
        if id(node) in done:
            continue
        arguments = node.arguments
        changed = tuple([done.get(id(argument), argument) for argument in arguments])
        call = node
        if any(new is not old for new, old in zip(changed, arguments, strict=True)):
            call = Call(node.function, changed, node.type)
        if functions is None or call.function in functions:
            done[id(node)] = change(call)
        elif call is not node:
            done[id(node)] = call
    return done.get(id(expression), expression)

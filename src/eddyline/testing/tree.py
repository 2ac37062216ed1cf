"""Random queries as small trees: what the generator builds, the printer prints and the shrinker cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExpressionTree:
    """A piece of an expression.

    `form` says how it is printed (`text.FORMS`), `family` what it may stand for (`families`), `word` is a leaf's text,
    or the operator, function or type that the form leaves open.
    """

    form: str
    family: str
    children: tuple[ExpressionTree, ...] = ()
    word: str = ""

    @property
    def size(self) -> int:
        """Number of nodes."""
        return 1 + sum(child.size for child in self.children)


@dataclass(frozen=True, slots=True)
class Statement:
    """`SELECT outputs FROM everything [alias] [WHERE where]`; no outputs means `*`.

    `style` seeds everything that does not change the meaning: case, spaces, comments, needless parentheses; None is
    plain.
    """

    where: ExpressionTree | None
    outputs: tuple[tuple[ExpressionTree, str], ...] = ()
    alias: str = ""
    style: int | None = None
    stream: str = "everything"

    @property
    def size(self) -> int:
        """Number of nodes in all expressions."""
        return sum(node.size for node in self.roots)

    @property
    def roots(self) -> tuple[ExpressionTree, ...]:
        """The expressions of the SELECT list and of WHERE."""
        return (*(node for node, _ in self.outputs), *(() if self.where is None else (self.where,)))


def walk(node: ExpressionTree) -> Iterator[ExpressionTree]:
    """The node and everything below it, parents first."""
    yield node
    for child in node.children:
        yield from walk(child)

"""Random queries: a seed gives a statement over the stream `everything`, as a tree and as text."""

from __future__ import annotations

import random
from typing import Final

from eddyline.testing.combinators import Grammar, Maker
from eddyline.testing.grammar import GRAMMAR
from eddyline.testing.tree import ExpressionTree, Statement

_ALIASES: Final = ("", "", "e", "Q")
_OUTPUTS: Final = (
    "boolean",
    "small",
    "long",
    "fraction",
    "decimal",
    "text",
    "date",
    "timestamp",
    "wall clock",
    "binary",
)


def statement(seed: int, *, size: int = 14, wild: float = 0.0, grammar: Grammar = GRAMMAR) -> Statement:
    """The random statement of a seed; at most about `size` nodes in its condition.

    `wild` is the share of operands of any type at all, which gives queries that Spark refuses.

    >>> from eddyline.testing.text import statement_text
    >>> statement_text(statement(3)) == statement_text(statement(3))
    True
    """
    return draw_statement(random.Random(seed), size=size, wild=wild, grammar=grammar)


def draw_statement(
    random_: random.Random, *, size: int = 14, wild: float = 0.0, grammar: Grammar = GRAMMAR
) -> Statement:
    """A statement made of the choices of a random source."""
    maker = Maker(grammar, random_, wild=wild)
    where = maker.make("boolean", random_.randint(2, size))
    outputs = _outputs(maker, random_) if random_.random() < 0.4 else ()
    alias = random_.choice(_ALIASES)
    style = None if random_.random() < 0.4 else random_.randrange(2**32)
    return Statement(where, outputs, alias, style)


def _outputs(maker: Maker, random_: random.Random) -> tuple[tuple[ExpressionTree, str], ...]:
    families = [f for f in _OUTPUTS if f in maker.grammar.leaves]
    count = random_.randint(1, 3)
    return tuple((maker.make(random_.choice(families), random_.randint(1, 5)), f"o{i}") for i in range(count))

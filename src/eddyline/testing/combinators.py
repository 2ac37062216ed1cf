"""Building blocks of a random grammar: a production takes a maker and a size and gives a tree.

A *family* is what an expression may stand for: "small" (an int or narrower), "text", "date". A *union* names several.
Where a production wants a family the maker picks one of that family's productions; a union's member is drawn first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eddyline.testing.tree import ExpressionTree

Production = Callable[["Maker", int], ExpressionTree]
Spec = str | Production


@dataclass(frozen=True, slots=True)
class Grammar:
    """Leaves and productions of every family, with weights, and the unions."""

    leaves: Mapping[str, tuple[tuple[int, Production], ...]]
    productions: Mapping[str, tuple[tuple[int, Production], ...]]
    unions: Mapping[str, tuple[str, ...]]


class Maker:
    """Draws trees of a grammar.

    `wild` is the probability that a family is replaced by any other, which gives queries that Spark refuses.
    """

    def __init__(self, grammar: Grammar, random_: random.Random, *, wild: float = 0.0) -> None:
        self.grammar = grammar
        self.random = random_
        self.wild = wild

    def make(self, spec: Spec, size: int) -> ExpressionTree:
        """A tree of about `size` nodes."""
        if callable(spec):
            return spec(self, size)
        if self.wild and self.random.random() < self.wild:
            spec = self.random.choice(tuple(self.grammar.leaves))
        if spec in self.grammar.unions:
            spec = self.random.choice(self.grammar.unions[spec])
        productions = self.grammar.productions.get(spec, ()) if size > 1 else ()
        chosen = self.pick(productions or self.grammar.leaves[spec])(self, size)
        return ExpressionTree(chosen.form, spec, chosen.children, chosen.word)

    def pick(self, choices: tuple[tuple[int, Production], ...]) -> Production:
        """One of the choices by weight."""
        return self.random.choices([c for _, c in choices], [w for w, _ in choices])[0]

    def share(self, size: int, count: int) -> list[int]:
        """Split what is left below a node of `size` among `count` children, at random."""
        left = max(size - 1, count)
        cuts = sorted(self.random.randint(0, left - count) for _ in range(count - 1))
        return [b - a + 1 for a, b in zip([0, *cuts], [*cuts, left - count], strict=True)]


def column(*names: str) -> Production:
    """One of the columns."""
    return lambda maker, _: ExpressionTree("column", "", (), maker.random.choice(names))


def literal(draw: Callable[[random.Random], str]) -> Production:
    """A literal, as `draw` spells it."""
    return lambda maker, _: ExpressionTree("literal", "", (), draw(maker.random))


def fixed(*texts: str) -> Production:
    """One of these literal texts."""
    return lambda maker, _: ExpressionTree("literal", "", (), maker.random.choice(texts))


def form(name: str, words: str, *specs: Spec) -> Production:
    """A node of this form over children of these families; `words` are alternatives with bars between."""
    alternatives = words.split("|") if words != "||" else ["||"]

    def produce(maker: Maker, size: int) -> ExpressionTree:
        word = maker.random.choice(alternatives)
        shares = maker.share(size, len(specs))
        return ExpressionTree(
            name, "", tuple(maker.make(s, n) for s, n in zip(specs, shares, strict=True)), word
        )

    return produce


def call(words: str, *specs: Spec) -> Production:
    """A call of one of these functions."""
    return form("call", words, *specs)


def several(name: str, words: str, first: Spec, rest: Spec, *, fewest: int = 1, most: int = 4) -> Production:
    """A first child and `fewest` to `most` further ones."""

    def produce(maker: Maker, size: int) -> ExpressionTree:
        return form(name, words, first, *[rest] * maker.random.randint(fewest, most))(maker, size)

    return produce


def mixed(build: Callable[[Spec, Spec], Production], pairs: tuple[tuple[int, str, str], ...]) -> Production:
    """A production over two families that Spark can bring together, drawn by weight, either way round."""

    def produce(maker: Maker, size: int) -> ExpressionTree:
        _, a, b = maker.random.choices(pairs, [weight for weight, _, _ in pairs])[0]
        return build(*((a, b) if maker.random.random() < 0.5 else (b, a)))(maker, size)

    return produce


def either(*specs: Spec) -> Production:
    """One of these."""
    return lambda maker, size: maker.make(maker.random.choice(specs), size)


def flat(spec: Spec) -> Production:
    """A leaf, whatever size is left."""
    return lambda maker, _: maker.make(spec, 1)

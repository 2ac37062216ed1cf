"""Random conditions as trees, so that they can be changed in one place, and a stream of many types for them.

Families are what is asked about: a condition and variants of it, so that many pairs are implied and the others nearly so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.relations.pair import side
from eddyline.relations.question import Side

Atom = Callable[[random.Random], str]


@dataclass(frozen=True)
class Tree:
    """AND or OR of parts, NOT of one, or SQL text without parts."""

    word: str
    parts: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        if not self.parts:
            return self.word
        if self.word == "NOT":
            return f"NOT ({self.parts[0]})"
        return f" {self.word} ".join(f"({part})" for part in self.parts)

    @property
    def size(self) -> int:
        return 1 + sum(part.size for part in self.parts)

    def smaller(self) -> Iterator[Tree]:
        """Trees with a part less: one part alone, all but one, or a part made smaller."""
        yield from self.parts
        for place, part in enumerate(self.parts):
            if len(self.parts) > 2:
                yield replace(self, parts=self.parts[:place] + self.parts[place + 1 :])
            for less in part.smaller():
                yield self.with_part(place, less)

    def with_part(self, place: int, part: Tree) -> Tree:
        return replace(self, parts=(*self.parts[:place], part, *self.parts[place + 1 :]))


def random_tree(rng: random.Random, atom: Atom, size: int = 3) -> Tree:
    """A condition of at most about 2**size atoms."""
    if size == 0 or rng.random() < 0.25:
        leaf = Tree(atom(rng))
        return Tree("NOT", (leaf,)) if rng.random() < 0.2 else leaf
    parts = tuple(random_tree(rng, atom, size - 1) for _ in range(rng.choice((2, 2, 3))))
    tree = Tree(rng.choice(("AND", "OR")), parts)
    return Tree("NOT", (tree,)) if rng.random() < 0.15 else tree


def changed(tree: Tree, rng: random.Random, atom: Atom) -> Tree:
    """The tree with another atom, another word, a part more, or a part less, somewhere."""
    if tree.parts and rng.random() < 0.75:
        place = rng.randrange(len(tree.parts))
        return tree.with_part(place, changed(tree.parts[place], rng, atom))
    if rng.random() < 0.4:
        return Tree(rng.choice(("AND", "OR")), (tree, Tree(atom(rng))))
    if not tree.parts:
        return Tree(atom(rng))
    if tree.word == "NOT" or rng.random() < 0.5:
        return rng.choice(tree.parts)
    return replace(tree, word="OR" if tree.word == "AND" else "AND")


def family(rng: random.Random, atom: Atom, count: int, size: int = 3) -> list[Tree]:
    """A condition and what becomes of it when it is changed a little, once or several times."""
    members = [random_tree(rng, atom, size)]
    while len(members) < count:
        members.append(changed(rng.choice(members), rng, atom))
    return members


WIDE: Final = Stream(
    "s",
    pa.schema(
        [
            *((name, pa.int32()) for name in "ab"),
            *((name, pa.int64()) for name in "kl"),
            *((name, pa.float64()) for name in "xy"),
            *((name, pa.string()) for name in "st"),
            *((name, pa.bool_()) for name in "fg"),
        ]
    ),
)
KINDS: Final = {"ab": "int", "kl": "bigint", "xy": "double", "st": "string", "fg": "boolean"}
COMPARISONS: Final = ("<", "<=", "=", "<>", ">=", ">", "<=>")


def constant(kind: str, rng: random.Random) -> str:
    """A constant, from a few that meet often and from very many."""
    often = rng.random() < 0.5
    if kind == "boolean":
        return rng.choice(("true", "false"))
    if kind == "string":
        length = rng.randint(0, 2 if often else 5)
        return (
            "'"
            + "".join(
                rng.choice(("a", "b") if often else ("a", "b", "é", "😀", "~", r"\0")) for _ in range(length)
            )
            + "'"
        )
    if kind == "double":
        if often:
            return f"{rng.randint(-4, 8) / 2}D"
        drawn = (f"{rng.uniform(-9, 9)!r}D", f"{rng.uniform(-9, 9) * 10.0 ** rng.randint(-300, 300)!r}D")
        return rng.choice(
            (*drawn, "-0D", "4.9E-324D", "double('NaN')", "double('inf')", "double('-inf')", "0.1")
        )
    bits = 31 if kind == "int" else 63
    if often:
        return str(rng.randint(-3, 6))
    if rng.random() < 0.5:
        return str(rng.randint(-1000, 1000))
    return str(rng.choice((-1, 1)) * ((1 << rng.randint(8, bits)) - rng.randint(1, 3)))


def column_atom(columns: str = "abklxystfg") -> Atom:
    """Conditions of a column and constants."""

    def atom(rng: random.Random) -> str:
        column = rng.choice(columns)
        kind = next(kind for names, kind in KINDS.items() if column in names)
        form = rng.random()
        if form < 0.55:
            return f"{column} {rng.choice(COMPARISONS)} {constant(kind, rng)}"
        if form < 0.65:
            return f"{column} IS {rng.choice(('', 'NOT '))}NULL"
        if form < 0.7 and kind == "double":
            return f"isnan({column})"
        if form < 0.75 and kind == "boolean":
            return f"{column} IS {rng.choice(('', 'NOT '))}{rng.choice(('TRUE', 'FALSE'))}"
        if form < 0.85:
            return (
                f"{column} {rng.choice(('', 'NOT '))}BETWEEN {constant(kind, rng)} AND {constant(kind, rng)}"
            )
        chosen = [constant(kind, rng) if rng.random() < 0.9 else "NULL" for _ in range(rng.randint(1, 5))]
        return f"{column} {rng.choice(('', 'NOT '))}IN ({', '.join(chosen)})"

    return atom


def expression_atom(columns: str = "abklxystfg") -> Atom:
    """Conditions of expressions, of one column or of two; both columns of a type have to be among them."""
    plain = column_atom(columns)

    def term(kind: str, names: str, rng: random.Random) -> str:
        one, other = rng.sample(names, 2)
        const = constant(kind, rng)
        terms = [one, f"coalesce({one}, {const})", f"coalesce({one}, {other})", f"nullif({one}, {const})"]
        terms += [f"if({plain(rng)}, {one}, {other})", f"CASE WHEN {plain(rng)} THEN {one} ELSE {const} END"]
        if kind in ("int", "bigint"):
            small = rng.choice((str(rng.randint(-3, 6)), const))
            terms += [f"{one} + {small}", f"{one} - {small}", f"{small} - {one}", f"-{one}", f"abs({one})"]
            terms += [f"{rng.randint(-3, 3)} * {one}", f"{one} + {other}", f"{one} - {other}"]
            terms += [f"CAST({one} AS {rng.choice(('TINYINT', 'SMALLINT', 'INT', 'BIGINT'))})"]
        return rng.choice(terms)

    def atom(rng: random.Random) -> str:
        if rng.random() < 0.3:
            return plain(rng)
        names, kind = rng.choice([item for item in KINDS.items() if set(item[0]) <= set(columns)])
        left = term(kind, names, rng)
        if rng.random() < 0.35:
            one, other = rng.sample(names, 2) if rng.random() < 0.9 else rng.choices(names, k=2)
            return f"{one} {rng.choice(COMPARISONS)} {other}"
        if rng.random() < 0.1:
            return f"({left}) IS {rng.choice(('', 'NOT '))}NULL"
        if rng.random() < 0.15:
            return f"({left}) IN ({constant(kind, rng)}, {constant(kind, rng)})"
        right = constant(kind, rng) if rng.random() < 0.8 else term(kind, names, rng)
        return f"({left}) {rng.choice(COMPARISONS)} ({right})"

    return atom


ATOMS: Final = {"columns": column_atom, "expressions": expression_atom}


def few_columns(kind: str, rng: random.Random) -> Atom:
    """Conditions that share some columns, so that they have something to do with one another."""
    names = [*"abklxystfg"]
    if kind == "columns":
        return ATOMS[kind]("".join(rng.sample(names, rng.choice((1, 2, 3, 4)))))
    pairs = rng.sample(["ab", "ab", "kl", "xy", "st", "fg"], rng.choice((1, 2)))
    return ATOMS[kind]("".join(dict.fromkeys("".join(pairs))))


@cache
def _compiler(stream: Stream) -> Compiler:
    return Compiler([stream])


def side_of(stream: Stream, condition: object) -> Side:
    """The query of the stream that has this condition."""
    return side(_compiler(stream), Query("q", f"SELECT * FROM {stream.name} WHERE {condition}"))

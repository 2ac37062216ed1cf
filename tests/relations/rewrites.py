"""Other ways to write a condition: each rule keeps true, false and NULL as they are, so it may be applied anywhere."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tests.relations.conditions import KINDS, Tree, column_atom

COMPARISON: Final = re.compile(r"(\w) (<=>|<=|<>|>=|<|>|=) (\S+)")
BETWEEN: Final = re.compile(r"(\w) (NOT )?BETWEEN (\S+) AND (\S+)")
IN: Final = re.compile(r"(\w) (NOT )?IN \((.*)\)")
WHOLE: Final = re.compile(r"-?\d+")
DOUBLE: Final = re.compile(r"(-?[\d.]+)D")
OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>", "<=>": "<=>"}
LARGEST: Final = 80  # trees that still grow

Rule = Callable[[Tree, random.Random], Tree | None]


def distribute(tree: Tree, rng: random.Random) -> Tree | None:
    """`A AND (B OR C)` is `(A AND B) OR (A AND C)`, and the same with AND and OR exchanged."""
    inner = [part for part in tree.parts if {tree.word, part.word} == {"AND", "OR"}]
    if not inner:
        return None
    chosen = rng.choice(inner)
    rest = [part for part in tree.parts if part is not chosen]
    return Tree(chosen.word, tuple(Tree(tree.word, (part, *rest)) for part in chosen.parts))


def de_morgan(tree: Tree, rng: random.Random) -> Tree | None:
    """`NOT (A AND B)` is `NOT A OR NOT B`; or into the other direction."""
    whole = tree.parts[0] if tree.word == "NOT" else tree
    if whole.word not in ("AND", "OR"):
        return None
    other = Tree("OR" if whole.word == "AND" else "AND", tuple(negated(part) for part in whole.parts))
    return other if tree.word == "NOT" else negated(other)


def negated(tree: Tree) -> Tree:
    return Tree("NOT", (tree,))


def negate_twice(tree: Tree, rng: random.Random) -> Tree | None:
    return negated(negated(tree))


def absorb(tree: Tree, rng: random.Random) -> Tree | None:
    """A is `A OR (A AND B)`, whatever B is, and the same with AND and OR exchanged."""
    outer, inner = rng.choice((("AND", "OR"), ("OR", "AND")))
    return Tree(outer, (tree, Tree(inner, (tree, Tree(column_atom()(rng))))))


def shuffle(tree: Tree, rng: random.Random) -> Tree | None:
    return replace(tree, parts=tuple(rng.sample(tree.parts, len(tree.parts)))) if tree.parts else None


def to_case(tree: Tree, rng: random.Random) -> Tree | None:
    """If neither the condition nor its negation is true, CASE is NULL, as the condition is.

    The normal form takes only small ones apart (`CHEAP` of push_down_not); a larger one is a subject of its own.
    """
    if tree.size > 3 or "CASE" in str(tree):
        return None
    return Tree(f"CASE WHEN {tree} THEN true WHEN NOT ({tree}) THEN false END")


def split_range(tree: Tree, rng: random.Random) -> Tree | None:
    """`a < 9` is `a < 5 OR (a >= 5 AND a < 9)`."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None or found[2] not in ("<", "<=", ">", ">="):
        return None
    column, comparison, constant = found.groups()
    sign = -1 if comparison.startswith("<") else 1
    if WHOLE.fullmatch(constant):
        point = str(int(constant) + sign * rng.randint(0, 9))
        if abs(int(point)) >= 1 << 63:  # would be a decimal
            return None
    elif double := DOUBLE.fullmatch(constant):
        point = f"{float(double[1]) + sign * rng.randint(0, 9) / 4}D"
        if "e" in point:
            return None
    else:
        return None
    strict = comparison[0]
    beyond = Tree("AND", (Tree(f"{column} {OPPOSITE[strict]} {point}"), tree))
    # with the point at a strict end, the first part is the whole and the second is empty
    return Tree("OR", (Tree(f"{column} {strict} {point}"), beyond))


def move_constant(tree: Tree, rng: random.Random) -> Tree | None:
    """`a < 9` is `a + 3 < 12`, and `3 - a > -6`, where a is an int and the sum a bigint."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None or found[1] not in "ab" or not WHOLE.fullmatch(found[3]):
        return None
    column, comparison, constant = found.groups()
    moved = rng.randint(-1000, 1000)
    if rng.random() < 0.5:
        return Tree(f"CAST({column} AS BIGINT) + {moved} {comparison} {int(constant) + moved}")
    return Tree(f"{moved} - CAST({column} AS BIGINT) {MIRRORED[comparison]} {moved - int(constant)}")


def next_value(tree: Tree, rng: random.Random) -> Tree | None:
    """`a <= 3` is `a < 4` for whole numbers; `s <= 'b'` is `s < 'b\\0'`, the next text."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None or found[2] not in ("<=", ">"):
        return None
    column, comparison, constant = found.groups()
    other = "<" if comparison == "<=" else ">="
    if column in "st":
        return Tree(f"{column} {other} {constant[:-1]}\\0'")
    if not WHOLE.fullmatch(constant) or column in "xy" or int(constant) >= (1 << 63) - 1:
        return None
    return Tree(f"{column} {other} {int(constant) + 1}")


def negate_comparison(tree: Tree, rng: random.Random) -> Tree | None:
    """`x < 3` is `NOT (x >= 3)`, with NaN, too: it is above all."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None or found[2] not in OPPOSITE:
        return None
    return negated(Tree(f"{found[1]} {OPPOSITE[found[2]]} {found[3]}"))


def split_comparison(tree: Tree, rng: random.Random) -> Tree | None:
    """`x <= 3` is `x < 3 OR x = 3`; `x <> 3` is `x < 3 OR x > 3`; `x = 3` is `x >= 3 AND x <= 3`."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None:
        return None
    both = {"<=": "<=", ">=": ">=", "<>": "<>", "=": ">=<="}.get(found[2])
    if both is None:
        return None
    words = {"<=": ("<", "="), ">=": (">", "="), "<>": ("<", ">"), ">=<=": (">=", "<=")}[both]
    parts = tuple(Tree(f"{found[1]} {word} {found[3]}") for word in words)
    return Tree("AND" if found[2] == "=" else "OR", parts)


def in_to_ors(tree: Tree, rng: random.Random) -> Tree | None:
    found = IN.fullmatch(tree.word)
    if found is None:
        return None
    parts = tuple(Tree(f"{found[1]} = {constant}") for constant in found[3].split(", "))
    ors = Tree("OR", parts) if len(parts) > 1 else parts[0]
    return negated(ors) if found[2] else ors


def between_to_two(tree: Tree, rng: random.Random) -> Tree | None:
    found = BETWEEN.fullmatch(tree.word)
    if found is None:
        return None
    two = Tree("AND", (Tree(f"{found[1]} >= {found[3]}"), Tree(f"{found[1]} <= {found[4]}")))
    return negated(two) if found[2] else two


def to_booleans(tree: Tree, rng: random.Random) -> Tree | None:
    """`f = true` is f, `f = false` is `NOT f`."""
    found = COMPARISON.fullmatch(tree.word)
    if found is None or found[1] not in "fg" or found[2] != "=":
        return None
    return Tree(found[1]) if found[3] == "true" else negated(Tree(found[1]))


RULES: Final[tuple[Rule, ...]] = (
    distribute,
    de_morgan,
    negate_twice,
    absorb,
    shuffle,
    to_case,
    split_range,
    move_constant,
    next_value,
    negate_comparison,
    split_comparison,
    in_to_ors,
    between_to_two,
    to_booleans,
)


def rewritten(tree: Tree, rng: random.Random, rules: tuple[Rule, ...] = RULES) -> Tree:
    """The tree with one rule applied to one of its nodes; as it is where the rule does not apply."""
    if tree.parts and rng.random() < 0.7:
        place = rng.randrange(len(tree.parts))
        return tree.with_part(place, rewritten(tree.parts[place], rng, rules))
    applied = rng.choice(rules)(tree, rng)
    return tree if applied is None or applied.size > LARGEST else applied


assert set("".join(KINDS)) == set("abklxystfg"), "the rules know columns by their names"

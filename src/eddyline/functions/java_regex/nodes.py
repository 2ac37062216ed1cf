"""What a regular expression consists of, after parsing: characters as sets, flags already applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from eddyline.functions.java_regex.sets import VERTICAL, CharacterSet


@dataclass(frozen=True, slots=True)
class Character:
    """One character out of a set."""

    choices: CharacterSet


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing at all matches the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Any of the alternatives, tried from left to right."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group."""

    item: Node
    number: int


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that is not entered again once it has matched."""

    item: Node


@dataclass(frozen=True, slots=True)
class Look:
    """What does or does not come before or after this place."""

    item: Node
    behind: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """From `low` to `high` times (None: any number); `mode` is "" (greedy), "?" (lazy) or "+" (possessive)."""

    item: Node
    low: int
    high: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: `start`, `end`, `last line end` (the end, or before a final line end), `line start`, `line end`,
    `word boundary`, `no word boundary`.
    """

    place: str


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text that a group matched."""

    number: int


Node: TypeAlias = Character | Sequence | Either | Group | Atomic | Look | Repeat | Anchor | BackReference

# \R. Java comes back to split \r\n, but not in what is repeated and deterministic.
LINE_BREAK: Final = Either(
    (
        Sequence((Character(CharacterSet.of("\r")), Character(CharacterSet.of("\n")))),
        Character(VERTICAL),
    )
)


def holds_line_break(node: Node) -> bool:
    """Whether \\R is somewhere in it."""
    match node:
        case Sequence(items) | Either(items):
            return node == LINE_BREAK or any(map(holds_line_break, items))
        case Group(item, _) | Atomic(item) | Repeat(item, _, _, _):
            return holds_line_break(item)
    return False


def is_possessive(node: Node) -> bool:
    """Whether it is a repetition that gives nothing back."""
    return isinstance(node, Repeat) and node.mode == "+"


def is_deterministic(node: Node) -> bool:
    """Whether Java takes it for something that matches in one way only: it does not see that \\R has two."""
    match node:
        case Sequence(items):
            return all(map(is_deterministic, items))
        case Either():
            return node == LINE_BREAK
        case Group(item, _) | Atomic(item):
            return is_deterministic(item)
        case Repeat(item, low, high, _):
            return low == high and is_deterministic(item)
    return True


def width(node: Node) -> int | None:
    """The number of characters that every match has, or None if it varies.

    >>> letter = Character(CharacterSet.of("a"))
    >>> width(Repeat(letter, 3, 3, "")), width(Repeat(letter, 0, 1, ""))
    (3, None)
    """
    match node:
        case Character():
            return 1
        case Sequence(items):
            widths = [width(item) for item in items]
            return None if None in widths else sum(w for w in widths if w is not None)
        case Either(items):
            distinct = {width(item) for item in items}
            return distinct.pop() if len(distinct) == 1 else None
        case Group(item, _) | Atomic(item):
            return width(item)
        case Repeat(item, low, high, _):
            inner = width(item)
            return None if inner is None or low != high else inner * low
        case Look() | Anchor():
            return 0
        case BackReference():
            return None

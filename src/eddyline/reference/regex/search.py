"""Finds a match of a regular expression by trying one path after the other, in Java's order, and counts the steps.

A step is an attempt to match a character or a position, a back reference or each character of one, to look around, or to
begin another turn of a repetition. What is left to match is a list that paths share; where two paths part, the second one
is put aside with all that it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from eddyline.errors import EddylineError
from eddyline.reference.regex.code_points import CodePoints

MOST_STEPS: Final = 1_000_000


class TooManySteps(EddylineError):
    """More steps than a search may take. Such a row is not judged: others may know a shorter way, or give up and say NULL."""


@dataclass(frozen=True)
class One:
    """One character."""

    choices: CodePoints


@dataclass(frozen=True)
class PositionTest:
    """A position, by a test of the text and the offset: `^`, `$` and the like."""

    holds: Callable[[str, int], bool]


@dataclass(frozen=True)
class Series:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Options:
    """The first of some options that leads to a match."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Capture:
    """A group whose text can be referred to."""

    number: int
    item: Node


@dataclass(frozen=True)
class Reference:
    """The text of a group once more."""

    number: int


@dataclass(frozen=True)
class AtomicGroup:
    """What matches first is all that is tried."""

    item: Node


@dataclass(frozen=True)
class LookAround:
    """Whether something can be matched from here on, or up to here."""

    item: Node
    behind: bool
    negative: bool


@dataclass(frozen=True)
class Repetition:
    """`manner` is "", "?" for as few turns as possible, or "+" for no second thoughts after any turn."""

    item: Node
    low: int
    high: float
    manner: str


@dataclass(frozen=True)
class _EndOfCapture:
    number: int
    start: int


@dataclass(frozen=True)
class _Begin:
    """The beginning of a turn."""


@dataclass(frozen=True)
class _Turns:
    repeat: Repetition
    done: int
    last: int  # where the last turn began


Node: TypeAlias = (
    One | PositionTest | Series | Options | Capture | Reference | AtomicGroup | LookAround | Repetition
)
_Internal: TypeAlias = _EndOfCapture | _Begin | _Turns
Rest: TypeAlias = "tuple[Node | _Internal, Rest] | None"
Captures: TypeAlias = dict[int, tuple[int, int]]
_Path: TypeAlias = tuple[Rest, int, Captures]


def width(node: Node) -> int | None:
    """How many characters every match has, None if that varies."""
    match node:
        case One():
            return 1
        case Series(items):
            widths = [width(item) for item in items]
            return None if None in widths else sum(w or 0 for w in widths)
        case Options(items):
            found = {width(item) for item in items}
            return found.pop() if len(found) == 1 else None
        case Capture(_, item) | AtomicGroup(item):
            return width(item)
        case Repetition(item, low, high, _):
            inner = width(item)
            return inner * low if inner is not None and low == high else None
        case PositionTest() | LookAround():
            return 0
    return None


@dataclass
class Search:
    """One text, and the steps taken in it."""

    text: str
    most: int = MOST_STEPS
    steps: int = field(default=0)

    def found(self, node: Node) -> bool:
        """Whether there is a match anywhere."""
        return any(self._first(node, start, {}) is not None for start in range(len(self.text) + 1))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooManySteps(f"the search takes more than {self.most} steps")

    def _first(self, node: Node, at: int, captures: Captures) -> tuple[int, Captures] | None:
        """Where the first match that begins here ends."""
        aside: list[_Path] = [((node, None), at, captures)]
        while aside:
            path: _Path | None = aside.pop()
            while path is not None:
                rest, at, captures = path
                if rest is None:
                    return at, captures
                ways = list(self._ways(*rest, at, captures))
                path = ways[0] if ways else None
                aside += reversed(ways[1:])
        return None

    def _ways(self, node: Node | _Internal, rest: Rest, at: int, captures: Captures) -> Iterator[_Path]:
        """The ways to go on from a node, best first."""
        match node:
            case One(choices):
                self._step()
                if at < len(self.text) and choices.has(self.text[at]):
                    yield rest, at + 1, captures
            case PositionTest(holds):
                self._step()
                if holds(self.text, at):
                    yield rest, at, captures
            case Reference(number):
                self._step()
                start, end = captures.get(number, (0, -1))
                if end >= 0 and self._repeats(start, end, at):
                    yield rest, at + end - start, captures
            case Series(items):
                for item in reversed(items):
                    rest = (item, rest)
                yield rest, at, captures
            case Options(items):
                for item in items:
                    yield (item, rest), at, captures
            case Capture(number, item):
                yield (item, (_EndOfCapture(number, at), rest)), at, captures
            case _EndOfCapture(number, start):
                yield rest, at, {**captures, number: (start, at)}
            case AtomicGroup(item):
                first = self._first(item, at, captures)
                if first is not None:
                    yield rest, *first
            case LookAround():
                self._step()
                seen = self._seen(node, at, captures)
                if (seen is None) == node.negative:
                    yield rest, at, captures if seen is None else seen
            case Repetition(item, low, high, "+"):
                turns = Repetition(AtomicGroup(item), low, high, "")
                yield (AtomicGroup(turns), rest), at, captures
            case Repetition():
                yield (_Turns(node, 0, -1), rest), at, captures
            case _Begin():
                self._step()
                yield rest, at, captures
            case _Turns(repeat, done, last):
                yield from self._turns(repeat, done, last, rest, at, captures)

    def _repeats(self, start: int, end: int, at: int) -> bool:
        """Whether the text from an offset on is once more that of a group."""
        if at + end - start > len(self.text):
            return False
        for offset in range(start, end):
            self._step()
            if self.text[offset] != self.text[at + offset - start]:
                return False
        return True

    def _seen(self, look: LookAround, at: int, captures: Captures) -> Captures | None:
        options = look.item.items if look.behind and isinstance(look.item, Options) else (look.item,)
        for option in options:
            start = at - (width(option) or 0) if look.behind else at
            first = self._first(option, start, captures) if start >= 0 else None
            if first is not None:
                return first[1]
        return None

    def _turns(
        self, repeat: Repetition, done: int, last: int, rest: Rest, at: int, captures: Captures
    ) -> Iterator[_Path]:
        """One more turn, or on; after an empty turn always on, even if turns are owed."""
        leave = (rest, at, captures)
        if last == at or done >= repeat.high:
            yield leave
            return
        again: _Path = ((_Begin(), (repeat.item, (_Turns(repeat, done + 1, at), rest))), at, captures)
        if done < repeat.low:
            yield again
        else:
            yield from (leave, again) if repeat.manner == "?" else (again, leave)

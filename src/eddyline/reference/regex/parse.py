"""RLIKE: Java's regular expressions, on a subset, read into the parts that `search.py` finds.

In the subset: characters and their escapes, quoting with backslash Q and E, classes with union and intersection,
`\\d \\w \\s \\h \\v \\R`, the ASCII `\\p{...}` and the general categories, the anchors `^ $ \\A \\Z \\z \\b \\B`, all
quantifiers (greedy, reluctant, possessive), groups (capturing, named, not capturing, atomic), look-ahead, look-behind
for alternatives of a fixed length each, back references, and the flags i, m, s, d. A pattern outside the subset raises
`UnsupportedPattern`, one that Java refuses fails, a search that takes too many steps raises `TooManySteps`.

`\\b` looks at ASCII letters only, as Java does from version 19 on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from math import inf
from typing import Final

from eddyline.reference.failure import Failure
from eddyline.reference.regex.character_class import PatternReader, UnsupportedPattern
from eddyline.reference.regex.code_points import ANY, LINE_ENDS, VERTICAL, WORD, CodePoints, single
from eddyline.reference.regex.search import (
    AtomicGroup,
    Capture,
    LookAround,
    Node,
    One,
    Options,
    PositionTest,
    Reference,
    Repetition,
    Search,
    Series,
    width,
)
from eddyline.reference.text import java


def rlike(text: str, pattern: str) -> bool:
    """Whether the text contains a match.

    >>> rlike("a\\n", "a$"), rlike("ÄB", "(?i)äb"), rlike("x٣", "\\\\d")
    (True, False, False)
    """
    return Search(java(text)).found(parsed(java(pattern)))


@lru_cache(maxsize=1024)
def parsed(pattern: str) -> Node:
    """The parts of a pattern."""
    try:
        return _PatternParser(pattern).whole()
    except RecursionError:
        raise UnsupportedPattern(f"the regular expression {pattern[:80]!r}... is nested too deep") from None


Test = Callable[[str, int], bool]


def _within_crlf(text: str, at: int) -> bool:
    return text[at - 1 : at] == "\r" and text[at : at + 1] == "\n"


def _is_line_end(character: str) -> bool:
    return character != "" and LINE_ENDS.has(character)


def _caret(text: str, at: int) -> bool:
    before = text[at - 1] if at else ""
    return at < len(text) and (at == 0 or _is_line_end(before)) and not _within_crlf(text, at)


def _dollar(text: str, at: int) -> bool:
    return (at == len(text) or _is_line_end(text[at])) and not _within_crlf(text, at)


def _last_dollar(text: str, at: int) -> bool:
    rest = text[at:]
    return rest in ("", "\r\n") or (len(rest) == 1 and _is_line_end(rest) and not _within_crlf(text, at))


def _boundary(text: str, at: int) -> bool:
    sides = [text[at - 1] if at else "", text[at : at + 1]]
    before, after = (side != "" and WORD.has(side) for side in sides)
    return before != after


def _start(text: str, at: int) -> bool:
    return at == 0


def _end(text: str, at: int) -> bool:
    return at == len(text)


# Places by (multiline, only \n ends a line).
_CARET: Final[dict[tuple[bool, bool], Test]] = {
    (False, False): _start,
    (False, True): _start,
    (True, False): _caret,
    (True, True): lambda text, at: at < len(text) and (at == 0 or text[at - 1] == "\n"),
}
_DOLLAR: Final[dict[tuple[bool, bool], Test]] = {
    (False, False): _last_dollar,
    (False, True): lambda text, at: text[at:] in ("", "\n"),
    (True, False): _dollar,
    (True, True): lambda text, at: at == len(text) or text[at] == "\n",
}
_LINE_BREAK: Final = Options((Series((One(single("\r")), One(single("\n")))), One(VERTICAL)))


def _inside(node: Node) -> Iterator[Node]:
    """A node and all that it consists of, looks aside."""
    yield node
    inner = node.items if isinstance(node, Series | Options) else ()
    for item in (node.item,) if isinstance(node, Capture | AtomicGroup | Repetition) else inner:
        yield from _inside(item)


def _is_settled(node: Node) -> bool:
    """What Java believes to match in one way only, and so does not try again while it is repeated."""
    return all(
        part == _LINE_BREAK
        if isinstance(part, Options)
        else not isinstance(part, Repetition) or part.low == part.high
        for part in _inside(node)
    )


class _PatternParser(PatternReader):
    """Reads a Java pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups = 0  # opened so far
        self.numbers: dict[str, int] = {}  # groups that a back reference may name, by number and by name

    def whole(self) -> Node:
        found = self._alternatives()
        if not self.at_end():
            raise Failure(f"an unmatched ) in {self.pattern!r}")
        return found

    def _alternatives(self) -> Node:
        """Up to the end or a closing parenthesis; flags set inside end with it."""
        flags = self.flags
        branches = [self._sequence()]
        while self.take("|"):
            branches.append(self._sequence())
        self.flags = flags
        return branches[0] if len(branches) == 1 else Options(tuple(branches))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while not self.at_end() and self.peek() not in "|)":
            atom = self._atom()
            if atom is not None:
                parts.append(self._quantified(atom))
        return Series(tuple(parts))

    def _atom(self) -> Node | None:
        """One part; None for flags that hold until the enclosing group ends."""
        if self.take("("):
            return self._group()
        if self.peek() in "*+?":
            raise Failure(f"nothing to repeat in {self.pattern!r}")
        if self.peek() == "{":
            raise self._repetition_of_nothing()
        if self.take("^"):
            return PositionTest(_CARET["m" in self.flags, "d" in self.flags])
        if self.take("$"):
            return PositionTest(_DOLLAR["m" in self.flags, "d" in self.flags])
        if self.take("."):
            return One(self._dot())
        if self.take("\\"):
            return self._escape()
        if self.take("["):
            return One(self.character_class())
        return One(self.folded(single(self.next())))

    def _dot(self) -> CodePoints:
        if "s" in self.flags:
            return ANY
        return ~(single("\n") if "d" in self.flags else LINE_ENDS)

    def _repetition_of_nothing(self) -> Exception:
        if re.compile(r"\{[0-9]").match(self.pattern, self.position):
            return UnsupportedPattern(f"a repetition of nothing in {self.pattern!r} is not supported")
        return Failure(f"an illegal repetition in {self.pattern!r}")

    def _quantified(self, atom: Node) -> Node:
        count = self.take_match(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
        if count is None:
            if not self.at_end() and self.peek() == "{":
                raise Failure(f"an illegal repetition in {self.pattern!r}")
            return atom
        bounds = [int(number) for number in re.findall("[0-9]+", count)]
        if bounds != sorted(bounds) or any(bound > 2**31 - 1 for bound in bounds):
            raise Failure(f"an illegal repetition in {self.pattern!r}")
        manner = self.take_match("[?+]") or ""
        if not self.at_end() and self.peek() == "{":
            raise self._repetition_of_nothing()
        if not self.at_end() and self.peek() in "*+?":
            raise Failure(f"a quantifier after a quantifier in {self.pattern!r}")
        low, high = {"*": (0, inf), "+": (1, inf), "?": (0, 1)}.get(count) or (
            bounds[0],
            inf if count.endswith(",}") else bounds[-1],
        )
        if _LINE_BREAK in (list(_inside(atom)) if count != "?" and _is_settled(atom) else [atom]):
            atom = AtomicGroup(atom)
        return Repetition(atom, int(low), high, manner)

    def _group(self) -> Node | None:
        """What follows an opening parenthesis."""
        if not self.take("?"):
            return self._capture("")
        name = self.take_match(r"<[A-Za-z][A-Za-z0-9]*>")
        if name is not None:
            return self._capture(name[1:-1])
        look = self.take_match("<=|<!|[=!>:]")
        if look is not None:
            return self._special(look)
        flags = self.take_match(r"[A-Za-z]*(?:-[A-Za-z]*)?[:)]")
        if flags is None:
            raise Failure(f"an unknown group in {self.pattern!r}")
        before = self.flags
        self.flags = self._changed(flags[:-1])
        if flags[-1] == ")":
            return None
        item = Series((self._rest(),))
        self.flags = before
        return item

    def _special(self, kind: str) -> Node:
        item = self._rest()
        if kind == ":":
            return Series((item,))
        if kind == ">":
            return AtomicGroup(item)
        behind = kind[0] == "<"
        options = item.items if isinstance(item, Options) else (item,)
        if behind and any(width(option) is None for option in options):
            raise UnsupportedPattern(f"a look-behind of varying length in {self.pattern!r} is not supported")
        return LookAround(item, behind, kind[-1] == "!")

    def _changed(self, text: str) -> frozenset[str]:
        on, _, off = text.partition("-")
        if not set(on + off) <= set("idmsuxU"):
            raise Failure(f"an unknown flag in {self.pattern!r}")
        if not set(on + off) <= set("idms"):
            raise UnsupportedPattern(f"the flags u, U and x in {self.pattern!r} are not supported")
        return (self.flags | set(on)) - set(off)

    def _capture(self, name: str) -> Node:
        if name and name in self.numbers:
            raise Failure(f"two groups of one name in {self.pattern!r}")
        self.groups += 1
        number = self.groups
        item = self._rest()
        self.numbers |= {str(number): number, **({name: number} if name else {})}
        return Capture(number, item)

    def _rest(self) -> Node:
        item = self._alternatives()
        if not self.take(")"):
            raise Failure(f"an unclosed group in {self.pattern!r}")
        return item

    def _escape(self) -> Node:
        """What follows a backslash outside of a class."""
        letter = self.take_match("[AZzbBRGXN]")
        if letter in ("G", "X", "N"):
            raise UnsupportedPattern(f"\\{letter} in {self.pattern!r} is not supported")
        if letter == "R":
            return _LINE_BREAK
        if letter is not None:
            return PositionTest(self._place(letter))
        if not self.at_end() and self.peek() in "123456789k":
            return self._reference()
        return One(self.escaped_set())

    def _place(self, letter: str) -> Test:
        return {
            "A": _start,
            "z": _end,
            "Z": _DOLLAR[False, "d" in self.flags],
            "b": _boundary,
            "B": lambda text, at: not _boundary(text, at),
        }[letter]

    def _reference(self) -> Node:
        """To a group that is closed already; as many digits as still name one."""
        if "i" in self.flags:
            raise UnsupportedPattern(f"a back reference without case in {self.pattern!r} is not supported")
        if self.take("k"):
            name = self.take_match(r"<[A-Za-z][A-Za-z0-9]*>")
            if name is None or name[1:-1] not in self.numbers:
                raise Failure(f"a back reference to no group in {self.pattern!r}")
            return Reference(self.numbers[name[1:-1]])
        digits = self.take_match("[1-9]") or ""
        while not self.at_end() and self.peek().isdigit() and int(digits + self.peek()) <= self.groups:
            digits += self.next()
        if digits not in self.numbers:
            raise UnsupportedPattern(
                f"a back reference to a group still open in {self.pattern!r} is not supported"
            )
        return Reference(self.numbers[digits])

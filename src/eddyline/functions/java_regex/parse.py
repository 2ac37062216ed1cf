"""Parses Java's regular expressions, and names the first construct that is not accepted."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from eddyline.functions.java_regex import sets
from eddyline.functions.java_regex.characters import CharacterReader
from eddyline.functions.java_regex.nodes import (
    LINE_BREAK,
    Anchor,
    Atomic,
    BackReference,
    Character,
    Either,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    holds_line_break,
    is_deterministic,
    is_possessive,
    width,
)
from eddyline.functions.java_regex.reader import END, MOST_CHARACTERS, PatternRefused, Unsupported
from eddyline.functions.java_regex.sets import CharacterSet

__all__ = ["Unsupported", "check", "parse"]

_ANCHORS: Final = {
    "A": "start",
    "z": "end",
    "Z": "last line end",
    "b": "word boundary",
}
_COUNT: Final = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_LARGEST_COUNT: Final = 2**31 - 1


def check(pattern: str) -> Unsupported | None:
    """The reason why a pattern is refused (a construct that is not accepted, or an error in it), or None.

    >>> check("a+(?i)[a-z&&[^x]]") is None
    True
    >>> print(check("x\\\\G")), print(check("a(b"))
    the escape \\G at offset 1
    a group that is not closed at offset 1
    (None, None)
    """
    parsed = parse(pattern)
    return parsed if isinstance(parsed, Unsupported) else None


@lru_cache(maxsize=1 << 12)
def parse(pattern: str) -> Node | Unsupported:
    """The parts of a pattern, or the reason why it is refused."""
    try:
        return _Parser(pattern).whole()
    except PatternRefused as refused:
        return refused.reason


class _Parser(CharacterReader):
    """A recursive descent over the tokens; each method reads what it is named after."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups = 0
        self.closed: set[int] = set()
        # groups inside of what is not tried again; Java forgets to forget them
        self.settled: set[int] = set()
        self.names: dict[str, int] = {}

    def whole(self) -> Node:
        if self.length > MOST_CHARACTERS:
            self.refuse(f"more than {MOST_CHARACTERS:,} characters", MOST_CHARACTERS)
        node = self.either()
        if self.peek() == ")":
            self.refuse("a closing parenthesis without an opening one")
        return node

    def either(self) -> Node:
        items = [self.sequence()]
        while self.peek() == "|":
            self.take()
            items.append(self.sequence())
        return items[0] if len(items) == 1 else Either(tuple(items))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.peek() not in (END, "|", ")"):
            before = self.groups
            item = self.item()
            if item is not None:
                items.append(self.quantified(item))
            if isinstance(item, Look | Atomic) or (items and is_possessive(items[-1])):
                self.settled.update(range(before + 1, self.groups + 1))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def item(self) -> Node | None:
        """One thing before a quantifier, or None for flags that hold from here on."""
        match self.peek():
            case "(":
                return self.group()
            case "[":
                return Character(self.bracket())
            case "\\":
                return self.escape()
            case ".":
                self.take()
                return Character(sets.EVERYTHING if "s" in self.flags else ~sets.LINE_ENDS)
            case "^":
                self.take()
                return Anchor("line start" if "m" in self.flags else "start")
            case "$":
                self.take()
                return Anchor("line end" if "m" in self.flags else "last line end")
            case "*" | "+" | "?":
                self.refuse("a quantifier without anything before it")
            case "{":
                self.refuse("a brace that is neither escaped nor a quantifier")
        return Character(self.cased(self.take()))

    def quantified(self, item: Node) -> Node:
        start = self.offset()
        is_optional = self.peek() == "?"
        low, high = self.count()
        if (low, high) == (1, 1) and start == self.offset():
            return item
        mode = self.take() if self.peek() in ("?", "+") else ""
        if self.peek() in ("*", "+", "?", "{"):
            self.refuse("a quantifier after a quantifier")
        if isinstance(item, Anchor | Look):
            self.refuse("a quantifier after a place", start)
        is_optional_group = is_optional and item != LINE_BREAK
        if not is_optional_group and holds_line_break(item) and is_deterministic(item):
            item = Atomic(item)
        return Repeat(item, low, high, mode)

    def count(self) -> tuple[int, int | None]:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.peek() in simple:
            return simple[self.take()]
        if self.peek() != "{":
            return 1, 1
        text = "".join(self.peek(i) for i in range(min(40, len(self.tokens) - self.at)))
        match = _COUNT.match(text)
        if match is None:
            self.refuse("a brace that is neither escaped nor a quantifier")
        low = int(match[1])
        high = low if not match[2] else int(match[3]) if match[3] else None
        if (high is not None and high < low) or max(low, high or 0) > _LARGEST_COUNT:
            self.refuse("a quantifier out of range")
        self.at += len(match[0])
        return low, high

    def group(self) -> Node | None:
        start = self.offset()
        outer = self.flags
        self.take()
        if self.peek() != "?":
            return self.capture(start, outer)
        self.take()
        opening = self.take() if self.peek() != END else END
        if opening == "<" and self.peek() not in ("=", "!"):
            return self.capture(start, outer, name=self.name())
        if opening == "<":
            return self.look_behind(start, outer)
        if opening in (":", ">", "=", "!"):
            item = self.body(start, outer)
            if opening in ("=", "!"):
                return Look(item, behind=False, negative=opening == "!")
            return Atomic(item) if opening == ">" else Sequence((item,))
        self.at -= 1
        return self.flagged(start, outer)

    def body(self, start: int, outer: frozenset[str]) -> Node:
        """What stands up to the closing parenthesis; flags set inside end there."""
        with self.nested(start):
            node = self.either()
        if self.peek() != ")":
            self.refuse("a group that is not closed", start)
        self.take()
        self.flags = outer
        return node

    def capture(self, start: int, outer: frozenset[str], name: str | None = None) -> Node:
        self.groups += 1
        number = self.groups
        if name is not None:
            if name in self.names:
                self.refuse("a group name that is used twice", start)
            self.names[name] = number
        node = self.body(start, outer)
        self.closed.add(number)
        return Group(node, number)

    def name(self) -> str:
        letters = ""
        while self.peek().isascii() and self.peek().isalnum():
            letters += self.take()
        if not letters or letters[0].isdigit() or self.peek() != ">":
            self.refuse("a group name that is no word of ASCII letters and digits")
        self.take()
        return letters

    def look_behind(self, start: int, outer: frozenset[str]) -> Node:
        negative = self.take() == "!"
        item = self.body(start, outer)
        options = item.items if isinstance(item, Either) else (item,)
        if any(width(option) is None for option in options):
            self.refuse("a look-behind of varying length", start)
        return Look(item, True, negative)

    def flagged(self, start: int, outer: frozenset[str]) -> Node | None:
        """(?i) and (?i-s:...): i, s and m."""
        changed = set(outer)
        adding = True
        while self.peek() not in (")", ":"):
            flag = self.take() if self.peek() not in (END, "\\Q") else END
            if flag == "-" and adding:
                adding = False
            elif flag in ("i", "s", "m"):
                changed = changed | {flag} if adding else changed - {flag}
            elif flag in ("x", "d", "u", "U", "c"):
                self.refuse(f"the flag {flag}", self.offset(1))
            else:
                self.refuse("an unknown kind of group", start)
        self.flags = frozenset(changed)
        if self.take() == ")":
            return None
        return Sequence((self.body(start, outer),))

    def escape(self) -> Node:
        start = self.offset()
        self.take()
        letter = self.peek()
        if letter in _ANCHORS:
            self.take()
            if letter == "b" and self.peek() == "{":
                self.refuse("the escape \\b{", start)
            return Anchor(_ANCHORS[letter])
        if letter == "R":
            self.take()
            return LINE_BREAK
        if letter == "k" or (letter.isascii() and letter.isdigit() and letter != "0"):
            return self.back_reference(start)
        found = self.escaped_set(start)
        return Character(found if isinstance(found, CharacterSet) else self.cased(found))

    def back_reference(self, start: int) -> Node:
        if "i" in self.flags:
            self.refuse("a back reference with the flag i", start)
        if self.take() == "k":
            if self.peek() != "<":
                self.refuse("the escape \\k without a name", start)
            self.take()
            number = self.names.get(self.name(), 0)
        else:
            number = int(self.tokens[self.at - 1].text)
            while (
                self.peek().isascii()
                and self.peek().isdigit()
                and number * 10 + int(self.peek()) <= self.groups
            ):
                number = number * 10 + int(self.take())
        if number not in self.closed:
            self.refuse("a back reference to a group that is not there or still open", start)
        if number in self.settled:
            self.refuse("a back reference into a look, an atomic group or a possessive repetition", start)
        return BackReference(number)

"""Parses Java's regular expressions, and names the first construct that is not accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, NoReturn

from eddyline.functions.java_regex import sets
from eddyline.functions.java_regex.nodes import (
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
    width,
)
from eddyline.functions.java_regex.sets import CharacterSet


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Why a pattern is refused: the construct by name, and its offset in characters."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name} at offset {self.offset}"


class Refused(Exception):
    """Carries the reason out of the parser."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.reason = Unsupported(what, offset)


class Token(NamedTuple):
    """A character of the pattern; `quoted` inside of \\Q..\\E."""

    text: str
    quoted: bool
    offset: int


END: Final = ""
_CONTROLS: Final = {"a": "\x07", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ANCHORS: Final = {
    "A": "start",
    "z": "end",
    "Z": "last line end",
    "b": "word boundary",
}
# \R; where it is repeated, Java does not come back to split \r\n.
_LINE_BREAK: Final = Either(
    (
        Sequence((Character(CharacterSet.of("\r")), Character(CharacterSet.of("\n")))),
        Character(sets.VERTICAL),
    )
)
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
    except Refused as refused:
        return refused.reason


def tokens_of(pattern: str) -> list[Token]:
    """The characters of a pattern, with \\Q and \\E taken out.

    >>> [(token.text, token.quoted) for token in tokens_of("a\\\\Q.\\\\E.")]
    [('a', False), ('.', True), ('.', False)]
    """
    tokens: list[Token] = []
    at, quoted = 0, False
    while at < len(pattern):
        pair = pattern[at : at + 2]
        if pair == ("\\E" if quoted else "\\Q"):
            at, quoted = at + 2, not quoted
        elif not quoted and pair[0] == "\\":
            tokens += [Token(c, False, at + i) for i, c in enumerate(pair)]
            at += 2
        else:
            tokens.append(Token(pattern[at], quoted, at))
            at += 1
    return tokens


class _Parser:
    """A recursive descent over the tokens; each method reads what it is named after."""

    def __init__(self, pattern: str) -> None:
        self.tokens = tokens_of(pattern)
        self.length = len(pattern)
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.groups = 0
        self.closed: set[int] = set()
        self.names: dict[str, int] = {}

    def whole(self) -> Node:
        node = self.either()
        if self.peek() == ")":
            self.refuse("a closing parenthesis without an opening one")
        return node

    def peek(self, ahead: int = 0) -> str:
        """The next character with a meaning of its own; quoted characters have none and read as a letter."""
        if self.at + ahead >= len(self.tokens):
            return END
        token = self.tokens[self.at + ahead]
        return "\\Q" if token.quoted else token.text

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].text

    def offset(self, back: int = 0) -> int:
        at = self.at - back
        return self.tokens[at].offset if at < len(self.tokens) else self.length

    def refuse(self, what: str, offset: int | None = None) -> NoReturn:
        raise Refused(what, self.offset() if offset is None else offset)

    def either(self) -> Node:
        items = [self.sequence()]
        while self.peek() == "|":
            self.take()
            items.append(self.sequence())
        return items[0] if len(items) == 1 else Either(tuple(items))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.peek() not in (END, "|", ")"):
            item = self.item()
            if item is not None:
                items.append(self.quantified(item))
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

    def cased(self, character: str) -> CharacterSet:
        single = CharacterSet(((ord(character), ord(character)),))
        return single.any_case() if "i" in self.flags else single

    def quantified(self, item: Node) -> Node:
        start = self.offset()
        low, high = self.count()
        if (low, high) == (1, 1) and start == self.offset():
            return item
        mode = self.take() if self.peek() in ("?", "+") else ""
        if self.peek() in ("*", "+", "?", "{"):
            self.refuse("a quantifier after a quantifier")
        if isinstance(item, Anchor | Look):
            self.refuse("a quantifier after a place", start)
        return Repeat(Atomic(item) if item == _LINE_BREAK else item, low, high, mode)

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
            return _LINE_BREAK
        if letter == "k" or (letter.isascii() and letter.isdigit() and letter != "0"):
            return self.back_reference(start)
        found = self.escaped_set(start)
        return Character(found if isinstance(found, CharacterSet) else self.cased(found))

    def escaped_set(self, start: int) -> CharacterSet | str:
        """A class like \\d, or a single character, after the backslash."""
        letter = self.take() if self.peek() != END else END
        if letter.lower() in sets.CLASSES:
            found = sets.CLASSES[letter.lower()]
            return ~found if letter.isupper() else found
        if letter in ("p", "P"):
            return self.family(start, letter == "P")
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in ("0", "x", "u", "c"):
            return self.code(start, letter)
        if letter == END:
            self.refuse("a backslash at the end", start)
        if letter.isascii() and letter.isalnum():
            self.refuse(f"the escape \\{letter}", start)
        return letter

    def code(self, start: int, letter: str) -> str:
        rest = "".join(self.peek(i) for i in range(min(12, len(self.tokens) - self.at)))
        if letter == "c":
            if not rest or not rest[0].isascii():
                self.refuse("the escape \\c without a character", start)
            return chr(ord(self.take()[0]) ^ 64)
        forms = {
            "0": r"([0-3][0-7]{2}|[0-7]{1,2})",
            "x": r"([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\}",
            "u": r"([0-9a-fA-F]{4})",
        }
        match = re.match(forms[letter], rest)
        if match is None:
            self.refuse(f"the escape \\{letter} without digits", start)
        self.at += len(match[0])
        value = int(next(group for group in match.groups() if group), 8 if letter == "0" else 16)
        if value > sets.LAST or 0xD800 <= value <= 0xDFFF:
            self.refuse("an escape that is no character", start)
        return chr(value)

    def family(self, start: int, opposite: bool) -> CharacterSet:
        name = self.take() if self.peek() != END else END
        if name == "{":
            name = ""
            while self.peek() not in (END, "}"):
                name += self.take()
            if self.peek() == END:
                self.refuse("a property that is not closed", start)
            self.take()
        short = name.removeprefix("Is")
        if short in sets.ONE_CASE and "i" in self.flags:
            self.refuse(f"the property {name} with the flag i", start)
        if name not in sets.POSIX and short not in sets.CATEGORIES:
            self.refuse(f"the property {name}", start)
        found = sets.POSIX[name] if name in sets.POSIX else sets.category(short)
        return ~found if opposite else found

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
        return BackReference(number)

    def bracket(self) -> CharacterSet:
        """A class in brackets."""
        start = self.offset()
        self.take()
        negative = self.peek() == "^"
        if negative:
            self.take()
        found = self.members(start)
        self.take()
        return ~found if negative else found

    def members(self, start: int) -> CharacterSet:
        """Everything up to the closing bracket: a union, or an intersection of unions joined by &&."""
        found = self.union(start, first=True)
        while self.peek() == "&":
            self.at += 2
            found = found & self.union(start, first=False)
        return found

    def union(self, start: int, *, first: bool) -> CharacterSet:
        found: CharacterSet | None = None
        while True:
            character = self.peek()
            if character == END:
                self.refuse("a class that is not closed", start)
            if character == "&" and self.peek(1) == "&":
                break
            if character == "]" and (found is not None or not first):
                break
            if character == "&" and not first:
                self.refuse("a lone & after &&")
            part = self.bracket() if character == "[" else self.member(start)
            found = part if found is None else found | part
        if found is None:
            self.refuse("an intersection with nothing")
        return found

    def member(self, start: int) -> CharacterSet:
        """A character, a range of them, or a class like \\d."""
        low = self.single(start)
        if isinstance(low, CharacterSet):
            return low
        if self.peek() != "-" or self.peek(1) in ("]", "["):
            return self.cased(low)
        self.take()
        high = self.single(start)
        if isinstance(high, CharacterSet) or high < low:
            self.refuse("a range of characters that is empty")
        found = CharacterSet(((ord(low), ord(high)),))
        return found.any_case() if "i" in self.flags else found

    def single(self, start: int) -> CharacterSet | str:
        if self.peek() == END:
            self.refuse("a class that is not closed", start)
        if self.peek() != "\\":
            return self.take()
        offset = self.offset()
        self.take()
        if self.peek() == "v" and self.peek(1) == "-":
            self.refuse("the escape \\v in a range", offset)
        return self.escaped_set(offset)

"""Reading a Java pattern character by character: escapes that stand for characters, and bracketed classes."""

from __future__ import annotations

import re
from typing import Final

from eddyline.errors import EddylineError
from eddyline.reference.failure import Failure
from eddyline.reference.regex.code_points import CATEGORIES, POSIX, SHORT, CodePoints, category, single

_CONTROL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_NUMERIC: Final = (
    (r"0([0-3][0-7]{2}|[0-7]{1,2})", 8),
    (r"x([0-9a-fA-F]{2})", 16),
    (r"x\{([0-9a-fA-F]+)\}", 16),
)


class UnsupportedPattern(EddylineError):
    """A regular expression that is perhaps right, but outside the subset."""


def _unquoted(pattern: str) -> str:
    """The pattern with what stands between \\Q and \\E (or the end) written as numbers of characters.

    >>> _unquoted("a\\\\Q.\\\\E+")
    'a\\\\x{2e}+'
    """
    parts = re.split(r"(\\Q.*?(?:\\E|$)|\\.)", pattern, flags=re.DOTALL)
    return "".join(map(_numbered, parts))


def _numbered(part: str) -> str:
    if not part.startswith("\\Q"):
        return part
    return "".join(f"\\x{{{ord(character):x}}}" for character in part[2:].removesuffix("\\E"))


class PatternReader:
    """A pattern and how far it has been read; `flags` are those in force there."""

    def __init__(self, pattern: str) -> None:
        self.pattern = _unquoted(pattern)
        self.position = 0
        self.flags: frozenset[str] = frozenset()

    def at_end(self) -> bool:
        return self.position >= len(self.pattern)

    def peek(self) -> str:
        return self.pattern[self.position]

    def next(self) -> str:
        if self.at_end():
            raise Failure(f"{self.pattern!r} ends too early")
        self.position += 1
        return self.pattern[self.position - 1]

    def take(self, expected: str) -> bool:
        """Read `expected` if it stands here."""
        found = self.pattern.startswith(expected, self.position)
        self.position += len(expected) if found else 0
        return found

    def take_match(self, expression: str) -> str | None:
        """Read what a Python expression describes, if it stands here."""
        match = re.compile(expression).match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[0]

    def folded(self, characters: CodePoints) -> CodePoints:
        return characters.in_any_case() if "i" in self.flags else characters

    def escaped_set(self) -> CodePoints:
        """What a backslash and the following stand for: a class, or a character."""
        letter = self.take_match("[dDwWsShHvV]")
        if letter is not None:
            characters = SHORT[letter.lower()]
            return ~characters if letter.isupper() else characters
        if self.peek_in("pP"):
            return self._property()
        return self.folded(single(self._escaped_character()))

    def peek_in(self, characters: str) -> bool:
        return not self.at_end() and self.peek() in characters

    def _property(self) -> CodePoints:
        negated = self.next() == "P"
        name = (self.take_match(r"\{\w+\}|[A-Z]") or "").strip("{}")
        short = name.removeprefix("Is")
        if name not in POSIX and short not in CATEGORIES:
            raise UnsupportedPattern(f"not every \\p in {self.pattern!r} is supported")
        if "i" in self.flags and short in ("Lower", "Upper", "Lu", "Ll", "Lt"):
            raise UnsupportedPattern(f"\\p{{{name}}} without case in {self.pattern!r} is not supported")
        characters = POSIX[name] if name in POSIX else category(short)
        return ~characters if negated else characters

    def _escaped_character(self) -> str:
        for expression, base in _NUMERIC:
            match = re.compile(expression).match(self.pattern, self.position)
            if match is not None:
                self.position = match.end()
                return self._character(int(match[1], base))
        if self.peek_in("u"):
            return self._utf16()
        if self.take("c"):
            return chr(ord(self.next()) ^ 64)
        character = self.next()
        if character in _CONTROL:
            return _CONTROL[character]
        if character.isascii() and character.isalnum():
            raise Failure(f"an unknown escape \\{character} in {self.pattern!r}")
        return character

    def _character(self, point: int) -> str:
        if point > 0x10FFFF:
            raise Failure(f"a character beyond Unicode in {self.pattern!r}")
        return chr(point)

    def _utf16(self) -> str:
        """One \\uhhhh, or two that are the halves of one character."""
        pair = self.take_match(r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
        if pair is not None:
            return bytes.fromhex(pair[1:5] + pair[7:]).decode("utf-16-be")
        unit = self.take_match("u[0-9a-fA-F]{4}")
        if unit is None:
            raise Failure(f"an unfinished \\u in {self.pattern!r}")
        return chr(int(unit[1:], 16))

    def character_class(self) -> CodePoints:
        """What follows an opening bracket: a union, or an intersection of unions with && between."""
        negated = self.take("^")
        found = self._union(first=True)
        while self.take("&&"):
            found &= self._union(first=False)
        if not self.take("]"):
            raise Failure(f"an unclosed class in {self.pattern!r}")
        return ~found if negated else found

    def _union(self, *, first: bool) -> CodePoints:
        """Items up to && or the closing bracket, which at the very start of a class is itself an item."""
        found = CodePoints(())
        empty = True
        while (empty and first) or not (self.peek_in("]") or self.pattern.startswith("&&", self.position)):
            if empty and self.pattern.startswith("&&", self.position):
                break
            if self.at_end():
                raise Failure(f"an unclosed class in {self.pattern!r}")
            found |= self.character_class() if self.take("[") else self._item()
            empty = False
        if empty or self.pattern.startswith("&&&", self.position):
            raise UnsupportedPattern(f"an empty side of && in {self.pattern!r} is not supported")
        return found

    def _item(self) -> CodePoints:
        """A character, an escape, or a range."""
        low = self._end_of_range()
        if len(low.ranges) != 1 or low.ranges[0][0] != low.ranges[0][1]:
            return low  # a class such as \d, or nothing that could begin a range
        if not self.peek_in("-") or self.pattern[self.position + 1 : self.position + 2] in ("", "]", "["):
            return self.folded(low)
        if self.pattern.startswith("-&&", self.position):
            raise UnsupportedPattern(f"-&& in {self.pattern!r} is not supported")
        self.take("-")
        high = self._end_of_range()
        if len(high.ranges) != 1 or high.ranges[0][0] != high.ranges[0][1] or high.ranges < low.ranges:
            raise Failure(f"an illegal range in {self.pattern!r}")
        return self.folded(CodePoints(((low.ranges[0][0], high.ranges[0][1]),)))

    def _end_of_range(self) -> CodePoints:
        if not self.take("\\"):
            return single(self.next())
        flags, self.flags = self.flags, self.flags - {"i"}
        found = self.escaped_set()
        self.flags = flags
        return found

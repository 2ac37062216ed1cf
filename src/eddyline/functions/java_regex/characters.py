"""Reads what stands for one character: escapes, classes in brackets, properties."""

from __future__ import annotations

import re
from typing import Final

from eddyline.functions.java_regex import sets
from eddyline.functions.java_regex.reader import END, TokenReader
from eddyline.functions.java_regex.sets import CharacterSet

_CONTROLS: Final = {"a": "\x07", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class CharacterReader(TokenReader):
    """Gives sets of characters; the flag i has been applied to them."""

    def cased(self, character: str) -> CharacterSet:
        single = CharacterSet(((ord(character), ord(character)),))
        return single.any_case() if "i" in self.flags else single

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

    def bracket(self) -> CharacterSet:
        """A class in brackets."""
        start = self.offset()
        self.take()
        negative = self.peek() == "^"
        if negative:
            self.take()
        with self.nested(start):
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

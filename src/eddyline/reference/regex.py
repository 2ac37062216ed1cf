"""RLIKE: Java's regular expressions, on a subset, by way of Python's `re`.

In the subset: characters and their escapes, quoting with backslash Q and E, classes with union and intersection,
`\\d \\w \\s \\h \\v \\R`, the ASCII `\\p{...}` and the general categories, the anchors `^ $ \\A \\Z \\z \\b \\B`, all
quantifiers (greedy, reluctant, possessive), groups (capturing, named, not capturing, atomic), look-ahead, look-behind
for alternatives of a fixed length each, back references, and the flags i, m, s, d. A pattern outside the subset raises
`UnsupportedPattern`, one that Java refuses fails.

`\\b` looks at ASCII letters only, as Java does from version 19 on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from eddyline.reference.character_set import ANY, LINE_ENDS, VERTICAL, WORD, CharacterSet, single
from eddyline.reference.failure import Failure
from eddyline.reference.regex_class import Reader, UnsupportedPattern
from eddyline.reference.text import java


def rlike(text: str, pattern: str) -> bool:
    """Whether the text contains a match.

    >>> rlike("a\\n", "a$"), rlike("ÄB", "(?i)äb"), rlike("x٣", "\\\\d")
    (True, False, False)
    """
    return _compiled(java(pattern)).search(java(text)) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    translated = _Translation(pattern).whole()
    try:
        return re.compile(translated)
    except (re.error, OverflowError) as error:
        raise UnsupportedPattern(f"the regular expression {pattern!r} is not supported: {error}") from error


_WORD: Final = WORD.expression()
_END: Final = LINE_ENDS.expression()
_NOT_WITHIN_CRLF: Final = r"(?<!\r(?=\n))"
# The same places for Python, by (multiline, only \n ends a line).
_CARET: Final = {
    (False, False): r"\A",
    (False, True): r"\A",
    (True, False): rf"(?:(?!\Z)(?:\A|(?<={_END}){_NOT_WITHIN_CRLF}))",
    (True, True): r"(?:(?!\Z)(?:\A|(?<=\n)))",
}
_DOLLAR: Final = {
    (False, False): rf"(?=\r\n\Z|{_NOT_WITHIN_CRLF}{_END}\Z|\Z)",
    (False, True): r"(?=\n?\Z)",
    (True, False): rf"(?:(?=\Z|{_END}){_NOT_WITHIN_CRLF})",
    (True, True): r"(?=\Z|\n)",
}
_BOUNDARY: Final = {
    "b": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_LOOK: Final = {"=": "(?=", "!": "(?!", "<=": "(?<=", "<!": "(?<!", ">": "(?>", ":": "(?:"}


class _Translation(Reader):
    """Reads a Java pattern from left to right and gives Python's for the same."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups = 0  # opened so far
        self.closed: set[str] = set()  # those that a back reference may name, by number and by name

    def whole(self) -> str:
        translated = "|".join(self._alternatives())
        if not self.at_end():
            raise Failure(f"an unmatched ) in {self.pattern!r}")
        return translated

    def _alternatives(self) -> list[str]:
        """Up to the end or a closing parenthesis; flags set inside end with it."""
        flags = self.flags
        branches = [self._sequence()]
        while self.take("|"):
            branches.append(self._sequence())
        self.flags = flags
        return branches

    def _sequence(self) -> str:
        parts = []
        while not self.at_end() and self.peek() not in "|)":
            atom = self._atom()
            parts.append(atom + self._quantifier() if atom else "")
        return "".join(parts)

    def _atom(self) -> str:
        if self.take("("):
            return self._group()
        if self.peek() in "*+?":
            raise Failure(f"nothing to repeat in {self.pattern!r}")
        if self.peek() == "{":
            raise self._repetition_of_nothing()
        if self.take("^"):
            return _CARET["m" in self.flags, "d" in self.flags]
        if self.take("$"):
            return _DOLLAR["m" in self.flags, "d" in self.flags]
        if self.take("."):
            return self._dot().expression()
        if self.take("\\"):
            return self._escape()
        if self.take("["):
            return self.character_class().expression()
        return self._literal(self.next())

    def _dot(self) -> CharacterSet:
        if "s" in self.flags:
            return ANY
        return ~(single("\n") if "d" in self.flags else LINE_ENDS)

    def _literal(self, character: str) -> str:
        return self.folded(single(character)).expression()

    def _repetition_of_nothing(self) -> Exception:
        if re.compile(r"\{[0-9]").match(self.pattern, self.place):
            return UnsupportedPattern(f"a repetition of nothing in {self.pattern!r} is not supported")
        return Failure(f"an illegal repetition in {self.pattern!r}")

    def _quantifier(self) -> str:
        count = self.take_match(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
        if count is None:
            if not self.at_end() and self.peek() == "{":
                raise Failure(f"an illegal repetition in {self.pattern!r}")
            return ""
        bounds = [int(number) for number in re.findall("[0-9]+", count)]
        if bounds != sorted(bounds) or any(bound > 2**31 - 1 for bound in bounds):
            raise Failure(f"an illegal repetition in {self.pattern!r}")
        manner = self.take_match("[?+]") or ""
        if not self.at_end() and self.peek() == "{":
            raise self._repetition_of_nothing()
        return count + manner

    def _group(self) -> str:
        """What follows an opening parenthesis; empty for flags that hold until the enclosing group ends."""
        if not self.take("?"):
            return self._capture("", "(")
        name = self.take_match(r"<[A-Za-z][A-Za-z0-9]*>")
        if name is not None:
            return self._capture(name[1:-1], f"(?P{name}")
        look = self.take_match("<=|<!|[=!>:]")
        if look is not None:
            return self._rest(_LOOK[look])
        flags = self.take_match(r"[A-Za-z]*(?:-[A-Za-z]*)?[:)]")
        if flags is None:
            raise Failure(f"an unknown group in {self.pattern!r}")
        before = self.flags
        self.flags = self._changed(flags[:-1])
        if flags[-1] == ")":
            return ""
        translated = self._rest("(?:")
        self.flags = before
        return translated

    def _changed(self, text: str) -> frozenset[str]:
        on, _, off = text.partition("-")
        if not set(on + off) <= set("idmsuxU"):
            raise Failure(f"an unknown flag in {self.pattern!r}")
        if not set(on + off) <= set("idms"):
            raise UnsupportedPattern(f"the flags u, U and x in {self.pattern!r} are not supported")
        return (self.flags | set(on)) - set(off)

    def _capture(self, name: str, opening: str) -> str:
        if name and name in self.closed:
            raise Failure(f"two groups of one name in {self.pattern!r}")
        self.groups += 1
        number = str(self.groups)
        translated = self._rest(opening)
        self.closed |= {number, name} if name else {number}
        return translated

    def _rest(self, opening: str) -> str:
        branches = self._alternatives()
        if not self.take(")"):
            raise Failure(f"an unclosed group in {self.pattern!r}")
        # Python wants one length behind: every alternative looks for itself.
        if opening == _LOOK["<="]:
            return "(?:" + "|".join(f"{opening}{branch})" for branch in branches) + ")"
        if opening == _LOOK["<!"]:
            return "(?:" + "".join(f"{opening}{branch})" for branch in branches) + ")"
        return opening + "|".join(branches) + ")"

    def _escape(self) -> str:
        """What follows a backslash outside of a class."""
        letter = self.take_match("[AZzbBRGXN]")
        if letter in ("G", "X", "N"):
            raise UnsupportedPattern(f"\\{letter} in {self.pattern!r} is not supported")
        if letter is not None:
            return self._place(letter)
        if not self.at_end() and self.peek() in "123456789k":
            return self._reference()
        return self.escaped_set().expression()

    def _place(self, letter: str) -> str:
        if letter in _BOUNDARY:
            return _BOUNDARY[letter]
        if letter == "R":
            return rf"(?:\r\n|{VERTICAL.expression()})"
        return {"A": r"\A", "z": r"\Z", "Z": _DOLLAR[False, "d" in self.flags]}[letter]

    def _reference(self) -> str:
        """To a group that is closed already; as many digits as still name one."""
        if "i" in self.flags:
            raise UnsupportedPattern(f"a back reference without case in {self.pattern!r} is not supported")
        if self.take("k"):
            name = self.take_match(r"<[A-Za-z][A-Za-z0-9]*>")
            if name is None or name[1:-1] not in self.closed:
                raise Failure(f"a back reference to no group in {self.pattern!r}")
            return f"(?P={name[1:-1]})"
        digits = self.take_match("[1-9]") or ""
        while not self.at_end() and self.peek().isdigit() and int(digits + self.peek()) <= self.groups:
            digits += self.next()
        if digits not in self.closed:
            raise UnsupportedPattern(
                f"a back reference to a group still open in {self.pattern!r} is not supported"
            )
        return rf"(?:\{digits})"

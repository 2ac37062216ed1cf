"""Reads the characters of a Java pattern one by one, and knows which of them are quoted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Why a pattern is refused: the construct by name, and its offset in characters."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name} at offset {self.offset}"


class PatternRefused(Exception):
    """Carries the reason out of the parser."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.reason = Unsupported(what, offset)


class PatternToken(NamedTuple):
    """A character of the pattern; `quoted` inside of \\Q..\\E."""

    text: str
    quoted: bool
    offset: int


END: Final = ""
MOST_LEVELS: Final = 100  # of groups and classes inside of each other; each takes some of Python's stack
MOST_CHARACTERS: Final = 50_000


def tokens_of(pattern: str) -> list[PatternToken]:
    """The characters of a pattern, with \\Q and \\E taken out.

    >>> [(token.text, token.quoted) for token in tokens_of("a\\\\Q.\\\\E.")]
    [('a', False), ('.', True), ('.', False)]
    """
    tokens: list[PatternToken] = []
    at, quoted = 0, False
    while at < len(pattern):
        pair = pattern[at : at + 2]
        if pair == ("\\E" if quoted else "\\Q"):
            at, quoted = at + 2, not quoted
        elif not quoted and pair[0] == "\\":
            tokens += [PatternToken(c, False, at + i) for i, c in enumerate(pair)]
            at += 2
        else:
            tokens.append(PatternToken(pattern[at], quoted, at))
            at += 1
    return tokens


class TokenReader:
    """A pattern and a place in it."""

    def __init__(self, pattern: str) -> None:
        self.tokens = tokens_of(pattern)
        self.length = len(pattern)
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.level = 0

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

    @contextmanager
    def nested(self, start: int) -> Iterator[None]:
        """What stands inside of a group or class that begins at an offset."""
        self.level += 1
        if self.level > MOST_LEVELS:
            self.refuse(f"groups or classes nested more than {MOST_LEVELS} levels deep", start)
        yield
        self.level -= 1

    def refuse(self, what: str, offset: int | None = None) -> NoReturn:
        raise PatternRefused(what, self.offset() if offset is None else offset)

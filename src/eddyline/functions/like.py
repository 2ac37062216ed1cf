"""LIKE patterns: `%` any text, `_` any one character, an escape character before either or before itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final


class Wild(Enum):
    """A wildcard of a pattern."""

    ANY = "%"
    ONE = "_"


ANY: Final = Wild.ANY
ONE: Final = Wild.ONE


@dataclass(frozen=True, slots=True)
class LikePattern:
    """A pattern as a list of literal texts and wildcards.

    Invariant: literals are not empty, and neither two literals nor two `%` stand side by side.
    """

    parts: tuple[str | Wild, ...]

    @property
    def kind(self) -> str:
        """`equals`, `starts`, `ends`, `contains` or `any` with `text` saying all there is to say, else `general`."""
        match self.parts:
            case () | (str(),):
                return "equals"
            case (str(), Wild.ANY):
                return "starts"
            case (Wild.ANY, str()):
                return "ends"
            case (Wild.ANY, str(), Wild.ANY):
                return "contains"
            case (Wild.ANY,):
                return "any"
        return "general"

    @property
    def text(self) -> str:
        """The literal of a pattern that has at most one."""
        return next((part for part in self.parts if isinstance(part, str)), "")

    def to_python(self) -> re.Pattern[str]:
        """A regular expression for `fullmatch`."""
        wild = {ANY: ".*", ONE: "."}
        return re.compile(
            "".join(re.escape(p) if isinstance(p, str) else wild[p] for p in self.parts), re.DOTALL
        )

    def to_re2(self) -> str:
        """The same for RE2, to be searched for; anchored at both ends.

        >>> compile_like("a%.").to_re2()
        '(?s)\\\\Aa.*\\\\x{2e}\\\\z'
        """
        wild = {ANY: ".*", ONE: "."}
        body = "".join(quote_re2(p) if isinstance(p, str) else wild[p] for p in self.parts)
        return rf"(?s)\A{body}\z"


def quote_re2(text: str) -> str:
    """A text as an RE2 expression that matches just it.

    >>> quote_re2("a.é")
    'a\\\\x{2e}é'
    """
    return "".join(c if c.isalnum() or ord(c) > 127 else f"\\x{{{ord(c):x}}}" for c in text)


@lru_cache(maxsize=1 << 14)
def compile_like(pattern: str, escape: str = "\\") -> LikePattern | None:
    """The parts of a pattern, or None where Spark raises: an escape at the end or before an ordinary character.

    >>> compile_like(r"a\\%b%%_").parts
    ('a%b', <Wild.ANY: '%'>, <Wild.ONE: '_'>)
    >>> compile_like("a!b", "!") is None, compile_like("a!", "!") is None
    (True, True)
    """
    parts: list[str | Wild] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            character = next(characters, "")
            if character not in ("%", "_", escape) or not character:
                return None
        elif character in "%_":
            if character == "_" or not parts or parts[-1] is not ANY:
                parts.append(Wild(character))
            continue
        if parts and isinstance(parts[-1], str):
            parts[-1] += character
        else:
            parts.append(character)
    return LikePattern(tuple(parts))

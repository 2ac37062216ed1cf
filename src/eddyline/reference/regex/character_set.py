"""Sets of characters as ranges of code points."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

_LAST: Final = 0x10FFFF


@dataclass(frozen=True)
class CharacterSet:
    """Ranges of code points, ascending, not touching one another.

    >>> (CharacterSet.of("a-c") & ~CharacterSet.of("b")).ranges
    ((97, 97), (99, 99))
    """

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def of(description: str) -> CharacterSet:
        """Characters as they are; two with a minus sign between them, and all that lie between."""
        ranges = []
        place = 0
        while place < len(description):
            end = (
                place + 2
                if description[place + 1 : place + 2] == "-" and place + 2 < len(description)
                else place
            )
            ranges.append((ord(description[place]), ord(description[end])))
            place = end + 1
        return CharacterSet.union(ranges)

    @staticmethod
    def union(ranges: Iterable[tuple[int, int]]) -> CharacterSet:
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        return CharacterSet(tuple(merged))

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return CharacterSet.union(self.ranges + other.ranges)

    def __invert__(self) -> CharacterSet:
        gaps, start = [], 0
        for low, high in self.ranges:
            if start < low:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= _LAST:
            gaps.append((start, _LAST))
        return CharacterSet(tuple(gaps))

    def __and__(self, other: CharacterSet) -> CharacterSet:
        return ~(~self | ~other)

    def in_any_case(self) -> CharacterSet:
        """With the other case of every ASCII letter; of no other letter, as in Java without the flag u."""
        found = self
        for here, there in (("a-z", -32), ("A-Z", 32)):
            letters = self & CharacterSet.of(here)
            found |= CharacterSet.union((low + there, high + there) for low, high in letters.ranges)
        return found

    def has(self, character: str) -> bool:
        place = bisect_right(self.ranges, (ord(character), _LAST)) - 1
        return place >= 0 and self.ranges[place][0] <= ord(character) <= self.ranges[place][1]


def single(character: str) -> CharacterSet:
    return CharacterSet(((ord(character), ord(character)),))


ANY: Final = CharacterSet(((0, _LAST),))
LINE_ENDS: Final = CharacterSet.of("\n\r\u0085\u2028\u2029")
DIGIT: Final = CharacterSet.of("0-9")
WORD: Final = CharacterSet.of("0-9A-Za-z_")
SPACE: Final = CharacterSet.of(" \t-\r")
HORIZONTAL: Final = CharacterSet.of(" \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000")
VERTICAL: Final = CharacterSet.of("\n-\r\u0085\u2028\u2029")
PUNCTUATION: Final = CharacterSet.of("!-/:-@[-`{-~")

# Classes named by one letter after a backslash; the capital letter is the complement.
SHORT: Final = {"d": DIGIT, "w": WORD, "s": SPACE, "h": HORIZONTAL, "v": VERTICAL}
# \p{...} over ASCII only.
POSIX: Final = {
    "Lower": CharacterSet.of("a-z"),
    "Upper": CharacterSet.of("A-Z"),
    "ASCII": CharacterSet.of("\0-\x7f"),
    "Alpha": CharacterSet.of("A-Za-z"),
    "Digit": DIGIT,
    "Alnum": CharacterSet.of("0-9A-Za-z"),
    "Punct": PUNCTUATION,
    "Graph": CharacterSet.of("!-~"),
    "Print": CharacterSet.of(" -~"),
    "Blank": CharacterSet.of(" \t"),
    "Cntrl": CharacterSet.of("\0-\x1f\x7f"),
    "XDigit": CharacterSet.of("0-9A-Fa-f"),
    "Space": SPACE,
}
# Unicode's general categories, and the groups of them that one letter names.
CATEGORIES: Final = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn".split()
)


@cache
def category(name: str) -> CharacterSet:
    """The characters of a general category, as of the Unicode that this Python knows."""
    points = (point for point in range(_LAST + 1) if unicodedata.category(chr(point)).startswith(name))
    return CharacterSet.union((point, point) for point in points)

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
class CodePoints:
    """Ranges of code points, ascending, not touching one another.

    >>> (CodePoints.of("a-c") & ~CodePoints.of("b")).ranges
    ((97, 97), (99, 99))
    """

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def of(description: str) -> CodePoints:
        """Characters as they are; two with a minus sign between them, and all that lie between."""
        ranges = []
        at = 0
        while at < len(description):
            end = at + 2 if description[at + 1 : at + 2] == "-" and at + 2 < len(description) else at
            ranges.append((ord(description[at]), ord(description[end])))
            at = end + 1
        return CodePoints.union(ranges)

    @staticmethod
    def union(ranges: Iterable[tuple[int, int]]) -> CodePoints:
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        return CodePoints(tuple(merged))

    def __or__(self, other: CodePoints) -> CodePoints:
        return CodePoints.union(self.ranges + other.ranges)

    def __invert__(self) -> CodePoints:
        gaps, start = [], 0
        for low, high in self.ranges:
            if start < low:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= _LAST:
            gaps.append((start, _LAST))
        return CodePoints(tuple(gaps))

    def __and__(self, other: CodePoints) -> CodePoints:
        return ~(~self | ~other)

    def in_any_case(self) -> CodePoints:
        """With the other case of every ASCII letter; of no other letter, as in Java without the flag u."""
        found = self
        for here, there in (("a-z", -32), ("A-Z", 32)):
            letters = self & CodePoints.of(here)
            found |= CodePoints.union((low + there, high + there) for low, high in letters.ranges)
        return found

    def has(self, character: str) -> bool:
        index = bisect_right(self.ranges, (ord(character), _LAST)) - 1
        return index >= 0 and self.ranges[index][0] <= ord(character) <= self.ranges[index][1]


def single(character: str) -> CodePoints:
    return CodePoints(((ord(character), ord(character)),))


ANY: Final = CodePoints(((0, _LAST),))
LINE_ENDS: Final = CodePoints.of("\n\r\u0085\u2028\u2029")
DIGIT: Final = CodePoints.of("0-9")
WORD: Final = CodePoints.of("0-9A-Za-z_")
SPACE: Final = CodePoints.of(" \t-\r")
HORIZONTAL: Final = CodePoints.of(" \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000")
VERTICAL: Final = CodePoints.of("\n-\r\u0085\u2028\u2029")
PUNCTUATION: Final = CodePoints.of("!-/:-@[-`{-~")

# Classes named by one letter after a backslash; the capital letter is the complement.
SHORT: Final = {"d": DIGIT, "w": WORD, "s": SPACE, "h": HORIZONTAL, "v": VERTICAL}
# \p{...} over ASCII only.
POSIX: Final = {
    "Lower": CodePoints.of("a-z"),
    "Upper": CodePoints.of("A-Z"),
    "ASCII": CodePoints.of("\0-\x7f"),
    "Alpha": CodePoints.of("A-Za-z"),
    "Digit": DIGIT,
    "Alnum": CodePoints.of("0-9A-Za-z"),
    "Punct": PUNCTUATION,
    "Graph": CodePoints.of("!-~"),
    "Print": CodePoints.of(" -~"),
    "Blank": CodePoints.of(" \t"),
    "Cntrl": CodePoints.of("\0-\x1f\x7f"),
    "XDigit": CodePoints.of("0-9A-Fa-f"),
    "Space": SPACE,
}
# Unicode's general categories, and the groups of them that one letter names.
CATEGORIES: Final = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn".split()
)


@cache
def category(name: str) -> CodePoints:
    """The characters of a general category, as of the Unicode that this Python knows."""
    points = (point for point in range(_LAST + 1) if unicodedata.category(chr(point)).startswith(name))
    return CodePoints.union((point, point) for point in points)

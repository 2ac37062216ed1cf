"""Sets of characters as sorted ranges of code points, so that classes are computed rather than translated."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

LAST: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """Code points as ranges, both ends included.

    Invariant: ranges ascend and neither touch nor overlap.

    >>> str(CharacterSet.of("a-cx") | CharacterSet.of("b-d"))
    'a-dx'
    >>> "b" in ~CharacterSet.of("a-c"), (CharacterSet.of("a-f") & CharacterSet.of("c-z")).ranges
    (False, ((99, 102),))
    """

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def build(ranges: Iterable[tuple[int, int]]) -> CharacterSet:
        """A set from ranges in any order."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], high))
            else:
                merged.append((low, high))
        return CharacterSet(tuple(merged))

    @staticmethod
    def of(text: str) -> CharacterSet:
        """A set from single characters and ranges `a-z`."""
        ranges = []
        at = 0
        while at < len(text):
            last = at + 2 if text[at + 1 : at + 2] == "-" and at + 2 < len(text) else at
            ranges.append((ord(text[at]), ord(text[last])))
            at = last + 1
        return CharacterSet.build(ranges)

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return CharacterSet.build(self.ranges + other.ranges)

    def __invert__(self) -> CharacterSet:
        gaps = []
        start = 0
        for low, high in self.ranges:
            if start < low:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= LAST:
            gaps.append((start, LAST))
        return CharacterSet(tuple(gaps))

    def __and__(self, other: CharacterSet) -> CharacterSet:
        return ~(~self | ~other)

    def __contains__(self, character: str) -> bool:
        return any(low <= ord(character) <= high for low, high in self.ranges)

    def __str__(self) -> str:
        return "".join(chr(low) if low == high else f"{chr(low)}-{chr(high)}" for low, high in self.ranges)

    def any_case(self) -> CharacterSet:
        """With each ASCII letter also its other case.

        >>> str(CharacterSet.of("x-z\\u017f").any_case())
        'X-Zx-z\\u017f'
        """
        upper, lower = (ord("A"), ord("Z")), (ord("a"), ord("z"))
        extra = []
        for low, high in self.ranges:
            extra += [(max(low, lower[0]) - 32, min(high, lower[1]) - 32)]
            extra += [(max(low, upper[0]) + 32, min(high, upper[1]) + 32)]
        return CharacterSet.build([*self.ranges, *((low, high) for low, high in extra if low <= high)])


EVERYTHING: Final = CharacterSet(((0, LAST),))
DIGIT: Final = CharacterSet.of("0-9")
WORD: Final = CharacterSet.of("a-zA-Z0-9_")
SPACE: Final = CharacterSet.of(" \t\n\x0b\f\r")
HORIZONTAL: Final = CharacterSet.of(" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000")
VERTICAL: Final = CharacterSet.of("\n\x0b\f\r\x85\u2028\u2029")
LINE_ENDS: Final = CharacterSet.of("\n\r\x85\u2028\u2029")

CLASSES: Final = {"d": DIGIT, "w": WORD, "s": SPACE, "h": HORIZONTAL, "v": VERTICAL}

# Java's POSIX classes, ASCII only. Those of one case mean both under the flag i, which is refused.
POSIX: Final = {
    "Lower": CharacterSet.of("a-z"),
    "Upper": CharacterSet.of("A-Z"),
    "ASCII": CharacterSet(((0, 127),)),
    "Alpha": CharacterSet.of("a-zA-Z"),
    "Digit": DIGIT,
    "Alnum": CharacterSet.of("a-zA-Z0-9"),
    "Punct": CharacterSet(((33, 47), (58, 64), (91, 96), (123, 126))),
    "Graph": CharacterSet(((33, 126),)),
    "Print": CharacterSet(((32, 126),)),
    "Blank": CharacterSet.of(" \t"),
    "Cntrl": CharacterSet(((0, 31), (127, 127))),
    "XDigit": CharacterSet.of("0-9a-fA-F"),
    "Space": SPACE,
}

# Unicode general categories, as of the Unicode version that Python knows.
CATEGORIES: Final = frozenset({"L", "Lu", "Ll", "Lt", "Lm", "Lo", "N", "Nd", "P", "S", "Z", "Zs"})
ONE_CASE: Final = frozenset({"Lower", "Upper", "Lu", "Ll", "Lt"})


@lru_cache(maxsize=32)
def category(name: str) -> CharacterSet:
    """All characters of a Unicode general category.

    >>> "é" in category("Ll"), "É" in category("Ll"), "É" in category("L")
    (True, False, True)
    """
    found: list[tuple[int, int]] = []
    for code in range(LAST + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return CharacterSet(tuple(found))

"""Random regular expressions, out of every form that is accepted, and texts that they find something in now and then."""

from __future__ import annotations

import random
from typing import Final

from eddyline.functions.java_regex import check

# the last bytes of U+28E9 are, taken alone, like those of é
ALPHABET: Final = "aabbA_1 é\u28e9\n\r\x85\u2028\x0b"
_ATOMS: Final = (
    "a", "a", "b", "ab", "é", "_", ".", ".*", ".+?", "[ab]", "[^a]", "[a-z]", "[a&&[^b]]", "[^\\w\\s]", "(?i)a",
    "\\d", "\\D", "\\s", "\\S", "\\w", "\\W", "\\h", "\\v", "\\R", "\\r", "\\n", "(?s).", "\\p{L}", "\\P{Lu}",
    "^", "$", "$", "\\A", "\\Z", "\\z", "(?m)^", "(?m)$", "(?=a)", "(?!a)", "\\Qa\\E", "\\x61",
)  # fmt: skip
# What differs between versions of Java beside letters that are not ASCII, or beside characters beyond U+FFFF.
_DELICATE: Final = ("\\b", "\\b", "(?<=a)", "(?<!b)", "(?<!ab)", "(?<=a|\\n)", "(?!a+b)", "(?=ab)")
_REFERENCE: Final = "\\1"
_COUNTS: Final = ("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,2}")
_MANNERS: Final = ("", "", "", "?", "+")
_GROUPS: Final = ("(", "(", "(", "(?:", "(?:", "(?>", "(?i:", "(?m:", "(?<n>", "(?=")


def regex(draw: random.Random, *, delicate: bool = True) -> str:
    """An accepted pattern; a `delicate` one may have what differs between versions of Java.

    >>> check(regex(random.Random(1))) is None
    True
    """
    atoms = (*_ATOMS, *_DELICATE, _REFERENCE) if delicate else _ATOMS
    while True:
        found = _sequence(draw, atoms, draw.randrange(3))
        if check(found) is None:
            return found


def _sequence(draw: random.Random, atoms: tuple[str, ...], depth: int) -> str:
    parts = []
    for _ in range(draw.randrange(1, 4)):
        opening = draw.choice(_GROUPS) if depth and draw.random() < 0.4 else ""
        if opening:
            options = [_sequence(draw, atoms, depth - 1) for _ in range(draw.randrange(1, 3))]
            parts.append(opening + "|".join(options) + ")")
        else:
            parts.append(draw.choice(atoms))
        count = draw.choice(_COUNTS) if opening != "(?=" else ""
        parts.append(count + draw.choice(_MANNERS) if count else "")
    return "".join(parts)


def regex_text(draw: random.Random, most: int = 8) -> str:
    """A short text of the characters that such patterns tell apart."""
    return "".join(draw.choices(ALPHABET, k=draw.randrange(most + 1)))

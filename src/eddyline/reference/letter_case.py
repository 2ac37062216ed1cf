"""Lower and upper case of text, as Unicode 17 has them, whatever Unicode this Python knows."""

from __future__ import annotations

from typing import Final

from eddyline.reference.text import mended

# Letters with two cases that came after Unicode 14, the one of Python 3.11: capital letters, and how far from each its
# small letter is. Spark brings its own tables (ICU) along.
_NEWER: Final = {
    0x1C89: 1,
    0xA7CB: 0x0264 - 0xA7CB,
    0xA7CC: 1,
    0xA7CE: 1,
    0xA7D2: 1,
    0xA7D4: 1,
    0xA7DA: 1,
    0xA7DC: 0x019B - 0xA7DC,
    **dict.fromkeys(range(0x10D50, 0x10D66), 0x20),
    **dict.fromkeys(range(0x16EA0, 0x16EB9), 0x1B),
}
_TO_LOWER: Final = {capital: capital + distance for capital, distance in _NEWER.items()}
_TO_UPPER: Final = {small: capital for capital, small in _TO_LOWER.items()}


def lower(text: str) -> str:
    """With the final form of sigma at the end of words.

    >>> lower("ΟΔΥΣΣΕΥΣ"), lower("İ") == "i\\u0307"
    ('οδυσσευς', True)
    """
    return mended(text).translate(_TO_LOWER).lower()


def upper(text: str) -> str:
    """One letter may become several.

    >>> upper("straße")
    'STRASSE'
    """
    return mended(text).translate(_TO_UPPER).upper()

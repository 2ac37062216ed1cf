"""Texts that fit: what is cut says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from eddyline.pages.markup import Markup, tag

MOST_TEXT: Final = 1_500  # characters of a query's text or of a proof
MOST_ID: Final = 80
_WHERE: Final = re.compile(r"\bWHERE\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_BLANKS: Final = re.compile(r"\s+")


def shortened(text: str, most: int) -> str:
    """A text in so many characters.

    >>> shortened("price < 10", 20), shortened("price < 10", 6)
    ('price < 10', 'price…')
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def excerpt(text: str, most: int = MOST_TEXT) -> str:
    """The beginning of a long text, and how much is missing.

    >>> excerpt("abcdef", 4)
    'abcd\\n… 2 more characters'
    """
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n… {left:,} more characters"


def condition(sql: str) -> str:
    """What a query asks for, in one line.

    >>> condition("SELECT a\\nFROM q WHERE a < 3\\n  AND b = 1"), condition("SELECT * FROM q")
    ('a < 3 AND b = 1', 'every row')
    """
    found = _WHERE.search(sql)
    return _BLANKS.sub(" ", found[1]).strip() if found else "every row"


def name(id: str) -> Markup:
    """An id that is set apart from what stands around it, whichever way its letters run."""
    short = shortened(id, MOST_ID)
    return tag("bdi", short, title=shortened(id, 500) if short != id else None)


def fitting(pieces: Iterable[Markup], most: int, size: int) -> Iterator[Markup]:
    """The first pieces: so many, and so many bytes."""
    for number, piece in enumerate(pieces):
        size -= len(piece.encode())
        if number >= most or size < 0:
            return
        yield piece

"""Texts that fit: what is cut says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from eddyline.errors import QueryError
from eddyline.pages.markup import Markup, tag
from eddyline.sql.grammar.tokens import SYMBOL, WORD, tokenize

MOST_TEXT: Final = 1_500  # characters of a query's text or of a proof
MOST_ID: Final = 80
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
    """What a query asks for, in one line; of a join all that follows FROM.

    >>> condition("SELECT a, 'where'\\nFROM q WHERE a < 3\\n  AND b = 1"), condition("SELECT * FROM q")
    ('a < 3 AND b = 1', 'every row')
    >>> condition("SELECT * FROM q JOIN t ON q.a = t.a")
    'q JOIN t ON q.a = t.a'
    """
    try:
        tokens = tokenize(sql)
    except QueryError:
        return _BLANKS.sub(" ", sql).strip()
    ends: dict[str, int] = {}  # of the first of each word and comma from FROM on
    for token in tokens:
        if token.kind in (WORD, SYMBOL) and (token.text == "FROM" or ends):
            ends.setdefault(token.text, token.end)
    is_join = "JOIN" in ends or ends.get(",", len(sql)) < ends.get("WHERE", len(sql))
    start = ends.get("FROM" if is_join else "WHERE")
    return "every row" if start is None else _BLANKS.sub(" ", sql[start:]).strip(" ;")


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

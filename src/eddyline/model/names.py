"""Which texts may name something: queries, and what a registry keeps beside them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from eddyline.errors import IdError, UnknownQueryError

LONGEST_NAME: Final = 500  # characters of an id, a tag, an owner or a destination
NAME_RULE: Final = f"it is 1 to {LONGEST_NAME} printable characters without blanks at the ends"
_GUESSED_AMONG: Final = 1_000  # ids that are compared with one that is not known, which takes up to 5 ms


def is_name(text: object) -> bool:
    """Whether something keeps to the rule for names.

    >>> is_name("cheap"), is_name(""), is_name(" cheap"), is_name("a\\nb"), is_name(5)
    (True, False, False, False, False)
    """
    return (
        isinstance(text, str)
        and 0 < len(text) <= LONGEST_NAME
        and text.isprintable()  # neither line ends nor halves of characters
        and text[0] != " "
        and text[-1] != " "
    )


def check_id(id: object) -> None:
    """Refuse an id that no query may have, the same everywhere: in a set, an engine and a registry."""
    if not is_name(id):
        raise IdError(f"the id {short_repr(id)} is not accepted", hint=NAME_RULE)


def short_repr(value: object) -> str:
    """Something as a message shows it, however long it is.

    >>> short_repr(5), short_repr("a" * 70)
    ('5', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'...")
    """
    return repr(value) if not isinstance(value, str) or len(value) <= 60 else repr(value[:60]) + "..."


def first_names(names: Iterable[str]) -> str:
    """The first few names as a message shows them, however many and however long they are.

    >>> first_names(["symbol", "price"])
    'symbol, price'
    """
    return ", ".join(name if len(name) <= 60 else f"{name[:60]}..." for name in islice(names, 12))


def is_unicode(text: str) -> bool:
    """Whether a text can be written down: it has no half of a character (a lone surrogate).

    >>> is_unicode("é"), is_unicode("\\ud800")
    (True, False)
    """
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def unknown_query(id: object, known: Iterable[str]) -> UnknownQueryError:
    """The error for an id that no query has, with the nearest one that some query has."""
    near = get_close_matches(id, islice(known, _GUESSED_AMONG), n=1) if isinstance(id, str) else []
    named = f'"{id}"' if is_name(id) else short_repr(id)
    return UnknownQueryError(
        f"there is no query {named}", hint=f'did you mean "{near[0]}"?' if near else None
    )

"""Text and bytes: parts, search, trimming, patterns. Strings are counted in code points."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, TypeVar

from eddyline.reference.failure import Failure

Text = TypeVar("Text", str, bytes)

JAVA_SPACE: Final = "".join(map(chr, range(0x21)))  # what java.lang.String.trim takes off
SPACE: Final = JAVA_SPACE + "\x7f"  # what Spark's casts take off: ASCII white space and control characters

_LARGEST_INT: Final = 2**31 - 1


def contains(text: Text, part: Text) -> bool:
    return part in text


def startswith(text: Text, part: Text) -> bool:
    return text.startswith(part)


def endswith(text: Text, part: Text) -> bool:
    return text.endswith(part)


def trim(text: str, characters: str = " ") -> str:
    return text.strip(characters) if characters else text


def ltrim(text: str, characters: str = " ") -> str:
    return text.lstrip(characters) if characters else text


def rtrim(text: str, characters: str = " ") -> str:
    return text.rstrip(characters) if characters else text


def substring(text: Text, position: int, length: int) -> Text:
    """From a position counted from 1, or from the end if negative; 0 is taken as 1.

    >>> substring("abc", -2, 5), substring("abc", -5, 3), substring("abc", 0, 2)
    ('bc', 'a', 'ab')
    """
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    end = min(start + length, _LARGEST_INT)
    return text[max(start, 0) : max(end, 0)]


def left(text: Text, count: int) -> Text:
    return text[: max(count, 0)]


def right(text: Text, count: int) -> Text:
    return text[max(len(text) - count, 0) :] if count > 0 else text[:0]


def like(text: str, pattern: str, escape: str) -> bool:
    """Whether all of the text is described by the pattern: `%` any run of characters, `_` any one.

    >>> like("100%", "1__\\\\%", "\\\\"), like("a\\nb", "a_b", "\\\\")
    (True, True)
    """
    return _like_expression(pattern, escape).fullmatch(text) is not None


@cache
def _like_expression(pattern: str, escape: str) -> re.Pattern[str]:
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None or escaped not in ("%", "_", escape):
                raise Failure(f"the escape character stands before nothing that it can escape in {pattern!r}")
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return re.compile("".join(parts), re.DOTALL)

"""Text and bytes: parts, search, trimming, patterns, letter case. Strings are counted in code points.

A string may have bytes that are not valid UTF-8, as lone surrogates. Spark takes such a string for the bytes that it has: it
compares and searches these, and the first byte of a character says how many belong to it. Patterns and letter case see
text in which something else stands for what is malformed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, TypeVar

from eddyline.reference.failure import Failure

Text = TypeVar("Text", str, bytes)

JAVA_SPACE: Final = "".join(map(chr, range(0x21)))  # what java.lang.String.trim takes off
SPACE: Final = JAVA_SPACE + "\x7f"  # what Spark's casts take off: ASCII white space and control characters

_LARGEST_INT: Final = 2**31 - 1

# Letters with two cases that came after Unicode 14, the one of Python 3.11: capital letters, and how far from each its
# small letter is. Spark brings its own tables (ICU) along.
_NEWER_LETTERS: Final = {
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
_TO_LOWER: Final = {capital: capital + distance for capital, distance in _NEWER_LETTERS.items()}
_TO_UPPER: Final = {small: capital for capital, small in _TO_LOWER.items()}


def contains(text: Text, part: Text) -> bool:
    return octets(part) in octets(text)


def startswith(text: Text, part: Text) -> bool:
    return octets(text).startswith(octets(part))


def endswith(text: Text, part: Text) -> bool:
    return octets(text).endswith(octets(part))


def octets(text: str | bytes) -> bytes:
    """The bytes of a string, those that are not valid UTF-8 included, or what are bytes already."""
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


def from_octets(data: bytes) -> str:
    """The string with these bytes."""
    return str(data, "utf-8", "surrogateescape")


def characters(text: str) -> list[str]:
    """The characters of a string, as many bytes for each as its first byte asks for.

    >>> characters("aä\\udce2b"), characters("\\udcffa")
    (['a', 'ä', '\\udce2b'], ['\\udcff', 'a'])
    """
    if text.isascii():
        return list(text)
    data, found, at = octets(text), [], 0
    while at < len(data):
        size = _size(data[at])
        found.append(from_octets(data[at : at + size]))
        at += size
    return found


def _size(first: int) -> int:
    if 0xC2 <= first <= 0xDF:
        return 2
    if 0xE0 <= first <= 0xEF:
        return 3
    return 4 if 0xF0 <= first <= 0xF4 else 1


def length(text: str | bytes) -> int:
    return len(characters(text)) if isinstance(text, str) else len(text)


def java(text: str) -> str:
    """The text as Java decodes its bytes: U+FFFD for each malformed piece, as long as it could still become a character.

    >>> [ascii(java(text)) for text in ("a\\udcffb", "\\udce2\\udc82", "\\udced\\udca0\\udc80!")]
    ["'a\\\\ufffdb'", "'\\\\ufffd'", "'\\\\ufffd!'"]
    """
    if text.isascii():
        return text
    data, found, at = octets(text), "", 0
    while at < len(data):
        size = _size(data[at])
        end = at + 1
        while end < min(at + size, len(data)) and _continues(data[at:end], data[end]):
            end += 1
        piece = data[at:end]
        whole = len(piece) == size and (size > 1 or piece[0] < 0x80) and not _is_half_a_pair(piece)
        found += str(piece, "utf-8") if whole else "\ufffd"
        at = end
    return found


def _continues(start: bytes, following: int) -> bool:
    """Whether a byte may follow the start of a character; Java finds out about surrogates only when all is read."""
    low, high = {b"\xe0": (0xA0, 0xBF), b"\xf0": (0x90, 0xBF), b"\xf4": (0x80, 0x8F)}.get(start, (0x80, 0xBF))
    return low <= following <= high


def _is_half_a_pair(piece: bytes) -> bool:
    return piece[0] == 0xED and piece[1] >= 0xA0


def mended(text: str) -> str:
    """The text as Spark mends it: as Java decodes it, but three U+FFFD for half a surrogate pair."""
    return octets(text).decode("utf-8", "replace")


def trim(text: str) -> str:
    return from_octets(octets(text).strip(b" "))


def ltrim(text: str) -> str:
    return from_octets(octets(text).lstrip(b" "))


def rtrim(text: str) -> str:
    return from_octets(octets(text).rstrip(b" "))


def trim_chars(text: str, taken_off: str) -> str:
    return rtrim_chars(ltrim_chars(text, taken_off), taken_off)


def ltrim_chars(text: str, taken_off: str) -> str:
    rest = characters(text)
    while rest and contains(taken_off, rest[0]):
        del rest[0]
    return joined(rest)


def rtrim_chars(text: str, taken_off: str) -> str:
    rest = characters(text)
    while rest and contains(taken_off, rest[-1]):
        del rest[-1]
    return joined(rest)


def joined(parts: list[str]) -> str:
    """One string from several: the bytes of two may make up one character."""
    return from_octets(b"".join(map(octets, parts)))


def substring(text: Text, position: int, length: int) -> Text:
    """From a position counted from 1, or from the end if negative; 0 is taken as 1.

    >>> substring("abc", -2, 5), substring("abc", -5, 3), substring("abc", 0, 2)
    ('bc', 'a', 'ab')
    """
    if isinstance(text, str):
        return joined(characters(text)[_slice(len(characters(text)), position, length)])
    return text[_slice(len(text), position, length)]


def _slice(size: int, position: int, length: int) -> slice:
    start = position - 1 if position > 0 else size + position if position < 0 else 0
    end = min(start + length, _LARGEST_INT)
    return slice(max(start, 0), max(end, 0))


def left(text: Text, count: int) -> Text:
    if isinstance(text, str):
        return joined(characters(text)[: max(count, 0)])
    return text[: max(count, 0)]


def right(text: str, count: int) -> str:
    found = characters(text)
    return joined(found[max(len(found) - count, 0) :]) if count > 0 else ""


def like(text: str, pattern: str, escape: str) -> bool:
    """Whether all of the text is described by the pattern: `%` any run of characters, `_` any one.

    >>> like("100%", "1__\\\\%", "\\\\"), like("a\\nb", "a_b", "\\\\")
    (True, True)
    """
    return _like_expression(java(pattern), escape).fullmatch(java(text)) is not None


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


def lower(text: str) -> str:
    """As Unicode 17 has it, whatever Unicode this Python knows, with the final form of sigma at the end of words.

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

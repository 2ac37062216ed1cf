"""The grammar of CSV: where rows end, and their fields one by one, strict about quotes.

A field that starts with a quote ends with the next quote that is not doubled, and nothing but a separator or a line
break may follow. A quote elsewhere in a field is a character like others. A row whose quotes are broken ends with its
first line, so that a forgotten quote never swallows the rows below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from eddyline.runtime.embedded.blocks import line_end

QUOTE: Final = ord('"')
BROKEN_QUOTES: Final = "a quote is never closed, or text follows the closing one"
_FEED: Final = ord("\n")
_RETURN: Final = ord("\r")


class Record(NamedTuple):
    """One row: bytes `start` to `end` with its line break; an empty field without quotes is None."""

    start: int
    end: int
    fields: list[bytes | None]
    problem: str | None = None


def is_plain(data: bytes, separator: bytes) -> bool:
    """Whether every quote opens or closes a field or is a doubled one, so that counting them tells inside from outside."""
    if QUOTE not in data:
        return True
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = text[opening - 1]  # of the first byte: the last one, overruled below
    after = text[np.minimum(closing + 1, len(text) - 1)]
    doubled = np.zeros(len(opening), np.bool_)
    doubled[1:] = opening[1:] == closing[:-1] + 1
    limits = np.array([ord(separator), _FEED, _RETURN], np.uint8)
    opens = np.isin(before, limits) | (opening == 0) | doubled
    closes = np.isin(after, limits) | (closing == len(text) - 1)
    closes[:-1] |= doubled[1:]
    return bool(opens.all() and closes.all())


def find_end(data: bytes, at_end: bool, separator: bytes) -> int:
    """How many bytes are whole rows."""
    if at_end:
        return len(data)
    if QUOTE not in data:
        return _last_break(data)
    text = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero((text[:-1] == _RETURN) | (text[:-1] == _FEED)) + 1
    breaks = np.append(breaks, len(text)) if data.endswith(b"\n") else breaks
    quotes = np.searchsorted(np.flatnonzero(text == QUOTE), breaks)
    outside = breaks[quotes % 2 == 0]
    end = int(outside[-1]) if len(outside) else 0
    end -= data[end - 1 : end + 1] == b"\r\n"  # the break before it is as good, and whole
    return end if end and is_plain(data[:end], separator) else _end_of_records(data, separator)


def _last_break(data: bytes) -> int:
    """The end of the last line; a carriage return at the very end may be half a line break."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1 if data else 0


def _end_of_records(data: bytes, separator: bytes) -> int:
    end = 0
    for record in records(data, separator, at_end=False):
        end = record.end
    return end


@cache
def _grammar(separator: bytes) -> re.Pattern[bytes]:
    stop = re.escape(separator)
    quoted = rb'"([^"]*+(?:""[^"]*+)*+)"(?=[' + stop + rb"\r\n]|\Z)"
    plain = rb'(?!")([^' + stop + rb"\r\n]*+)"
    return re.compile(rb"(?:" + quoted + rb"|" + plain + rb")(" + stop + rb"|\r\n|[\r\n]|\Z)")


_QUOTED: Final = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')


def records(data: bytes, separator: bytes, *, at_end: bool = True) -> Iterator[Record]:
    r"""The rows of a text; empty lines are none. Without `at_end` the last one has to end with a line break.

    >>> [record.fields for record in records(b'a,"b,\nc"\n,""\n', b",")]
    [[b'a', b'b,\nc'], [None, b'']]
    """
    match = _grammar(separator).match
    start, total = 0, len(data)
    while start < total:
        fields: list[bytes | None] = []
        problem, at, stop, waiting = None, start, separator, False
        while stop == separator:
            found = match(data, at)
            if found is None:
                problem = BROKEN_QUOTES
                waiting = _QUOTED.match(data, at) is None
                at = line_end(data, start) or (total if at_end else total + 1)
                break
            quoted, plain, stop = found.groups()
            fields.append((plain or None) if quoted is None else quoted.replace(b'""', b'"'))
            at = found.end()
        half = at == total and (stop == b"" or data.endswith(b"\r"))  # the end, or half a line break
        if (waiting or half or at > total) and not at_end:
            return
        if problem is not None or fields != [None] or data[start:at].strip(b"\r\n"):
            yield Record(start, at, fields, problem)
        start = at

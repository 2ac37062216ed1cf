"""Splits a query's text into its shape and its constants, without parsing it.

    SELECT * FROM quotes WHERE symbol = 'AAPL' AND price > 12.50
    shape      SELECT * FROM quotes WHERE symbol = ? AND price > ?        constants   'AAPL'  12.50

Two texts with one shape and one list of constant types parse, bind and plan alike. The scanner knows plain strings and
plain numbers; whatever is unusual (comments, double quotes, backticks, prefixed strings) it leaves to the parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from eddyline.model import types as t
from eddyline.sql.grammar import literals

_UNUSUAL = re.compile(r"--|/\*|[\"`\\$\x00]|''|[\ud800-\udfff]")
_CONSTANT = re.compile(r"('[^']*')|((?<![\w.])\d+(?:\.\d+)?(?![\w.]))")
_EDGE = frozenset({2**31, 2**63})  # with a sign in front these fit a narrower type than without

Constant = tuple[object, t.DataType]


@dataclass(frozen=True, slots=True)
class Split:
    """A shape and its constants; `values[i]` has `types[i]` and stands between `pieces[i]` and `pieces[i + 1]`."""

    pieces: tuple[str, ...]
    types: tuple[t.DataType, ...]
    values: tuple[object, ...]
    lengths: tuple[int, ...]

    def spans(self) -> list[tuple[int, int]]:
        """Where each constant starts and ends in the text."""
        found, at = [], 0
        for piece, length in zip(self.pieces, self.lengths, strict=False):
            start = at + len(piece)
            at = start + length
            found.append((start, at))
        return found


def split(sql: str) -> Split | None:
    """Shape and constants of a text, or None where the parser has to look at it.

    >>> split("a = 'x' AND b > 2.5").pieces
    ('a = ', ' AND b > ', '')
    >>> split("a = 'x' -- why") is None
    True
    """
    if _UNUSUAL.search(sql):
        return None
    parts = _CONSTANT.split(sql)
    kinds, values, lengths = [], [], []
    for before, text, digits in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
        if text is not None:
            if before[-1:].isalnum():  # r'...', X'...', DATE'...'
                return None
            values.append(text[1:-1])
            kinds.append(t.STRING)
            lengths.append(len(text))
        else:
            constant = _number(digits)
            if constant is None:
                return None
            values.append(constant[0])
            kinds.append(constant[1])
            lengths.append(len(digits))
    return Split(tuple(parts[0::3]), tuple(kinds), tuple(values), tuple(lengths))


def _number(digits: str) -> Constant | None:
    if len(digits) < 10 and digits.isdecimal() and digits.isascii():
        return int(digits), t.INT
    if not digits.isascii():
        return None
    try:
        value, kind = literals.number(digits, negative=False)
    except literals.BadLiteral:
        return None
    return None if value in _EDGE else (value, kind)


def negated(value: object) -> object:
    """The value of a constant that stands behind a sign."""
    assert isinstance(value, int | Decimal), "only numbers have a sign"
    return -value

"""The papers' Attribute Selection Construct: what all queries of a set say about one subject.

    q1: A1 = 20 ...   q3: A1 <= 50 ...                qub 1010        (q2 and q4 do not use A1)

    region     (-inf, 20)   {20}   (20, 50)   {50}   (50, +inf)   NULL
    rif                      20                50
    qrb           0111      1111     0111     0111      0101      0101

Bitmaps are 64-bit words, query j at bit j % 64 of word j // 64, padded with zeros to blocks of 512 queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression

Words = npt.NDArray[np.uint64]
BLOCK_WORDS: Final = 8  # words of one block of queries: 512 bits


@dataclass(frozen=True, slots=True)
class Region:
    """One entry of a region array; `rif` is the constant of a region of one value, else None."""

    name: str
    rif: object
    qrb: str
    cab: str


@dataclass(frozen=True, slots=True, eq=False)
class ASC:
    """The construct of one subject, for `queries` queries and `subjects` subjects.

    Invariant: region 2i + 1 is exactly {constants[i]}; after the last interval comes NaN, for types that have it, and
    NULL is last. Invariant: bits of queries that do not use the subject are ones in every qrb.

    blocks: (blocks of queries, regions, 8), the qrb as executors read them. cab: (regions, words over subjects).
    """

    number: int
    subject: Expression
    constants: npt.NDArray[Any] | tuple[Any, ...]
    queries: int
    subjects: int
    qub: Words
    blocks: Words
    cab: Words

    @property
    def regions(self) -> int:
        """Number of regions, NaN and NULL included."""
        return int(self.blocks.shape[1])

    @property
    def qrb(self) -> Words:
        """The query-result bitmaps, (regions, words); copied together if there are several blocks."""
        return self.blocks.swapaxes(0, 1).reshape(self.regions, -1)

    @property
    def ra(self) -> tuple[Region, ...]:
        """The region array, readable."""
        return self._ra(range(self.regions))

    def rif(self, region: int) -> object:
        """The constant of a region of one value; None for intervals, NaN and NULL."""
        if region % 2 == 0 or region > 2 * len(self.constants):
            return None
        return _decoded(self.subject.type, self.constants[region // 2])

    def name(self, region: int) -> str:
        """A region in the notation of sets.

        >>> none = np.zeros(8, np.uint64)
        >>> asc = ASC(0, Column("a", t.INT), np.array([20]), 0, 1, none, np.zeros((1, 4, 8), np.uint64), none)
        >>> [asc.name(region) for region in range(4)]
        ['(-inf, 20)', '{20}', '(20, +inf)', 'NULL']
        """
        last = 2 * len(self.constants)
        if region > last:
            return "NULL" if region == self.regions - 1 else "NaN"
        if region % 2:
            return f"{{{_text(self.rif(region), self.subject.type)}}}"
        low = "-inf" if region == 0 else _text(self.rif(region - 1), self.subject.type)
        high = "+inf" if region == last else _text(self.rif(region + 1), self.subject.type)
        return f"({low}, {high})"

    def explain(self, *, max_regions: int = 40, max_bits: int = 64) -> str:
        """The construct as a table, as the papers draw it; what is left out is said.

        Bitmaps start with the first query (cab: the first subject).
        """
        shown = range(min(self.regions, max_regions))
        rows = [("region", "qrb", "cab")]
        rows += [(r.name, _cut(r.qrb, max_bits), _cut(r.cab, max_bits)) for r in self._ra(shown)]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        used = bits(self.qub, self.queries)
        lines = [f"{self}", f"  qub  {_cut(used, max_bits)}"]
        lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        if self.regions > len(shown):
            lines.append(f"  and {self.regions - len(shown)} more regions")
        return "\n".join(lines)

    def __str__(self) -> str:
        used = bits(self.qub, self.queries).count("1")
        name = subject_text(self.subject)
        return f"ASC({name}): {self.regions} regions, used by {used} of {self.queries} queries"

    def _ra(self, regions: Iterable[int]) -> tuple[Region, ...]:
        qrb = self.qrb
        return tuple(
            [
                Region(
                    self.name(region),
                    self.rif(region),
                    bits(qrb[region], self.queries),
                    bits(self.cab[region], self.subjects),
                )
                for region in regions
            ]
        )


def bits(words: Words, count: int) -> str:
    """The first bits of a bitmap, as the papers write them: the first query on the left.

    >>> bits(np.array([0b0101], np.uint64), 4)
    '1010'
    """
    return "".join(map(str, np.unpackbits(words.view(np.uint8), count=count, bitorder="little").tolist()))


def covered(ascs: Sequence[ASC]) -> bool:
    """Whether subjects are a cover set: every query uses one of them, so that a tuple may be dropped after them."""
    if not ascs:
        return False
    used = np.bitwise_or.reduce([asc.qub for asc in ascs])
    return int(np.bitwise_count(used).sum()) == ascs[0].queries


def one_is_spare(ascs: Sequence[ASC]) -> bool:
    """Whether the others are a cover set without some one of the subjects; in one pass, for there may be thousands."""
    if len(ascs) < 2 or not covered(ascs):
        return False
    once, twice = np.zeros_like(ascs[0].qub), np.zeros_like(ascs[0].qub)
    for asc in ascs:
        twice |= once & asc.qub
        once |= asc.qub
    return any(not (asc.qub & ~twice).any() for asc in ascs)


def subject_text(subject: Expression) -> str:
    """A subject in short: its name, or its outermost operation with the columns inside.

    >>> subject_text(Call("lower", (Column("name", t.STRING),), t.STRING))
    'lower(name)'
    """
    if isinstance(subject, Column):
        return subject.name
    if isinstance(subject, Call):
        return f"{subject.function}({', '.join(map(subject_text, subject.arguments))})"
    return repr(getattr(subject, "value", subject))


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({text.count('1')} of {len(text)} ones)"


def _decoded(kind: t.DataType, constant: Any) -> object:
    """A constant as `model.types` holds it, from the code that a cutting holds."""
    value = constant.item() if isinstance(constant, np.generic) else constant
    if kind == t.BOOLEAN:
        return bool(value)
    if isinstance(kind, t.DecimalType) and isinstance(value, int):
        return Decimal(value).scaleb(-kind.scale)
    return value


def _text(value: Any, kind: t.DataType) -> str:
    try:
        if kind == t.DATE:
            return str(date(1970, 1, 1) + timedelta(days=value))
        if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
            return str(datetime(1970, 1, 1) + timedelta(microseconds=value))
    except OverflowError:
        pass
    return str(value) if isinstance(value, Decimal) else repr(value)

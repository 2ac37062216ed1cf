"""The accepted datetime patterns of to_timestamp, to_date and unix_timestamp, read as Java's formatter reads them.

Accepted: `yyyy`, `MM` and `M`, `dd` and `d`, `HH` and `H`, `mm` and `m`, `ss` and `s`, up to nine `S`, `XXX`, text in
single quotes, and any other character that is neither a letter nor one of `[]{}#`. Each letter at most once. Numbers
side by side must be of fixed width, the year first (`yyyyMMdd`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eddyline.functions.civil import days_of
from eddyline.functions.time_text import MICROS_PER_SECOND, instant
from eddyline.functions.zones import Zone, find_zone

# Groups of a regular expression for each field. Java reads a year of four digits, of more after a plus sign, and of
# four or more after a minus sign; other doubled letters take two digits, single ones up to nineteen.
_FIELDS: Final = {
    "yyyy": r"(?P<y>[0-9]{4}|\+[0-9]{5,19}|-[0-9]{4,19})",
    "XXX": r"(?P<X>[zZ]|[+-][0-9]{2}:[0-9]{2})",
    **{letter * 2: rf"(?P<{letter}>[0-9]{{2}})" for letter in "MdHms"},
    **{letter: rf"(?P<{letter}>[0-9]{{1,19}})" for letter in "MdHms"},
    **{"S" * count: rf"(?P<S>[0-9]{{1,{count}}})" for count in range(1, 10)},
}
_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)
_RESERVED: Final = "[]{}#'"


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A pattern ready for reading texts."""

    expression: re.Pattern[str]

    def parse(self, text: str, session: Zone) -> int | None:
        """Microseconds since 1970 UTC of a text, or None if it does not fit the pattern.

        >>> compile_format("dd.MM.yyyy HH:mm").parse("02.01.1970 00:01", find_zone("UTC"))
        86460000000
        """
        match = self.expression.fullmatch(text)
        if match is None:
            return None
        fields = match.groupdict()
        days = days_of_fields(fields.get("y"), fields.get("M"), fields.get("d"))
        hour, minute, second = (int(fields.get(letter) or 0) for letter in "Hms")
        if days is None or hour > 23 or minute > 59 or second > 59:
            return None
        micros = int((fields.get("S") or "").ljust(6, "0")[:6])
        local = (days * 86_400 + hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + micros
        zone = _zone(fields.get("X"), session)
        return None if zone is None else instant(local, zone)


def days_of_fields(year: str | None, month: str | None, day: str | None) -> int | None:
    """The day of fields that may be missing: 1970, January, the first."""
    number = int(year or 1970)
    if abs(number) > 999_999_999 or (year is not None and year.startswith("-") and number == 0):
        return None
    months, days = int(month or 1), int(day or 1)
    return days_of(number, months, days) if months <= 12 and days <= 31 else None


def _zone(text: str | None, session: Zone) -> Zone | None:
    return session if text is None else find_zone(text.upper())


def check(format: str) -> str | None:
    """Why a pattern is refused, or None if it is accepted.

    >>> check("yyyy-MM-dd'T'HH:mm:ss.SSSXXX") is None
    True
    >>> check("dd MMM yyyy")
    'the pattern letters MMM'
    """
    found = _compile(format)
    return found if isinstance(found, str) else None


def compile_format(format: str) -> TimeFormat:
    """The reader of an accepted pattern."""
    found = _compile(format)
    assert isinstance(found, TimeFormat), f"a refused pattern is not compiled: {found}"
    return found


@lru_cache(maxsize=1024)
def _compile(format: str) -> TimeFormat | str:
    parts: list[str] = []
    seen: set[str] = set()
    previous = ""  # the field just before, if nothing stands between
    for token in _TOKEN.finditer(format):
        quoted, letter, other = token.groups()
        if letter is None:
            parts.append(_literal(quoted, other))
            reason = _refuse_literal(other)
            previous = ""
        else:
            field = token[0]
            reason = _refuse_field(field, seen, previous)
            parts.append(_FIELDS.get(field, ""))
            seen.add(letter)
            previous = field
        if reason is not None:
            return reason
    if not seen - {"X"}:
        return "a pattern without any field of a date or time"
    return TimeFormat(re.compile("".join(parts), re.DOTALL))


def _literal(quoted: str | None, other: str | None) -> str:
    """Text matches in either case; two quotes mean one, inside of quoted text or alone."""
    text = other or (quoted or "").replace("''", "'") or "'"
    return f"(?i:{re.escape(text)})"


def _refuse_literal(other: str | None) -> str | None:
    if other is None:
        return None
    if other in _RESERVED:
        return f"the character {other}"
    if other.isdigit():
        return "a digit that is not quoted"
    return None


def _refuse_field(field: str, seen: set[str], previous: str) -> str | None:
    if field not in _FIELDS:
        return f"the pattern letters {field}"
    if field[0] in seen:
        return f"the letter {field[0]} twice"
    numbers = previous not in ("", "XXX") and field != "XXX"
    if numbers and not (previous == "yyyy" or _is_fixed(previous)):
        return f"{field} right after {previous}, which may have any width"
    if numbers and not _is_fixed(field):
        return f"{field} right after {previous}"
    return None


def _is_fixed(field: str) -> bool:
    return len(field) == 2 and field != "SS"

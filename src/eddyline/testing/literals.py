"""Random literals of every type and spelling that Spark SQL has."""

from __future__ import annotations

import random
from typing import Final

from eddyline.testing.pools import (
    DAY_TEXTS,
    EPOCH_TEXTS,
    GOOD_NUMBERS,
    MOMENT_TEXTS,
    PLAIN_NUMBERS,
    TEXTS,
    TIME_TEXTS,
)

_SMALL_EXTREMES: Final = (
    "127",
    "128",
    "-128",
    "-129",
    "32767",
    "32768",
    "-32769",
    "2147483647",
    "-2147483648",
    "127Y",
    "-128Y",
    "32767S",
)
_LONG_EXTREMES: Final = (
    "9223372036854775807", "-9223372036854775808", "2147483648", "-2147483649", "9007199254740993", "9007199254740992L", "9223372036854775807L",
    "9223372036854775806", "-9223372036854775807", "4611686018427387904", "-4611686018427387905",
)  # fmt: skip
_DECIMAL_EXTREMES: Final = (
    "9223372036854775808", "-99999999999999999999", "99999999999999999999999999999999999999", "0.0000000001", "123456789012345678.123456",
    "999.99", "-999.995", "1e-10BD", "1e30BD",
)  # fmt: skip
# Just beside a whole number, with so many digits that no decimal holds them beside those of an integer type.
_LONG_DECIMALS: Final = (
    "0.9999999999999999999", "-0.9999999999999999999", "4.00000000000000000001", "0.99999999999999999999999999999",
    "1.00000000000000000000000000001", "-1.00000000000000000000000000001", "4.9999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001", "127.00000000000000000000000000000000001", "9223372036854775806.9999999999999999999",
)  # fmt: skip
_FRACTION_EXTREMES: Final = (
    "1e308",
    "-1e308",
    "5e-324",
    "1e-400",
    "9007199254740993D",
    "9223372036854775807D",
    "3.4028235e38F",
    "0.1F",
    "-0.0D",
    "1e19",
    "16777217F",
    "1.7976931348623157e308D",
    "-1.7976931348623157e308D",
    "2.2250738585072014e-308D",
    "CAST('Infinity' AS DOUBLE)",
    "CAST('-Infinity' AS DOUBLE)",
)
_PATTERN_PIECES: Final = (
    "%",
    "%",
    "_",
    "a",
    "b",
    "A",
    "abc",
    "ß",
    "é",
    "😀",
    " ",
    "\\%",
    "\\_",
    "\\\\",
    "z",
    "ab",
    "1",
    "5",
    "-",
)
REGEXES: Final = (
    "^a",
    "c$",
    "a|b",
    "[a-c]+",
    "^$",
    "\\d+",
    "(?i)ABC",
    "a.c",
    "^.{2}$",
    "b?c",
    "[^a]",
    "\\s",
    "s{2}",
    "^[A-Z]",
    "x*",
    "5",
    "\\.",
)
FORMATS: Final = ("yyyy-MM-dd", "yyyy-MM-dd", "yyyy-M-d") * 7 + ("dd/MM/yyyy", "yyyyMMdd")
TIME_FORMATS: Final = ("yyyy-MM-dd HH:mm:ss",) * 20 + ("yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm")
UNITS: Final = (
    "year",
    "YEAR",
    "yyyy",
    "quarter",
    "month",
    "MON",
    "week",
    "day",
    "dd",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
)
KEYS: Final = ("a", "b", "k", "", "ß", "none")
_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x00": "\\0"}


def quoted(text: str, random_: random.Random | None = None) -> str:
    r"""Text as a SQL string in one of the spellings that give it back.

    >>> quoted("it's"), quoted("a\\b\n")
    ("'it\\'s'", "'a\\\\b\\n'")
    """
    way = 0.5 if random_ is None else random_.random()
    if way < 0.05 and not set(text) & set("\"'\\\n\r\t\x00"):
        return f"r'{text}'"
    if way < 0.1 and "\\" in text and not text.endswith("\\") and not set(text) & set("\"'\x00"):
        return f'R"{text}"'
    quote = '"' if way > 0.92 else "'"
    if 0.1 <= way < 0.14 and len(text) > 1 and text.isalnum():
        return f"'{text[:1]}' '{text[1:]}'"
    pieces = []
    for character in text:
        if character == quote and 0.14 <= way < 0.3:
            pieces.append(quote * 2)
        elif character in (quote, "\\"):
            pieces.append("\\" + character)
        elif character in _ESCAPES:
            pieces.append(_ESCAPES[character])
        elif 0.14 <= way < 0.2 and ord(character) > 127:
            pieces.append(
                f"\\u{ord(character):04X}" if ord(character) < 65536 else f"\\U{ord(character):08X}"
            )
        else:
            pieces.append(character)
    return f"{quote}{''.join(pieces)}{quote}"


def small(random_: random.Random) -> str:
    """An integer that fits an int, or just not."""
    if random_.random() < 0.06:
        return random_.choice(_SMALL_EXTREMES)
    return f"{random_.randint(-3, 9)}{random_.choice(('', '', '', '', '', 'Y', 'S'))}"


def long(random_: random.Random) -> str:
    """An integer, perhaps beyond an int."""
    return random_.choice(_LONG_EXTREMES) if random_.random() < 0.12 else f"{random_.randint(-3, 9)}L"


def fraction(random_: random.Random) -> str:
    """A double or float."""
    if random_.random() < 0.1:
        return random_.choice(_FRACTION_EXTREMES)
    number = random_.choice(("0.1", "0.5", "2.5", "-2.5", "1", "3.", ".25", "5", "-1", "4.25", "10"))
    return number + random_.choice(("D", "d", "e0", "E0", "F", "f", "e+1", "e-1", "e1D"))


def decimal(random_: random.Random) -> str:
    """A decimal, by its point or by its suffix."""
    chance = random_.random()
    if chance < 0.2:
        return random_.choice(_DECIMAL_EXTREMES if chance < 0.12 else _LONG_DECIMALS)
    return random_.choice(
        (
            "0.1",
            "0.5",
            "2.5",
            "-2.5",
            "1.0",
            "3.",
            ".25",
            "5BD",
            "-1.00",
            "4.250BD",
            "10.0",
            "1e1BD",
            "0.125",
            "0.0",
            "2.50",
        )
    )


def text(random_: random.Random) -> str:
    """Any text."""
    return quoted(random_.choice(TEXTS), random_)


def number_text(random_: random.Random) -> str:
    """Text that looks like a number."""
    return quoted(random_.choice(PLAIN_NUMBERS if random_.random() < 0.85 else GOOD_NUMBERS), random_)


def date_text(random_: random.Random) -> str:
    """Text that looks like a date."""
    return quoted(random_.choice(DAY_TEXTS if random_.random() < 0.85 else EPOCH_TEXTS), random_)


def time_text(random_: random.Random) -> str:
    """Text that looks like a timestamp."""
    chance = random_.random()
    pool = MOMENT_TEXTS if chance < 0.75 else TIME_TEXTS[:8] if chance < 0.9 else EPOCH_TEXTS
    return quoted(random_.choice(pool), random_)


def boolean(random_: random.Random) -> str:
    """TRUE or FALSE."""
    return random_.choice(("TRUE", "FALSE", "true", "false"))


def binary(random_: random.Random) -> str:
    """Bytes in hexadecimal."""
    return f"{random_.choice('Xx')}'{random_.choice(('', '61', '6162', 'FF00', 'c39f', '35', '00', 'F'))}'"


def date(random_: random.Random) -> str:
    """A typed date."""
    day = random_.choice(
        (*DAY_TEXTS, "2020-1-1", "2020-01", "2020", "1969-12-31", "0001-01-01", "9999-12-31", "epoch")
    )
    return f"{random_.choice(('DATE', 'date', 'Date'))}{random_.choice(('', ' '))}'{day}'"


def timestamp(random_: random.Random) -> str:
    """A typed timestamp, with or without an offset in its text; always with a zone."""
    moment = random_.choice(
        (
            *MOMENT_TEXTS,
            "2020-01-01",
            "2020-01-01 12:34:56.789",
            "1969-12-31 23:59:59.999999",
            "2020-06-15 12:34:56.123456",
            "2020-03-08 02:30:00",
            "2020-11-01 01:30:00",
        )
    )
    if random_.random() < 0.25:
        return f"TIMESTAMP'{moment if ' ' in moment else moment + ' 00:00:00'}{random_.choice(('Z', '+01:00', ' UTC', ' Europe/Berlin', '-0330'))}'"
    return f"{random_.choice(('TIMESTAMP', 'timestamp', 'TIMESTAMP_LTZ'))} '{moment}'"


def wall_clock(random_: random.Random) -> str:
    """A typed timestamp without zone."""
    return f"TIMESTAMP_NTZ'{random_.choice((*MOMENT_TEXTS, '2020-01-01', '2020-01-01T12:34:56.789', '2020-03-29 02:30:00', '2020-03-08 02:30:00', 'epoch'))}'"


def day_time(random_: random.Random) -> str:
    """An interval of days, hours, minutes, seconds."""
    return random_.choice(
        (
            "INTERVAL 1 DAY", "INTERVAL '1' DAY", "interval 3 hours", "INTERVAL -30 MINUTES", "INTERVAL '1 02:03:04.5' DAY TO SECOND",
            "INTERVAL '10:20' HOUR TO MINUTE", "INTERVAL 1 WEEK", "INTERVAL 90 SECONDS", "INTERVAL '2 days 3 hours'", "INTERVAL 1 DAY 12 HOURS",
            "INTERVAL '-1' DAY", "INTERVAL 1.5 SECONDS", "INTERVAL '0' SECOND", "INTERVAL 100 MILLISECONDS", "INTERVAL -'2' HOUR",
        )
    )  # fmt: skip


def year_month(random_: random.Random) -> str:
    """An interval of years and months."""
    return random_.choice(
        (
            "INTERVAL 1 MONTH",
            "INTERVAL '1' YEAR",
            "INTERVAL '1-2' YEAR TO MONTH",
            "interval -3 months",
            "INTERVAL 2 YEARS",
            "INTERVAL '14' MONTH",
        )
    )


def pattern(random_: random.Random) -> str:
    """A LIKE pattern with the default escape."""
    return "".join(random_.choice(_PATTERN_PIECES) for _ in range(random_.randint(0, 4)))

"""Values for the rows of `everything`: for every pool of a column a function from a random source to one value."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any, Final

from eddyline.testing.edges import float32

Draw = Callable[[random.Random], Any]

TEXTS: Final = (
    "", " ", "a", "A", "ab", "abc", "ABC", "aBc", "b", "ba", "abcabc", " abc", "abc ", "  a b  ", "\tabc\n", "\u00a0x\u3000",
    "ß", "straße", "STRASSE", "SS", "ss", "İ", "i\u0307", "I", "ı", "Σ", "ΟΔΟΣ", "οδος", "οδοσ", "σς", "é", "e\u0301", "É", "ǆ", "ǅ",
    "ﬁ", "ŉ", "Ω", "ω", "😀", "a😀b", "👩\u200d👩\u200d👧", "日本語", "%", "_", "a%b", "a_b", "\\", "a\\b", "\\%", "'", '"', "it's",
    "null", "NULL", "true", "false", "t", "yes", "0", "1", "-1", "5", "NaN", "2020-01-01", "x\ny", "\x00", "a\x00b", "z" * 40,
    "1.5", "2.5", "1234567", "12345678", "123456789", "0123456789abcdef", "0123456789abcdefg",
)  # fmt: skip
BAD_NUMBERS: Final = (
    "", " ", "abc", "1x", "--1", "+-1", "1e", "1e400", "-1e400", "0x10", "1_000", "1,5", "९", "１", "1 2", "NaN", "nan", "Infinity",
    "-Infinity", "inf", "-inf", "+inf", "infinity", "1d", "1f", "1.5D", "1L", ".", "+", "-", "1e-400", "\x0012",
    "1e99999999999999999999", "-1e-99999999999999999999", "0e99999999999999999999", "1" * 5_000, "0" * 5_000 + "7",
)  # fmt: skip
GOOD_NUMBERS: Final = (
    "0", "1", "-1", "5", "05", "+5", " 5 ", "\t7\n", "10", "127", "128", "-128", "255", "32768", "2147483647", "2147483648",
    "-2147483648", "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0.1", "-0.0", "2.5",
    "1.0", "1.", ".5", "1e0", "1e2", "1E-2", "1e38", "99999999999999999999", "0.30000000000000004", "123.456", "1e308", "5.0000000001",
)  # fmt: skip
PLAIN_NUMBERS: Final = ("0", "1", "2", "3", "5", "7", "10", "12", "-1", "-4", "42", " 3 ", "+6", "007")
DATE_TEXTS: Final = (
    "2020-01-01", "2020-02-29", "2021-02-29", "2020-1-1", "2020-01", "2020", "1970-01-01", "1969-12-31", "0001-01-01", "9999-12-31",
    "2020-13-01", "2020-00-10", "2020-01-32", "20200101", "2020/01/01", "+10000-01-01", "-0001-01-01", "0000-01-01", "2020-01-01abc",
    "2020-01-01 ", " 2020-01-01", "epoch", "now", "", "abc", "2020-01-01T", "2020-01-01 00:00:00", "1582-10-10", "294247-01-10", "02020-01-01",
)  # fmt: skip
TIME_TEXTS: Final = (
    "2020-01-01 00:00:00", "2020-01-01T12:34:56", "2020-01-01 12:34:56.789", "2020-01-01 12:34:56.123456789", "2020-06-30 23:59:59.999999",
    "2020-01-01 12:34:56Z", "2020-01-01 12:34:56+01:00", "2020-01-01 12:34:56 America/New_York", "2020-03-29 02:30:00",
    "2020-10-25 02:30:00", "2020-01-01 12", "2020-01-01 12:34", "2020-01-01 1:2:3", "2020-01-01 24:00:00", "2020-01-01 12:60:00",
    "12:34:56", "T12:34:56", "2020-01-01", "2020-01", "2020", "1900-01-01 00:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999",
    "", "abc", "2020-01-01 12:34:56 +1", "2020-01-01 12:34:56 UTC", "2020-01-01 12:34:56GMT+1", "2020-01-01  12:34:56", "-2020-01-01 00:00:00",
)  # fmt: skip
DAY_TEXTS: Final = ("2020-01-01", "2020-02-29", "2021-12-31", "2019-07-04", "2020-06-15", "2020-10-25")
MOMENT_TEXTS: Final = (
    "2020-01-01 00:00:00",
    "2020-02-29 12:34:56",
    "2021-12-31 23:59:59",
    "2019-07-04 06:07:08",
    "2020-10-25 02:30:00",
)

# Words that Spark reads as a moment where they are constants. Those that the clock decides are no part of any pool of
# constants: whoever compares two runs would compare two days.
EPOCH_TEXTS: Final = (
    "epoch",
    "EPOCH",
    " Epoch ",
    "epoch UTC",
    "epoch Europe/Berlin",
    "epoch+01:00",
    "epochs",
    "epoch xx",
)
# On wall clocks that were put forward or back, in Berlin and in New York; as instants the hours around those.
CLOCK_CHANGES: Final = (
    1_585_449_000_000_000, 1_603_593_000_000_000, 1_583_634_600_000_000, 1_604_194_200_000_000,
    1_585_443_599_999_999, 1_585_447_200_000_000, 1_583_650_800_000_000, 1_604_210_400_000_000,
)  # fmt: skip
_DAY: Final = 86_400_000_000


def days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
    return date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()


DATES: Final = tuple(
    days(*d)
    for d in (
        (1970, 1, 1), (1969, 12, 31), (2020, 1, 1), (2020, 2, 29), (2021, 2, 28), (2019, 12, 30), (2020, 12, 31), (2000, 2, 29), (1900, 2, 28),
        (1582, 10, 4), (1582, 10, 15), (1, 1, 1), (9999, 12, 31), (2038, 1, 19), (2020, 3, 29), (2020, 10, 25),
    )
)  # fmt: skip
FAR_DATES: Final = (days(9999, 12, 31) + 1, days(1, 1, 1) - 1, 2_932_897 + 100_000, -719_893)
MOMENTS: Final = (
    0, -1, 1, -_DAY, _DAY - 1, 1_577_836_800_000_000, 1_577_836_799_999_999, 1_582_934_399_999_999, 1_585_443_600_000_000,
    1_603_587_600_000_000, 1_603_591_200_000_000, -2_208_988_800_000_000, 253_402_300_799_999_999, -62_135_596_800_000_000,
    1_583_652_600_000_000, 1_604_208_600_000_000, 2_147_483_648_000_000, -12_219_292_800_000_000, 1_592_224_496_123_456,
)  # fmt: skip
PLAIN_DATES: Final = tuple(
    days(*d)
    for d in ((2020, 1, 1), (2020, 2, 29), (2021, 12, 31), (2019, 7, 4), (2020, 6, 15), (2020, 10, 25))
)
PLAIN_MOMENTS: Final = tuple(
    d * _DAY + extra for d in PLAIN_DATES for extra in (0, 45_296_000_000, 9_000_000_000, 86_399_000_000)
)

DOUBLES: Final = (
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 2.5, -2.5, 1.5, 0.30000000000000004, 1e-320, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    -1.7976931348623157e308, float("nan"), float("inf"), float("-inf"), 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63, -(2.0**63), 9.3e18, 1e19,
    127.5, 128.0, 32768.0, 2147483647.0, 2147483648.0, 1e10, 1e-10, 123456789.125, 0.10000000149011612, 5.0, 1e38, 1e40, 0.005, 1.005, 2.675,
)  # fmt: skip
PLAIN_DOUBLES: Final = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, -1.0, -2.5, 4.25, 10.0, 0.125, 7.75)


# Java before 19 does not print these floats in the fewest digits.
_LONG_IN_JAVA_17: Final = {2.0**53, -(2.0**53), 2.0**31, 123456792.0}
FLOATS: Final = tuple(
    f
    for f in map(float32, (*DOUBLES, 0.1, 16777216.0, 16777218.0, 3.4028235e38, 1.4e-45))
    if f not in _LONG_IN_JAVA_17
)


def _one_of(*pools: tuple[Any, ...]) -> Draw:
    return lambda random_: random_.choice(random_.choice(pools))


def _integers(bits: int) -> Draw:
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    near = tuple(
        sorted(
            {
                min(max(v, ends[0]), ends[1])
                for v in (
                    -129,
                    -128,
                    127,
                    128,
                    255,
                    32767,
                    32768,
                    2**31,
                    -(2**31),
                    2**53 + 1,
                    2**53,
                    -(2**53) - 1,
                    2**24 + 1,
                )
            }
        )
    )
    return lambda random_: random_.choice(
        (
            random_.randint(-3, 8),
            random_.randint(-3, 8),
            random_.choice(near),
            random_.choice(ends),
            random_.randint(*ends),
        )
    )


def _decimals(precision: int, scale: int) -> Draw:
    largest = 10**precision - 1
    small = tuple(
        n
        for n in (
            0,
            1,
            -1,
            5,
            49,
            50,
            51,
            100,
            250,
            10**scale,
            5 * 10**scale,
            -(10**scale),
            25 * 10**scale // 10,
        )
        if abs(n) <= largest
    )

    def draw(random_: random.Random) -> str:
        n = random_.choice(
            (
                random_.choice(small),
                random_.choice(small),
                random_.choice((largest, -largest)),
                random_.randint(-largest, largest),
            )
        )
        # Spark rounds to 34 digits when it changes a decimal's sign: no longer ones here
        tail = 10 ** max(0, len(str(abs(n))) - 34)
        return decimal_text(abs(n) // tail * tail * (-1 if n < 0 else 1), scale)

    return draw


def decimal_text(unscaled: int, scale: int) -> str:
    """The decimal `unscaled * 10**-scale` as text.

    >>> decimal_text(-5, 2), decimal_text(7, 0)
    ('-0.05', '7')
    """
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign = "-" if unscaled < 0 else ""
    return (
        f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}"
        if scale
        else f"{sign}{digits}"
    )


def _plain_decimals(scale: int) -> Draw:
    steps = 10**scale // 4 or 1
    return lambda random_: decimal_text(random_.choice((-4, 1, 2, 3, 4, 6, 8, 12, 20)) * steps, scale)


def _list_of(item: Draw, shortest: int = 0, nulls: float = 0.15) -> Draw:
    def draw(random_: random.Random) -> list[Any]:
        length = random_.randint(shortest, 4)
        return [None if random_.random() < nulls else item(random_) for _ in range(length)]

    return draw


def _map_of(item: Draw) -> Draw:
    def draw(random_: random.Random) -> list[tuple[str, Any]]:
        keys = random_.sample(("a", "b", "k", "", "ß"), random_.randint(0, 4))
        return [(key, None if random_.random() < 0.15 else item(random_)) for key in keys]

    return draw


def _bytes(random_: random.Random) -> bytes:
    return random_.choice(
        (
            b"",
            b"\x00",
            b"\xff",
            b"a",
            b"ab",
            b"abc",
            b"\x00\x01",
            b"\xc3\x9f",
            b"\xc3",
            "ß".encode(),
            b"5",
            random_.randbytes(3),
        )
    )


def _boolean(random_: random.Random) -> bool:
    return random_.random() < 0.5


_INT: Final = _integers(32)
_TEXT: Final = _one_of(TEXTS)
_PLAIN: Final = _one_of((-1, 1, 2, 3, 4, 5))
_PLAIN_TEXT: Final = _one_of(
    ("", "a", "ab", "abc", "ABC", "aBc", " abc ", "ß", "straße", "é", "Σας", "😀x", "b", "zz", "a%b", "A_b")
)

NASTY: Final[dict[str, Draw]] = {
    "boolean": _boolean,
    "tinyint": _integers(8),
    "smallint": _integers(16),
    "int": _INT,
    "bigint": _integers(64),
    "float": _one_of(FLOATS),
    "double": _one_of(DOUBLES),
    "decimal(5,2)": _decimals(5, 2),
    "decimal(18,6)": _decimals(18, 6),
    "decimal(20,0)": _decimals(20, 0),
    "decimal(38,10)": _decimals(38, 10),
    "text": _TEXT,
    "number text": _one_of(GOOD_NUMBERS, GOOD_NUMBERS, BAD_NUMBERS, TEXTS),
    "date text": _one_of(DATE_TEXTS, DATE_TEXTS, EPOCH_TEXTS, TIME_TEXTS, TEXTS),
    "time text": _one_of(TIME_TEXTS, TIME_TEXTS, EPOCH_TEXTS, DATE_TEXTS, TEXTS),
    "binary": _bytes,
    "date": _one_of(DATES, DATES, DATES, DATES, FAR_DATES),
    "timestamp": _one_of(MOMENTS, MOMENTS, CLOCK_CHANGES, PLAIN_MOMENTS),
    "array<int>": _list_of(_INT),
    "array<string>": _list_of(_TEXT),
    "map<string,int>": _map_of(_INT),
}

BENIGN: Final[dict[str, Draw]] = {
    "boolean": _boolean,
    "tinyint": _PLAIN,
    "smallint": _PLAIN,
    "int": _PLAIN,
    "bigint": _PLAIN,
    "float": _one_of(PLAIN_DOUBLES),
    "double": _one_of(PLAIN_DOUBLES),
    "decimal(5,2)": _plain_decimals(2),
    "decimal(18,6)": _plain_decimals(6),
    "decimal(20,0)": _plain_decimals(0),
    "decimal(38,10)": _plain_decimals(10),
    "text": _PLAIN_TEXT,
    "number text": _one_of(PLAIN_NUMBERS),
    "date text": _one_of(DAY_TEXTS),
    "time text": _one_of(MOMENT_TEXTS),
    "binary": lambda random_: random_.choice((b"", b"a", b"ab", b"\xff\x00", "ß".encode())),
    "date": _one_of(PLAIN_DATES),
    "timestamp": _one_of(PLAIN_MOMENTS, PLAIN_MOMENTS, PLAIN_MOMENTS, CLOCK_CHANGES),
    "array<int>": _list_of(_PLAIN, 3),
    "array<string>": _list_of(_PLAIN_TEXT, 3),
    "map<string,int>": _map_of(_PLAIN),
}

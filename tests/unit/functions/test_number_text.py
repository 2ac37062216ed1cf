"""Numbers as Java 19 and later write them, and as Spark reads them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.functions.number_text import (
    double_text,
    fit_decimal,
    float_text,
    nearest_double,
    nearest_float,
    parse_decimal,
    parse_fraction,
)


@given(st.floats(allow_nan=False))
def test_doubles_read_back(value: float) -> None:
    number = parse_fraction(double_text(value))
    assert number is not None
    assert repr(nearest_double(number)) == repr(value)


@given(st.floats(width=32, allow_nan=False))
def test_floats_read_back(value: float) -> None:
    number = parse_fraction(float_text(value))
    assert number is not None
    assert repr(nearest_float(number)) == repr(value)


@given(st.fractions(), st.integers(-60, 40))
def test_floats_are_rounded_once(number: Fraction, exponent: int) -> None:
    number *= Fraction(2) ** exponent
    near = np.float32(nearest_float(number))
    around = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    assert all(
        abs(Fraction(float(near)) - number) <= abs(Fraction(float(other)) - number) for other in around
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0), (" 1 ", 1.0), ("\x011\x1f", 1.0), ("\xa01", None), ("1d", 1.0), ("1.5F", 1.5), (".5", 0.5), ("5.", 5.0),
        (".", None), ("1e", None), ("1e400", math.inf), ("-1e-400", -0.0), ("0x1p3", 8.0), ("0x1.8p1", 3.0), ("0x1", None),
        ("inf", math.inf), ("-iNf", -math.inf), ("+Infinity", math.inf), ("nan", math.nan), ("-NaN", math.nan), ("+nan", None),
        ("1_0", None), ("١", None), ("", None), ("1ff", None), ("-0", -0.0), ("1e10d", 1e10), ("9007199254740993", 2.0**53),
        ("1e999999999999", math.inf), ("1e-999999999999", 0.0),
    ],
)  # fmt: skip
def test_reading(text: str, value: float | None) -> None:
    number = parse_fraction(text)
    assert repr(None if number is None else nearest_double(number)) == repr(value)


def test_the_largest_float() -> None:
    half_way = Fraction(2**128 - 2**103)
    largest = float(np.finfo(np.float32).max)
    assert nearest_float(half_way - Fraction(1, 10**30)) == largest
    assert nearest_float(half_way) == math.inf


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.25", Decimal("1.3")), ("-1.25", Decimal("-1.3")), (" 1 ", Decimal("1.0")), ("1e3", Decimal("1000.0")), ("1e4", None),
        ("+.5e+1", Decimal("5.0")), ("5.", Decimal("5.0")), (".", None), ("1d", None), ("١٢", Decimal("12.0")), ("\x7f1", None),
        ("1E-100000", Decimal("0.0")), ("1E-99999999999", None), ("9999.95", None), ("9999.94", Decimal("9999.9")),
    ],
)  # fmt: skip
def test_decimals(text: str, value: Decimal | None) -> None:
    number = parse_decimal(text)
    assert repr(None if number is None else fit_decimal(number, 5, 1)) == repr(value)

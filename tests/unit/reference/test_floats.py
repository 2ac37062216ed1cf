"""Rounding to 32 bits, and the decimals that Java prints."""

from __future__ import annotations

import math
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from eddyline.model import types as t
from eddyline.reference.numbers.floats import as_text, nearest, round32, shortest


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_decimal_of_a_double_reads_back(value: float) -> None:
    decimal = shortest(value, t.DOUBLE)
    assert float(decimal) == value
    assert len(decimal.normalize().as_tuple().digits) <= max(
        2, len(Decimal(repr(value)).normalize().as_tuple().digits)
    )


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_decimal_of_a_float_reads_back(value: float) -> None:
    assert nearest(shortest(value, t.FLOAT), t.FLOAT) == value
    assert len(shortest(value, t.FLOAT).as_tuple().digits) <= 9 or value == 0


@given(st.floats(width=32))
def test_a_float_is_its_own_nearest(value: float) -> None:
    assert round32(value) == value or math.isnan(value)


def test_rounding_once_is_not_rounding_twice() -> None:
    above_a_middle = Decimal("1.00000005960464477539062501")  # its nearest double is the middle of two floats
    assert round32(float(above_a_middle)) == 1.0
    assert nearest(above_a_middle, t.FLOAT) == 1.0000001192092896
    assert nearest(2**62 + 2**38 + 1, t.FLOAT) == float(2**62 + 2**39)


def test_beyond_the_largest_float() -> None:
    middle = 2**128 - 2**103  # between the largest float and the next power of two
    assert nearest(middle, t.FLOAT) == math.inf
    assert nearest(middle - 1, t.FLOAT) == round32(3.4028234663852886e38)
    assert nearest(Decimal("-1e400"), t.DOUBLE) == -math.inf


def test_text() -> None:
    assert as_text(5e-324, t.DOUBLE) == "4.9E-324"
    assert as_text(1.1, t.DOUBLE) == "1.1"
    assert as_text(100.0, t.DOUBLE) == "100.0"
    assert as_text(round32(0.1), t.FLOAT) == "0.1"
    assert as_text(2147483648.0, t.FLOAT) == "2.1474836E9"
    assert as_text(-math.inf, t.FLOAT) == "-Infinity"
    assert as_text(math.nan, t.FLOAT) == "NaN"

"""Ranges as ordinals: a value lies in a set if and only if its ordinal lies between the bounds."""

import itertools
from decimal import Decimal

import numpy as np
import pytest

from eddyline.index.cutting import cut
from eddyline.index.keyed.ordinals import GREATEST, LEAST, bounds, constant_ordinals, has_ordinals
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.regions import Regions

INF, NAN = float("inf"), float("nan")
FLOATS = [
    -INF,
    -1.7e308,
    -1.0,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    2.2e-308,
    1.0,
    1.0000000000000002,
    1.7e308,
    INF,
    NAN,
]
LONGS = [LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST]
DECIMALS = [Decimal("-9.99"), Decimal("0.00"), Decimal("0.01"), Decimal("9.99")]
CASES = [(t.DOUBLE, FLOATS), (t.LONG, LONGS), (t.DecimalType(3, 2), DECIMALS), (t.BOOLEAN, [False, True])]


def ranges(kind: t.DataType, values: list) -> list[Regions]:
    """All ranges between two values, open and closed, with NaN where the type has it; no cut lies outside of the type."""
    constants = [value for value in values if value == value]
    least, greatest = min(constants), max(constants)
    found = [Regions.points([value]) for value in constants]
    for value in constants:
        for closed in (False, True):
            nans = (False, True) if t.is_fractional(kind) else (False,)
            if closed or value != greatest:
                found += [Regions.above(value, closed=closed, nan=nan) for nan in nans]
            if closed or value != least:
                found.append(Regions.below(value, closed=closed))
        found += [
            Regions.above(value, closed=True) & Regions.below(other, closed=True) for other in constants
        ]
    if t.is_fractional(kind):
        found += [Regions(nan=True), Regions(True, nan=True), Regions(True)]
    return [regions for regions in found if not regions.is_empty]


@pytest.mark.parametrize(("kind", "values"), CASES)
def test_bounds_hold_what_the_set_holds(kind: t.DataType, values: list) -> None:
    sets = ranges(kind, values)
    lows, highs = bounds(cut(Column("x", kind), []), sets)
    for regions, low, high in zip(sets, lows.tolist(), highs.tolist(), strict=True):
        for value, ordinal in zip(values, constant_ordinals(kind, values).tolist(), strict=True):
            assert (low <= ordinal <= high) == (value in regions), (str(regions), value)


def test_floats_order_as_spark_orders_them() -> None:
    ordinals = constant_ordinals(t.DOUBLE, FLOATS)
    assert (np.diff(ordinals) >= 0).all()
    assert (np.diff(ordinals) == 0).tolist() == [a == b for a, b in itertools.pairwise(FLOATS)]
    assert constant_ordinals(t.DOUBLE, [NAN, -NAN]).tolist() == [ordinals[-1]] * 2


def test_floats_of_32_bits_lie_among_doubles() -> None:
    assert constant_ordinals(t.FLOAT, [0.5]).tolist() == constant_ordinals(t.DOUBLE, [0.5]).tolist()


def test_open_ends_are_no_bounds() -> None:
    lows, highs = bounds(cut(Column("x", t.LONG), []), [Regions(True), Regions.below(3, closed=False)])
    assert (lows.tolist(), highs.tolist()) == ([LEAST, LEAST], [GREATEST, 2])


def test_types_without_ordinals_are_numbered_by_region() -> None:
    assert not has_ordinals(t.STRING) and not has_ordinals(t.DecimalType(38, 0))
    some = Regions.above("b", closed=True) & Regions.below("d", closed=False)
    lows, highs = bounds(cut(Column("x", t.STRING), [some]), [some])
    assert (lows.tolist(), highs.tolist()) == ([1], [2])

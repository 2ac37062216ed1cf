"""Any constants of any type, its ends and infinities among them: every way to locate values agrees with plain bisection."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.execute.keyed.key_lookup import lookup_of
from eddyline.execute.locating.locate import Locator, NumberLocator, locator, lookups
from eddyline.execute.locating.ordinals import ordinals
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import arrow_type
from eddyline.index.cutting import Cutting, Offsets, cut, narrowest
from eddyline.index.keyed.ordinals import bounds, has_ordinals
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of
from eddyline.testing.edges import edges, neighbours

KINDS = (
    t.BOOLEAN,
    *t.RANGE,
    t.FLOAT,
    t.DOUBLE,
    t.DecimalType(5, 2),
    t.DecimalType(18, 6),
    t.DecimalType(38, 10),
    t.STRING,
    t.BINARY,
)
by_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
by_whole_kind = pytest.mark.parametrize("kind", [*t.RANGE, t.DecimalType(18, 6)], ids=str)
by_numbered_kind = pytest.mark.parametrize("kind", [kind for kind in KINDS if has_ordinals(kind)], ids=str)
Values = list[Any]


@st.composite
def constants(draw: st.DrawFn, kind: t.DataType) -> Values:
    """Few or many, close together or far apart, of one sign or of both; often the ends of the type's range."""
    pool = edges(kind)
    places = st.sampled_from([0, len(pool) // 2, len(pool) - 1]) | st.integers(0, len(pool) - 1)
    first, last = sorted(draw(st.tuples(places, places)))
    inner = st.lists(st.integers(first, last), max_size=draw(st.sampled_from([0, 1, 3, 30])))
    drawn = [pool[place] for place in [first, *draw(inner), last]]
    beside = [next_to for constant in drawn for next_to in neighbours(kind, constant)]
    return sorted({*drawn, *(beside if draw(st.booleans()) else [])})


def values_around(kind: t.DataType, drawn: Values) -> Values:
    """Each constant, its neighbours, the whole range of the type, and what has no place in it."""
    near = [value for constant in drawn for value in [constant, *neighbours(kind, constant)]]
    odd = [math.nan, -0.0] if t.is_fractional(kind) else []
    return [*near, *odd, None, *edges(kind)]


def expected_ids(cutting: Cutting, drawn: Values, values: Values) -> list[int]:
    """Ids by bisection."""
    ids = []
    for value in values:
        below = 0 if value is None or value != value else bisect_left(drawn, value)
        hit = below < len(drawn) and drawn[below] == value
        if value is None:
            ids.append(cutting.null)
        elif value != value:
            ids.append(cutting.nan)
        elif cutting.points_only and isinstance(drawn[0], str | bytes):
            ids.append(2 * below + 1 if hit else 0)
        else:
            ids.append(2 * below + hit)
    return ids


def array(kind: t.DataType, values: Values) -> pa.Array:
    return pa.array(values, arrow_type(kind))


def located(by: Locator, cutting: Cutting, values: pa.Array) -> list[int]:
    ids = np.empty(len(values), cutting.id_type)
    by.locate(values, ids)
    return ids.tolist()


@by_kind
@settings(max_examples=20)
@given(st.data(), st.booleans())
def test_every_way_agrees_with_bisection(kind: t.DataType, data: st.DataObject, points: bool) -> None:
    drawn = data.draw(constants(kind))
    values = values_around(kind, drawn)
    given_values = array(kind, values)
    sets = [Regions.points(drawn)] + ([] if points else [Regions.below(drawn[0], closed=True)])
    cutting = cut(Column("x", kind), sets)
    expected = expected_ids(cutting, drawn, values)
    assert located(locator(cutting), cutting, given_values) == expected
    for name, lookup in lookups(cutting).items() if has_ordinals(kind) else ():
        assert located(NumberLocator(cutting, lookup), cutting, given_values) == expected, name

    places = np.empty(len(values), np.uint32)
    lookup_of(cutting).look_up(Evaluation({"x": given_values}), places)
    by_value = {value: place for place, value in enumerate(drawn)}
    assert places.tolist() == [by_value.get(value, len(drawn)) for value in values]


@by_whole_kind
@settings(max_examples=20)
@given(st.data())
def test_offsets_are_distances_from_the_least_constant(kind: t.DataType, data: st.DataObject) -> None:
    drawn = data.draw(constants(kind))
    cutting = narrowest(cut(Column("x", kind), [Regions.points(drawn)]))
    if not isinstance(cutting, Offsets):
        return
    values = values_around(kind, drawn)
    least, greatest = (int(code) for code in (cutting.constants[0], cutting.constants[-1]))
    codes = ordinals(array(kind, values), kind).tolist()
    expected = [
        cutting.null if value is None else min(max(code, least - 1), greatest + 1) - (least - 1)
        for value, code in zip(values, codes, strict=True)
    ]
    assert located(locator(cutting), cutting, array(kind, values)) == expected


@by_numbered_kind
@settings(max_examples=20)
@given(st.data(), st.booleans(), st.booleans(), st.booleans())
def test_a_range_of_values_is_a_range_of_ordinals(
    kind: t.DataType, data: st.DataObject, lower: bool, upper: bool, closed: bool
) -> None:
    drawn = data.draw(constants(kind))
    domain, nan = domain_of(kind), t.is_fractional(kind)
    regions = domain.intersection(
        [domain.everything]
        + ([Regions.above(drawn[0], closed=closed, nan=nan)] if lower else [])
        + ([Regions.below(drawn[-1], closed=closed)] if upper else [])
    )
    if len(regions.intervals()) != 1:
        return
    (low,), (high,) = bounds(cut(Column("x", kind), [regions]), [regions])
    values = [value for value in values_around(kind, drawn) if value is not None]
    found = [low <= ordinal <= high for ordinal in ordinals(array(kind, values), kind).tolist()]
    assert found == [value in regions for value in values], str(regions)

"""Region ids of values, against a plain search."""

import math
from decimal import Decimal

import numpy as np
import pytest

from eddyline.execute.locating.locate import locator
from eddyline.functions.evaluate.arrays import array_of
from eddyline.index.cutting import cut, narrowest
from eddyline.kernels import locate as kernels
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.regions import Regions

INF = math.inf
CASES = [
    (t.DOUBLE, [INF], [0.0, INF, -INF, math.nan, None]),
    (t.DOUBLE, [-INF, INF], [0.0, INF, -INF, math.nan, None]),
    (t.DOUBLE, [1e308, -1e308], [0.0, 1.7e308, -1.7e308, INF]),
    (t.DOUBLE, [10.0, 100.0, INF], [0.5, 10.0, 20.0, 500.0, 1e300, INF, -INF, math.nan, None]),
    (t.DOUBLE, [1e3, 1e6, 1e20, 1e308], [0.5, 1e3, 1e5, 1e7, 1.7e308, INF]),
    (t.FLOAT, [7.0, INF], [-INF, 0.5, 7.0, 8.0, 3.4e38, INF, math.nan, None]),
    (t.YEAR_MONTH, [6, 2**31 - 1], [-(2**31), 5, 6, 7, 2**31 - 1, None]),
    (t.DOUBLE, [5e-324, 0.0], [0.0, -0.0, 5e-324, 1.0, -1.0]),
    (t.DOUBLE, [1.0] + [2.0 + i * 1e-12 for i in range(100)] + [1e9], [2.0, 2.0 + 5e-11, 3.0, 0.0, math.nan]),
    (t.FLOAT, [0.5, 1.5], [0.5, 1.0, 1.5, 2.0, math.nan, None]),
    (t.LONG, [-(2**63), 2**63 - 1], [-(2**63), 0, 2**63 - 1, None]),
    (t.LONG, [2**63 - 3, 2**63 - 1], [-(2**63), 2**63 - 2, 2**63 - 1]),
    (t.LONG, [-(2**63), -(2**63) + 2], [-(2**63), -(2**63) + 1, 2**63 - 1]),
    (t.LONG, [5, 9], [-(2**63), 4, 5, 6, 9, 10, 2**63 - 1]),
    (t.BYTE, [-128, 127], [-128, 0, 127, None]),
    (t.BYTE, [-128], [-128, 0, 127, None]),
    (t.BYTE, [127], [-128, 126, 127]),
    (t.INT, [0, 65_000], [-(2**31), -1, 0, 1, 64_999, 65_000, 65_001, 2**31 - 1, None]),
    (t.INT, list(range(-300, 300)), [-(2**31), -301, -300, 0, 299, 300, 2**31 - 1]),
    (t.BOOLEAN, [True], [True, False, None]),
    (t.BOOLEAN, [False], [True, False, None]),
    (t.STRING, ["b", "d"], ["a", "b", "c", "d", "é", "", None]),
    (t.BINARY, [b"b"], [b"", b"b", b"c", None]),
    (t.SHORT, [-(2**15), 9], [-(2**15), 0, 9, 2**15 - 1, None]),
    (t.DATE, [-1, 20_000], [-(2**31), -1, 0, 20_000, None]),
    (t.TIMESTAMP, [-1, 10**15], [-(2**63), -1, 0, 10**15, None]),
    (t.TIMESTAMP_NTZ, [5], [4, 5, 6, None]),
    (t.DAY_TIME, [-(2**63), 86_400_000_000], [-(2**63), 0, 86_400_000_000, None]),
    (t.YEAR_MONTH, [1, 12], [-(2**31), 0, 1, 11, 12, 2**31 - 1, None]),
    (
        t.DecimalType(18, 2),
        [Decimal("-0.01"), Decimal("9.99")],
        [Decimal("-0.01"), Decimal(0), Decimal("9.99"), None],
    ),
    (
        t.DecimalType(38, 2),
        [Decimal("-0.01"), Decimal("9.99")],
        [Decimal("-0.01"), Decimal(0), Decimal("9.99"), None],
    ),
]


def test_every_type_is_located() -> None:
    assert {kind for kind, _, _ in CASES} >= {*t.ATOMIC, t.DAY_TIME, t.YEAR_MONTH} - {t.VOID}


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("ranges", [False, True])
@pytest.mark.parametrize("copies", [1, 300])
@pytest.mark.parametrize(("kind", "constants", "values"), CASES)
def test_ids_are_those_of_the_regions(kind, constants, values, copies, ranges, narrow) -> None:
    sets = [Regions.points(constants)] + ([Regions.below(constants[0], closed=True)] if ranges else [])
    cutting = cut(Column("x", kind), sets)
    cutting = narrowest(cutting) if narrow else cutting
    ids = np.empty(len(values) * copies, cutting.id_type)
    locator(cutting).locate(array_of(values * copies, kind), ids)
    for value, id in zip(values * copies, ids.tolist(), strict=True):
        for regions in sets:
            inside = any(low <= id <= high for low, high in cutting.ranges(regions))
            assert inside == (value in regions), (value, id, str(regions))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("spare", [0, 1, 64])
@pytest.mark.parametrize("offset", [0, 1, 7, 8, 13])
def test_nulls_are_marked_wherever_their_bits_lie(kind, spare, offset) -> None:
    drawn = np.random.default_rng(1)
    for rows in (0, 1, 63, 64, 65, 128, 513):
        valid = drawn.random(offset + rows) < 0.8
        bitmap = np.append(np.packbits(valid, bitorder="little"), np.zeros(spare, np.uint8))
        ids = drawn.integers(0, 100, rows).astype(kind)
        expected = np.where(valid[offset:], ids, 7)
        kernels.mark_nulls(bitmap, offset, 7, ids)
        assert np.array_equal(ids, expected)

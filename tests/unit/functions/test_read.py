"""Columns in every Arrow form that a stream may have."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from eddyline.functions.evaluate.arrays import arrow_type, values_of
from eddyline.functions.evaluate.read import read
from eddyline.model.catalog import spark_type

MAXIMUM = 2**63 - 1


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([255, None], pa.uint8()), [255, None]),
        (pa.array([2**16 - 1, None], pa.uint16()), [2**16 - 1, None]),
        (pa.array([2**32 - 1, None], pa.uint32()), [2**32 - 1, None]),
        (pa.array([2**64 - 1, None], pa.uint64()), [Decimal(2**64 - 1), None]),
        (pa.array([1.5, None], pa.float16()), [1.5, None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array([b"a", None], pa.large_binary()), [b"a", None]),
        (pa.array([b"a", None], pa.binary_view()), [b"a", None]),
        (pa.array([b"ab", None], pa.binary(2)), [b"ab", None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None])), ["x", None]),
        (pa.array([-1, None], pa.timestamp("ns")), [-1, None]),
        (pa.array([-1999, 1999], pa.timestamp("ns", "Europe/Vienna")), [-2, 1]),
        (pa.array([1, -1], pa.timestamp("ms")), [1000, -1000]),
        (pa.array([1, MAXIMUM], pa.timestamp("s", "UTC")), [1_000_000, None]),
        (pa.array([1, None], pa.timestamp("us", "Asia/Tokyo")), [1, None]),
        (pa.array([-1, 86_400_000], pa.date64()), [-1, 1]),
        (pa.array([1, None], pa.duration("ms")), [1000, None]),
        (pa.array([Decimal("1.5"), None], pa.decimal256(20, 1)), [Decimal("1.5"), None]),
        (pa.array([None, None], pa.null()), [None, None]),
        (pa.array([[1, None], None], pa.large_list(pa.uint8())), [[1, None], None]),
        (pa.array([[1, 2], None], pa.list_(pa.timestamp("s"), 2)), [[1_000_000, 2_000_000], None]),
        (pa.array([{"x": 1}, None], pa.struct([("x", pa.uint16())])), [(1,), None]),
        (pa.array([[("k", 1)], None], pa.map_(pa.large_string(), pa.uint8())), [[("k", 1)], None]),
        (pa.chunked_array([["a"], [None, "b"]]), ["a", None, "b"]),
        (pa.chunked_array([], pa.string()), []),
    ],
)
def test_every_form(column: pa.Array, values: list[object]) -> None:
    kind = spark_type(column.type)
    assert kind is not None
    array = read(column, kind).values
    assert array.type == arrow_type(kind)
    assert values_of(array, kind) == values


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 1, None, 3, 4], pa.uint32()),
        pa.array(["p", "q", None, "r", "s"], pa.large_string()).dictionary_encode(),
        pa.array([[0], [1], None, [3, 4], []], pa.large_list(pa.uint8())),
        pa.array(
            [[("a", 1)], None, [("b", 2), ("c", 3)], [], [("d", None)]], pa.map_(pa.string(), pa.uint8())
        ),
        pa.array([{"x": 1}, None, {"x": None}, {"x": 3}, {"x": 4}], pa.struct([("x", pa.uint8())])),
        pa.array([True, None, False, True, False]),
        pa.array([Decimal("0.1"), None, Decimal("0.3"), None, Decimal("0.5")], pa.decimal128(3, 1)),
    ],
)
@pytest.mark.parametrize("start", [0, 1, 3, 5])
def test_slices(column: pa.Array, start: int) -> None:
    kind = spark_type(column.type)
    assert kind is not None
    whole = values_of(read(column, kind).values, kind)
    assert values_of(read(column.slice(start, 2), kind).values, kind) == whole[start : start + 2]


def test_a_time_that_does_not_fit_has_failed() -> None:
    column = pa.array([MAXIMUM, 1, None], pa.timestamp("ms"))
    kind = spark_type(column.type)
    assert kind is not None
    failed = read(column, kind).failed
    assert failed is not None
    assert failed.tolist() == [True, False, False]


def test_elements_under_null_do_not_count() -> None:
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3]), pa.array([1, 2, 3]), mask=pa.array([True, False]))
    kind = spark_type(lists.type)
    assert kind is not None
    assert values_of(lists, kind) == [None, [3]]

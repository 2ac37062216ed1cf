"""Keys of tuples as 64-bit numbers."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from eddyline.functions.evaluate import Evaluation
from eddyline.join.keys import Keys, hashed, keys_of, may_be_hashed, same_values
from eddyline.model import types as t
from eddyline.model.expression import Call, Column
from eddyline.model.roles import StemKey


def key(*kinds: t.DataType, safe: bool = False) -> StemKey:
    columns = tuple(Column(str(place), kind) for place, kind in enumerate(kinds))
    return StemKey("s", columns, (safe,) * len(kinds))


def keys(of: StemKey, *columns: pa.Array) -> Keys:
    batch = {str(place): column for place, column in enumerate(columns)}
    return keys_of(of, Evaluation(batch), len(columns[0]))


def classes(codes: np.ndarray) -> list[int]:
    """For each code the place of the first one that equals it."""
    return [codes.tolist().index(code) for code in codes.tolist()]


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        (t.BOOLEAN, pa.array([True, False, True])),
        (t.BYTE, pa.array([-1, 5, -1], pa.int8())),
        (t.LONG, pa.array([2**63 - 1, -(2**63), 2**63 - 1])),
        (t.DATE, pa.array([1, 2, 1], pa.date32())),
        (t.TIMESTAMP, pa.array([1, 2, 1], pa.timestamp("us", "UTC"))),
        (
            t.DecimalType(18, 2),
            pa.array([Decimal("1.25"), Decimal("-7.00"), Decimal("1.25")], pa.decimal128(18, 2)),
        ),
        (t.STRING, pa.array(["seven__", "", "seven__"])),
        (t.BINARY, pa.array([b"\0", b"\0\0", b"\0"])),
    ],
)
def test_one_value_is_its_own_code(kind: t.DataType, column: pa.Array) -> None:
    found = keys(key(kind), column)
    assert classes(found.codes) == [0, 1, 0]
    assert found.valid is None
    assert not hashed(key(kind), found.codes).any()


def test_there_is_one_zero_and_one_nan() -> None:
    other_nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    found = keys(key(t.DOUBLE), pa.array([0.0, -0.0, np.nan, other_nan, 1.5]))
    assert classes(found.codes) == [0, 0, 2, 2, 4]


def test_long_texts_have_codes_below_zero() -> None:
    texts = pa.array(["short", "eight___", "quite a long text", "quite a long text", "quite a long texT"])
    found = keys(key(t.STRING), texts)
    assert classes(found.codes) == [0, 1, 2, 2, 4]
    assert hashed(key(t.STRING), found.codes).tolist() == [False, True, True, True, True]


def test_a_dictionary_has_the_codes_of_its_values() -> None:
    texts = pa.array(["b", "a long text it is", None, "b"])
    plain, encoded = keys(key(t.STRING), texts), keys(key(t.STRING), texts.dictionary_encode())
    assert plain.valid is not None and encoded.valid is not None
    assert plain.valid.tolist() == encoded.valid.tolist() == [True, True, False, True]
    assert plain.codes[plain.valid].tolist() == encoded.codes[plain.valid].tolist()


def test_null_among_the_values_of_a_dictionary_is_null() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), pa.array(["a", None]))
    found = keys(key(t.STRING), column)
    assert found.valid is not None
    assert found.valid.tolist() == [True, False, True]


def test_null_has_no_key_unless_it_equals_itself() -> None:
    column = pa.array([1, None, None])
    strict, safe = keys(key(t.LONG), column), keys(key(t.LONG, safe=True), column)
    assert strict.valid is not None and strict.valid.tolist() == [True, False, False]
    assert safe.valid is None
    assert classes(safe.codes) == [0, 1, 1]


def test_several_parts_are_told_apart_by_their_order() -> None:
    found = keys(key(t.LONG, t.LONG), pa.array([1, 2, 1, None]), pa.array([2, 1, 2, 2]))
    assert classes(found.codes[:3]) == [0, 1, 0]
    assert found.valid is not None and found.valid.tolist() == [True, True, True, False]
    assert hashed(key(t.LONG, t.LONG), found.codes).all()


def test_decimals_of_many_digits_are_hashed() -> None:
    wide = t.DecimalType(38, 0)
    column = pa.array([Decimal(2**64), Decimal(0), Decimal(2**64)], pa.decimal128(38, 0))
    assert classes(keys(key(wide), column).codes) == [0, 1, 0]
    assert may_be_hashed(key(wide)) and not may_be_hashed(key(t.DecimalType(18, 3)))


def test_values_are_compared_where_hashes_are_not_enough() -> None:
    left, right = pa.array([1, None, 1, None]), pa.array([1, None, 2, 3])
    assert same_values(key(t.LONG), [left], [right]).tolist() == [True, False, False, False]
    assert same_values(key(t.LONG, safe=True), [left], [right]).tolist() == [True, True, False, False]


def test_a_failing_cast_is_null() -> None:
    number = Call("cast", (Column("0", t.STRING),), t.LONG)
    evaluation = Evaluation({"0": pa.array(["1", "x"])})
    found = keys_of(StemKey("s", (number,), (False,)), evaluation, 2)
    assert found.valid is not None and found.valid.tolist() == [True, False]

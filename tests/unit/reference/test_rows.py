"""Every Arrow type that a stream may have, as Python values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.errors import SchemaError
from eddyline.model.catalog import Stream
from eddyline.reference import rows
from eddyline.reference.rows import values

ZONED = pa.timestamp("us", "Europe/Paris")
LONG = 2**63 - 1


def integers(numbers: list[int | None], kind: pa.DataType) -> pa.Array:
    return pa.array(numbers, pa.int64()).view(kind)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([None, True], pa.bool_()), [None, True]),
        (pa.array([255], pa.uint8()), [255]),
        (pa.array([2**64 - 1, None], pa.uint64()), [Decimal(2**64 - 1), None]),
        (pa.array(np.array([0.1], np.float16)), [0.0999755859375]),
        (pa.array([0.1], pa.float32()), [0.10000000149011612]),
        (pa.array(["ä", None], pa.large_string()), ["ä", None]),
        (pa.array(["ä", None], pa.string_view()), ["ä", None]),
        (pa.array(["x", "y", None, "x"]).dictionary_encode(), ["x", "y", None, "x"]),
        (pa.array([b"\xff", None], pa.binary_view()), [b"\xff", None]),
        (pa.array([b"ab", None], pa.binary(2)), [b"ab", None]),
        (pa.array([b"a\xff"]).view(pa.string()), ["a\udcff"]),
        (pa.array([Decimal("1.5")], pa.decimal256(10, 3)), [Decimal("1.500")]),
        (pa.array([Decimal("1.5")], pa.decimal32(5, 2)), [Decimal("1.50")]),
        (pa.array([2**31 - 1, None], pa.int32()).view(pa.date32()), [2**31 - 1, None]),
        (integers([-1, 86_400_000, None], pa.date64()), [-1, 1, None]),
        (integers([LONG, None], pa.date64()), [None, None]),
        (integers([LONG, -1, None], ZONED), [LONG, -1, None]),
        (integers([-1, 1999], pa.timestamp("ns")), [-1, 1]),
        (integers([-1], pa.timestamp("ms")), [-1000]),
        (integers([5, LONG], pa.timestamp("s")), [5_000_000, None]),
        (integers([1500], pa.duration("ns")), [1]),
        (pa.array([[1, None], [], None], pa.large_list(pa.int8())), [[1, None], [], None]),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), [[1, 2], None]),
        (
            pa.array([[("k", 1), ("l", None)], None], pa.map_(pa.string(), pa.int8())),
            [[("k", 1), ("l", None)], None],
        ),
        (
            pa.array([{"x": 1, "y": None}, None], pa.struct([("x", pa.int8()), ("y", pa.string())])),
            [(1, None), None],
        ),
        (pa.array([[{"x": [5]}]], pa.list_(pa.struct([("x", pa.list_(ZONED))]))), [[([5],)]]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_values(array: pa.Array, expected: list[Any]) -> None:
    assert repr(values(array)) == repr(expected)
    if not pa.types.is_null(array.type):
        around = pa.concat_arrays([pa.nulls(1, array.type), array, pa.nulls(1, array.type)])
        assert repr(values(around.slice(1, len(array)))) == repr(expected)


def test_rows_of_a_table_of_several_pieces() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.time32("s")), ("c", pa.string())])
    stream = Stream("s", schema)
    batches = [
        pa.RecordBatch.from_pylist([{"a": 1, "b": None, "c": "x"}], schema),
        pa.RecordBatch.from_pylist([{"a": None, "b": None, "c": None}], schema),
    ]
    assert rows(pa.Table.from_batches(batches), stream) == [{"a": 1, "c": "x"}, {"a": None, "c": None}]


def test_a_stream_without_a_column_that_has_a_type() -> None:
    schema = pa.schema([("b", pa.time32("s"))])
    assert rows(pa.RecordBatch.from_pylist([{"b": None}] * 3, schema), Stream("s", schema)) == [{}, {}, {}]


def test_a_batch_that_does_not_fit() -> None:
    stream = Stream("s", pa.schema([("a", pa.int64())]))
    with pytest.raises(SchemaError, match='has no column "a"'):
        rows(pa.record_batch({"b": [1]}), stream)
    with pytest.raises(SchemaError, match='column "a" of stream "s" is bigint'):
        rows(pa.record_batch({"a": ["x"]}), stream)

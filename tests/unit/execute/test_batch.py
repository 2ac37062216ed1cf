"""What a batch may look like: its forms, its types, and what is said of one that does not fit."""

from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eddyline import QuerySet, SchemaError, Stream

STREAM = Stream("s", pa.schema([("a", pa.int64()), ("t", pa.string()), ("unused", pa.date32())]))
QUERIES = {"big": "SELECT * FROM s WHERE a > 1", "x": "SELECT * FROM s WHERE t = 'x'"}
EXPECTED = {"big": 2, "x": 1}
PLAIN = {"a": [1, 2, 3, None], "t": ["x", "y", None, "z"]}


def counts(batch: object) -> dict[str, int]:
    return QuerySet.build(QUERIES, streams=[STREAM]).match(batch).counts()


@pytest.mark.parametrize(
    "batch",
    [
        pa.record_batch(PLAIN),
        pa.table(PLAIN),
        pa.concat_tables([pa.table(PLAIN).slice(0, 1), pa.table(PLAIN).slice(1)]),
        pa.record_batch({"a": [9, *PLAIN["a"]], "t": ["x", *PLAIN["t"]]}).slice(1),
        pa.record_batch({**PLAIN, "more": [1, 2, 3, 4]}),
        pa.record_batch({"T": PLAIN["t"], "A": PLAIN["a"]}),
        pa.record_batch(
            {"a": pa.array(PLAIN["a"], pa.int8()), "t": pa.array(PLAIN["t"]).dictionary_encode()}
        ),
        pa.record_batch(
            {"a": pa.array(PLAIN["a"], pa.uint32()), "t": pa.array(PLAIN["t"], pa.large_string())}
        ),
        pa.record_batch({"a": PLAIN["a"], "t": pa.array(PLAIN["t"], pa.string_view())}),
        pd.DataFrame({"a": pd.array(PLAIN["a"], "Int64"), "t": PLAIN["t"]}),
        pl.DataFrame(PLAIN),
    ],
)
def test_forms(batch: object) -> None:
    assert counts(batch) == EXPECTED


@pytest.mark.parametrize(
    ("declared", "given", "value", "constant"),
    [
        (pa.float64(), pa.float32(), 1.5, "1.5D"),
        (pa.float64(), pa.int32(), 2, "2"),
        (pa.float32(), pa.int16(), 2, "2"),
        (pa.decimal128(20, 4), pa.decimal128(10, 2), Decimal("1.50"), "1.5"),
        (pa.decimal128(20, 2), pa.int32(), 3, "3"),
        (pa.int64(), pa.null(), None, "3"),
    ],
)
def test_widenings(declared: pa.DataType, given: pa.DataType, value: object, constant: str) -> None:
    stream = Stream("s", pa.schema([("a", declared)]))
    queries = QuerySet.build({"q": f"SELECT * FROM s WHERE a = {constant}"}, streams=[stream])
    found = queries.match(pa.record_batch({"a": pa.array([value, None], given)})).counts()
    assert found == {"q": int(value is not None)}


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (pa.int32(), pa.int64()),
        (pa.float64(), pa.int64()),
        (pa.float64(), pa.decimal128(5, 2)),
        (pa.float32(), pa.float64()),
        (pa.decimal128(5, 0), pa.int32()),
        (pa.decimal128(10, 2), pa.decimal128(10, 4)),
        (pa.timestamp("us", "UTC"), pa.date32()),
        (pa.timestamp("us", "UTC"), pa.timestamp("us")),
        (pa.string(), pa.int32()),
        (pa.string(), pa.binary()),
        (pa.int64(), pa.time32("s")),
    ],
)
def test_other_types_are_refused_by_name(declared: pa.DataType, given: pa.DataType) -> None:
    stream = Stream("s", pa.schema([("a", declared)]))
    queries = QuerySet.build({"q": "SELECT * FROM s WHERE a IS NULL"}, streams=[stream])
    with pytest.raises(SchemaError, match='column "a" of the batch for stream "s"'):
        queries.match(pa.record_batch({"a": pa.array([None], given)}))


def test_missing_columns_and_strange_batches_are_refused_by_name() -> None:
    with pytest.raises(SchemaError, match='the batch for stream "s" has no column "t"'):
        counts(pa.record_batch({"a": [1]}))
    with pytest.raises(SchemaError, match="not list"):
        counts([1, 2])


def test_nothing_in_nothing_out() -> None:
    assert counts(pa.record_batch(PLAIN).slice(0, 0)) == {"big": 0, "x": 0}
    empty = QuerySet.build({}, streams=[STREAM])
    assert len(empty.match(pa.record_batch(PLAIN))) == 0

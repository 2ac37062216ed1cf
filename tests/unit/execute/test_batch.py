"""What a batch may look like: its forms, its types, and what is said of one that does not fit."""

import re
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


@pytest.mark.parametrize(
    ("declared", "given", "fitting", "unfit"),
    [
        (
            pa.int64(),
            pa.float64(),
            [1.0, None, -3.0, 2.0**53],
            [0.5, float("nan"), float("inf"), 2.0**53 + 2, 1e300],
        ),
        (pa.int16(), pa.float64(), [32767.0, None], [32768.0]),
        (pa.int64(), pa.float32(), [2.0**24], [2.0**24 + 2]),
        (pa.int32(), pa.dictionary(pa.int8(), pa.float64()), [7.0, None], [7.5]),
        (
            pa.decimal128(10, 2),
            pa.decimal128(38, 2),
            [Decimal("1.50"), None, Decimal("99999999.99")],
            [Decimal("100000000.00")],
        ),
        (pa.decimal128(10, 2), pa.decimal128(10, 4), [Decimal("1.5000")], [Decimal("1.5050")]),
        (pa.list_(pa.int64()), pa.list_(pa.float64()), [[1.0, None], None], [[1.5]]),
    ],
)
def test_types_that_a_library_chose_fit_by_their_values(
    declared: pa.DataType, given: pa.DataType, fitting: list[object], unfit: list[object]
) -> None:
    stream = Stream("s", pa.schema([("a", declared)]))
    queries = QuerySet.build({"q": "SELECT * FROM s WHERE a IS NOT NULL"}, streams=[stream])
    found = queries.match(pa.record_batch({"a": pa.array(fitting, given)}))
    assert found.rows("q").tolist() == [i for i, value in enumerate(fitting) if value is not None]
    for value in unfit:
        words = str(value[0] if isinstance(value, list) else value)
        with pytest.raises(
            SchemaError, match=rf'column "a" of the batch for stream "s" .*{re.escape(words)}, which is no'
        ):
            queries.match(pa.record_batch({"a": pa.array([*fitting, value], given)}))


def test_what_no_query_reads_is_not_converted() -> None:
    strange = [object(), 1, "x", None]
    assert counts(pd.DataFrame({**PLAIN, "unused": strange, "unknown": strange})) == EXPECTED
    assert (
        counts(pl.DataFrame(PLAIN).with_columns(pl.Series("unknown", strange, dtype=pl.Object))) == EXPECTED
    )
    everything = QuerySet.build({"all": "SELECT * FROM s"}, streams=[STREAM])
    assert everything.match(pd.DataFrame({"unknown": strange})).counts() == {"all": 4}


def test_what_pandas_cannot_tell_is_refused_by_name() -> None:
    with pytest.raises(SchemaError, match='column "t" of the batch for stream "s" cannot be read'):
        counts(pd.DataFrame({"a": [1, 2], "t": ["x", 5]}))
    with pytest.raises(SchemaError, match="its columns are b, c"):
        counts(pd.DataFrame({"b": [1, 2], "c": ["x", "y"]}))


def test_missing_columns_and_strange_batches_are_refused_by_name() -> None:
    with pytest.raises(SchemaError, match='the batch for stream "s" has no column "t"'):
        counts(pa.record_batch({"a": [1]}))
    with pytest.raises(SchemaError, match="not list"):
        counts([1, 2])


def test_nothing_in_nothing_out() -> None:
    assert counts(pa.record_batch(PLAIN).slice(0, 0)) == {"big": 0, "x": 0}
    empty = QuerySet.build({}, streams=[STREAM])
    assert len(empty.match(pa.record_batch(PLAIN))) == 0

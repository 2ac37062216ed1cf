"""Spark's schemas as streams and back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Stream
from eddyline.errors import SchemaError
from eddyline.model import types as t
from eddyline.model.catalog import spark_type
from eddyline.runtime.spark.base.schemas import (
    ddl,
    find_columns,
    foreign_collation,
    misfit,
    stream_of,
    struct_of,
)
from eddyline.testing.rows import EVERYTHING

types = pytest.importorskip("pyspark.sql.types", reason="the extra 'spark' is not installed")


def test_there_and_back() -> None:
    struct = struct_of(EVERYTHING)
    assert struct.names == EVERYTHING.schema.names
    again = stream_of("everything", struct)
    assert again.types == EVERYTHING.types
    assert find_columns(struct, EVERYTHING, EVERYTHING.schema.names) == {n: n for n in struct.names}


def test_types_without_a_place_are_left_out() -> None:
    struct = types.StructType(
        [
            types.StructField("v", types.VariantType()),
            types.StructField("years", types.YearMonthIntervalType()),
            types.StructField("days", types.DayTimeIntervalType()),
            types.StructField("text", types.VarcharType(3)),
            types.StructField("inside", types.ArrayType(types.VariantType())),
        ]
    )
    assert stream_of("s", struct).schema == pa.schema([("days", pa.duration("us")), ("text", pa.string())])
    with pytest.raises(SchemaError, match='column "v" of the DataFrame for stream "s" has the type variant'):
        find_columns(struct, Stream("s", pa.schema([("v", pa.string())])), ["v"])


def test_a_type_that_spark_does_not_have() -> None:
    with pytest.raises(SchemaError, match='column "t" of stream "s" has the type time32'):
        ddl(Stream("s", pa.schema([("t", pa.time32("s"))])))


def test_collations_are_found_inside() -> None:
    lower = types.StringType("UTF8_LCASE")
    assert foreign_collation(types.MapType(types.StringType(), types.ArrayType(lower))) == "UTF8_LCASE"
    assert foreign_collation(types.StructType([types.StructField("a", lower)])) == "UTF8_LCASE"
    assert foreign_collation(types.StringType()) is None


def inside(**fields: pa.DataType) -> pa.DataType:
    return pa.struct(list(fields.items()))


LONG, INT, FLOAT, DOUBLE = pa.int64(), pa.int32(), pa.float32(), pa.float64()
WHOLE = inside(x=INT, y=pa.list_(DOUBLE))


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        ([("a", LONG), ("b", WHOLE), ("more", pa.time32("s"))], None),
        ([("B", inside(Y=pa.list_(FLOAT), z=INT, X=pa.int8())), ("A", INT)], None),
        ([("a", LONG)], 'it has no column "b"'),
        ([("a", LONG), ("b", inside(x=INT))], 'it has no column "b.y"'),
        ([("a", LONG), ("A", INT), ("b", WHOLE)], 'it has the column "a" more than once'),
        ([("a", pa.string()), ("b", WHOLE)], 'its column "a" has the type string, but bigint is'),
        ([("a", pa.time32("s")), ("b", WHOLE)], 'its column "a" has a type that queries do not know'),
        (
            [("a", INT), ("b", inside(x=LONG, y=pa.list_(DOUBLE)))],
            'its column "b.x" has the type bigint, but int',
        ),
        (
            [("a", INT), ("b", inside(x=INT, y=pa.list_(LONG)))],
            'its column "b.y.element" has the type bigint',
        ),
        ([("a", INT), ("b", INT)], 'its column "b" has the type int, but struct<'),
    ],
)
def test_files_that_fit(stated: list[tuple[str, pa.DataType]], problem: str | None) -> None:
    found = misfit(
        [(name, spark_type(kind)) for name, kind in stated], [("a", t.LONG), ("b", spark_type(WHOLE))]
    )
    assert found == problem or (problem is not None and found is not None and found.startswith(problem))

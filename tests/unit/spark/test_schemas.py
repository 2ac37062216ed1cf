"""Spark's schemas as streams and back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Stream
from eddyline.errors import SchemaError
from eddyline.runtime.spark.schemas import ddl, find_columns, foreign_collation, stream_of, struct_of
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

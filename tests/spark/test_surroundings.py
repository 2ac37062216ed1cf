"""Settings of a user's session: queries go by them, or they are refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.errors import SchemaError, SetupError
from eddyline.spark import match
from tests.differential.judge import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = Stream("events", pa.schema([("at", pa.timestamp("us", "UTC")), ("name", pa.string())]))
TEXTS = {"ten": "SELECT * FROM events WHERE hour(at) = 10", "x": "SELECT * FROM events WHERE name = 'x'"}
QUERIES = QuerySet.build(TEXTS, streams=[EVENTS])


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("spark.sql.ansi.enabled", "false", "queries follow Spark's ANSI rules"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ", "TIMESTAMP is a point in time in queries"),
        ("spark.sql.session.timeZone", "Asia/Tokyo", "the queries were compiled for UTC"),
    ],
)
def test_refused_by_name(spark: SparkSession, name: str, value: str, reason: str) -> None:
    df = spark.sql("SELECT TIMESTAMP_LTZ'2020-01-01 10:00:00Z' AS at, 'x' AS name")
    with settings(spark, **{name.replace(".", "__"): value}), pytest.raises(SetupError) as caught:
        df.transform(match(QUERIES))
    assert f"{name} = {value}, but {reason}" in str(caught.value)
    assert caught.value.hint is not None and "spark.conf.set" in caught.value.hint


def test_time_zone_of_the_session(spark: SparkSession) -> None:
    queries = QuerySet.build(TEXTS, streams=[EVENTS], time_zone="Asia/Tokyo")
    with settings(spark, spark__sql__session__timeZone="Asia/Tokyo"):
        df = spark.sql("SELECT TIMESTAMP_LTZ'2020-01-01 01:00:00Z' AS at, 'x' AS name")
        for way in ("rows", "lists"):
            assert df.transform(match(queries, _way=way)).collect()[0]["query_ids"] == ["ten", "x"]


def test_case_sensitive_session(spark: SparkSession) -> None:
    with settings(spark, spark__sql__caseSensitive="true"):
        df = spark.sql(
            "SELECT TIMESTAMP_LTZ'2020-01-01 10:00:00Z' AS AT, 'x' AS Name, 1 AS other, 2 AS Other"
        )
        assert df.transform(match(QUERIES)).collect()[0]["query_ids"] == ["ten", "x"]
        twice = spark.sql("SELECT TIMESTAMP_LTZ'2020-01-01 10:00:00Z' AS at, 'x' AS name, 'y' AS NAME")
        with pytest.raises(SchemaError, match='has the column "name" more than once'):
            twice.transform(match(QUERIES))

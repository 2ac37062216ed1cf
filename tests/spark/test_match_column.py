"""`match_column`: the queries of a row as an expression; runs on both kinds of session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eddyline import QuerySet
from eddyline.errors import EddylineError, SchemaError
from eddyline.spark import match_column, spark_resolver
from tests.spark.test_match import QUERIES, QUOTES, plan, quotes, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["quotes"]


def test_a_column_of_ids_or_numbers(quotes: DataFrame) -> None:
    ids = quotes.select("extra", match_column(QUERIES).alias("found"))
    assert rows(ids) == [(7, ["cheap", "a"]), (8, []), (9, ["a"])]
    kind: Any = ids.schema["found"].dataType
    assert kind.simpleString() == "array<string>" and not kind.containsNull
    numbers = quotes.withColumn("found", match_column(QUERIES, ids="number"))
    assert [row["found"] for row in numbers.collect()] == [[0, 2], [], [2]]


def test_other_columns_instead(quotes: DataFrame) -> None:
    from pyspark.sql import functions as F

    renamed = quotes.toDF("a.b", "cost", "extra")
    read = {"SYMBOL": "`a.b`", "price": F.col("cost") * 100}
    assert rows(renamed.select(match_column(QUERIES, columns=read))) == [(["a"],), ([],), (["a"],)]
    with pytest.raises(SchemaError, match='stream "quotes" has no column "prise"'):
        match_column(QUERIES, columns={"prise": "cost"})


def test_it_is_evaluated_once(quotes: DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    found = quotes.withColumn("found", match_column(QUERIES)).where("size(found) > 0 AND extra > 7")
    assert plan(found.select("found"), capsys).count("ArrowEvalPython") == 1
    assert rows(found.select("found")) == [(["a"],)]


def test_in_front_of_a_join_and_an_aggregation(spark: SparkSession, quotes: DataFrame) -> None:
    from pyspark.sql import functions as F

    found = quotes.select("extra", F.explode(match_column(QUERIES)).alias("id"))
    owners = spark.createDataFrame([("a", "ann"), ("cheap", "bob")], "id string, owner string")
    counted = found.join(owners, "id").groupBy("owner").agg(F.count("*")).orderBy("owner")
    assert rows(counted) == [("ann", 2), ("bob", 1)]


def test_queries_that_read_no_column(spark: SparkSession, quotes: DataFrame) -> None:
    everything = QuerySet.build({"all": "SELECT * FROM quotes"}, streams=[QUOTES])
    assert rows(quotes.select(match_column(everything))) == [(["all"],)] * 3


def test_what_does_not_fit(spark: SparkSession, quotes: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(EddylineError, match="takes a QuerySet, not dict"):
        match_column({})  # type: ignore[arg-type]
    with pytest.raises(EddylineError, match='ids is "id" or "number"'):
        match_column(QUERIES, ids="name")  # type: ignore[arg-type]
    texts = {"near": "SELECT * FROM quotes WHERE levenshtein(symbol, 'ACME') < 2"}
    near = QuerySet.build(texts, streams=[QUOTES], resolver=spark_resolver(spark, [QUOTES]))
    with pytest.raises(EddylineError, match="functions that only Spark has"):
        match_column(near)
    wrong = quotes.select("symbol", quotes["symbol"].alias("price")).select(match_column(QUERIES))
    with pytest.raises(Exception, match='column "price"'):
        wrong.collect()

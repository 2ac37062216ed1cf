"""`count` gives what `match` gives, grouped and counted, and what the embedded engine counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import EddylineError, QuerySet, SchemaError, Stream
from eddyline.spark import count, match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUOTES = Stream(
    "quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())])
)
QUERIES = {
    "all": "SELECT * FROM quotes",
    "cheap": "SELECT * FROM quotes WHERE price < 10",
    "big": "SELECT symbol FROM quotes WHERE volume * price > 5000",
    "never": "SELECT * FROM quotes WHERE price < 0",
    "gone": "SELECT * FROM quotes WHERE price > 1",
}


@pytest.fixture
def queries() -> QuerySet:
    return QuerySet.build(QUERIES, streams=[QUOTES]).remove(["gone"])


@pytest.fixture
def quotes(spark: SparkSession) -> DataFrame:
    return spark.range(3_000).selectExpr(
        "id", "concat('S', id % 7) AS symbol", "if(id % 11 = 0, NULL, id % 90) + 0D AS Price", "id AS volume"
    )


@pytest.mark.parametrize("ids", ["id", "number"])
def test_counts_are_those_of_the_matches(quotes: DataFrame, queries: QuerySet, ids: str) -> None:
    key = "query_number" if ids == "number" else "query_id"
    counted = quotes.repartition(2).transform(count(queries, ids=ids))
    assert counted.columns == [key, "matches"]
    matched = quotes.transform(match(queries, ids=ids, explode=True)).groupBy(key).count()
    found = {row[0]: row[1] for row in counted.collect()}
    assert found == {row[0]: row[1] for row in matched.collect()}
    if ids == "id":
        embedded = queries.count(quotes.select("symbol", "price", "volume").toArrow())
        assert found == {id: matches for id, matches in embedded.items() if matches}
        assert "never" not in found and "gone" not in found


def test_queries_that_read_no_column_are_counted(quotes: DataFrame) -> None:
    everything = QuerySet.build({"all": QUERIES["all"]}, streams=[QUOTES])
    assert [tuple(row) for row in quotes.transform(count(everything)).collect()] == [("all", 3_000)]
    assert quotes.limit(0).transform(count(everything)).collect() == []


def test_what_is_asked_for_wrongly_is_refused(quotes: DataFrame, queries: QuerySet) -> None:
    with pytest.raises(EddylineError, match="ids is"):
        count(queries, ids="name")
    with pytest.raises(SchemaError, match='no column "price"'):
        quotes.drop("price").transform(count(queries))

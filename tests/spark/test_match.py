"""What `match` gives, what crosses to Python for it, and what it refuses; runs on both kinds of session."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.errors import EddylineError, SchemaError
from eddyline.runtime.spark.transport import shipping
from eddyline.spark import match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WAYS = ("rows", "lists")
QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
QUERIES = QuerySet.build(
    {
        "cheap": "SELECT * FROM quotes WHERE price < 10",
        "odd": "SELECT * FROM quotes WHERE symbol = 'none'",
        "a": "SELECT * FROM quotes WHERE symbol = 'A'",
    },
    streams=[QUOTES],
)


@pytest.fixture
def quotes(spark: SparkSession) -> DataFrame:
    rows = [("A", 1.0, 7), ("B", 20.0, 8), ("A", None, 9)]
    return spark.createDataFrame(rows, "symbol string, price double, extra int")


def rows(df: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in df.collect()]


def plan(df: DataFrame, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    df.explain()
    return capsys.readouterr().out


@pytest.mark.parametrize("way", WAYS)
def test_every_form_of_the_result(quotes: DataFrame, way: str) -> None:
    def given(**options: Any) -> list[tuple[Any, ...]]:
        return rows(quotes.transform(match(QUERIES, _way=way, **options)))

    first, second, third = ("A", 1.0, 7), ("B", 20.0, 8), ("A", None, 9)
    assert given() == [(*first, ["cheap", "a"]), (*third, ["a"])]
    assert given(ids="number") == [(*first, [0, 2]), (*third, [2])]
    assert given(keep_unmatched=True) == [(*first, ["cheap", "a"]), (*second, []), (*third, ["a"])]
    assert given(explode=True) == [(*first, "cheap"), (*first, "a"), (*third, "a")]
    assert given(explode=True, ids="number", keep_unmatched=True) == [
        (*first, 0),
        (*first, 2),
        (*second, None),
        (*third, 2),
    ]


@pytest.mark.parametrize("way", WAYS)
def test_schema_of_the_result(quotes: DataFrame, way: str) -> None:
    def added(**options: Any) -> str:
        df = quotes.transform(match(QUERIES, _way=way, **options))
        assert df.columns[:-1] == quotes.columns
        return str(df.schema[-1].simpleString())

    assert added() == "query_ids:array<string>"
    assert added(ids="number") == "query_numbers:array<int>"
    assert added(explode=True) == "query_id:string"
    assert added(explode=True, ids="number") == "query_number:int"
    queries: Any = quotes.transform(match(QUERIES, _way=way)).schema[-1].dataType
    assert not queries.containsNull


def test_columns_that_no_query_reads_stay_in_spark(
    quotes: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(quotes.transform(match(QUERIES)), capsys)
    arguments = re.search(r"ArrowEvalPython \[\w+\((.*?)\)#", found)
    assert arguments is not None, found
    assert sorted(re.findall(r"[a-z]+", arguments[1])) == ["price", "symbol"]
    assert "MapInArrow" not in found


@pytest.mark.parametrize("explode", [False, True])
@pytest.mark.parametrize("keep_unmatched", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_the_matcher_is_evaluated_once(
    quotes: DataFrame, capsys: pytest.CaptureFixture[str], way: str, explode: bool, keep_unmatched: bool
) -> None:
    df = quotes.transform(match(QUERIES, explode=explode, keep_unmatched=keep_unmatched, _way=way))
    name = df.columns[-1]
    found = plan(df.where(f"{name} IS NOT NULL").select("extra", name).where("extra > 1"), capsys)
    assert len(re.findall(r"(?:ArrowEvalPython|MapInArrow)", found)) == 1, found


@pytest.fixture
def stored(spark: SparkSession, tmp_path: Path) -> DataFrame:
    rows = "SELECT 'A' AS symbol, 1D AS price, id AS extra, named_struct('x', id, 'y', 'z') AS pair FROM range(4)"
    spark.sql(rows).write.parquet(str(tmp_path / "stored"))
    return spark.read.parquet(str(tmp_path / "stored"))


@pytest.mark.parametrize("explode", [False, True])
@pytest.mark.parametrize("keep_unmatched", [False, True])
def test_filters_and_fields_of_other_columns_move_below(
    stored: DataFrame, capsys: pytest.CaptureFixture[str], explode: bool, keep_unmatched: bool
) -> None:
    found = stored.transform(match(QUERIES, explode=explode, keep_unmatched=keep_unmatched))
    asked = found.where("extra > 2 AND pair.x > 1").select("pair.x", found.columns[-1])
    shown = plan(asked, capsys)
    assert "GreaterThan(extra,2)" in shown and "GreaterThan(pair.x,1)" in shown, shown
    assert "pair:struct<x:bigint>" in shown and shown.count("ArrowEvalPython") == 1, shown
    assert [row["x"] for row in asked.collect()] == ([3, 3] if explode else [3])
    assert "pair:struct<x:bigint>" in plan(found.select("pair.x", found.columns[-1]), capsys)


def test_what_nobody_asks_for_is_not_read(
    spark: SparkSession, quotes: DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quotes.write.parquet(str(tmp_path / "quotes"))
    df = spark.read.parquet(str(tmp_path / "quotes"))
    found = plan(df.transform(match(QUERIES, ids="number")).select("query_numbers"), capsys)
    assert re.search(r"ReadSchema: struct<(symbol:string,price:double|price:double,symbol:string)>", found), (
        found
    )


def test_rows_go_to_python_where_queries_read_all_of_them(
    quotes: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(quotes.drop("extra").transform(match(QUERIES)), capsys)
    assert "MapInArrow" in found and "ArrowEvalPython" not in found


def test_nothing_runs_before_the_job(spark: SparkSession) -> None:
    broken = spark.sql("SELECT 'A' AS symbol, raise_error('ran')::double AS price")
    broken.transform(match(QUERIES)).transform(match(QUERIES, ids="number"))


def test_queries_that_read_no_column(spark: SparkSession) -> None:
    queries = QuerySet.build(
        {"all": "SELECT * FROM quotes", "none": "SELECT * FROM quotes WHERE 1 > 2"}, streams=[QUOTES]
    )
    assert rows(spark.range(2).transform(match(queries))) == [(0, ["all"]), (1, ["all"])]
    nothing = queries.remove(["all", "none"])
    assert rows(spark.range(2).transform(match(nothing))) == []
    assert rows(spark.range(1).transform(match(nothing, keep_unmatched=True))) == [(0, [])]


@pytest.mark.parametrize("way", WAYS)
def test_removed_queries_and_empty_input(quotes: DataFrame, way: str) -> None:
    assert rows(quotes.transform(match(QUERIES.remove(["cheap"]), ids="number", _way=way))) == [
        ("A", 1.0, 7, [2]),
        ("A", None, 9, [2]),
    ]
    assert rows(quotes.where("false").transform(match(QUERIES, _way=way))) == []


@pytest.mark.parametrize("way", WAYS)
def test_many_batches_of_one_partition(spark: SparkSession, way: str) -> None:
    size = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(size)
    numbers = Stream("numbers", pa.schema([("id", pa.int64())]))
    queries = QuerySet.build(
        {"third": "SELECT * FROM numbers WHERE id % 3 = 0", "small": "SELECT * FROM numbers WHERE id < 70"},
        streams=[numbers],
    )
    expected = [
        (i, [name for name, true in (("third", i % 3 == 0), ("small", i < 70)) if true]) for i in range(1000)
    ]
    spark.conf.set(size, "64")
    try:
        df = spark.range(0, 1000, 1, 1)
        assert rows(df.transform(match(queries, keep_unmatched=True, _way=way))) == expected
        assert rows(df.transform(match(queries, _way=way))) == [row for row in expected if row[1]]
    finally:
        assert before is not None
        spark.conf.set(size, before)


def test_widening_and_other_spellings(spark: SparkSession) -> None:
    df = spark.sql("SELECT 'A' AS SYMBOL, 3 AS Price, 1 AS `dotted.name`")
    assert rows(df.transform(match(QUERIES))) == [("A", 3, 1, ["cheap", "a"])]


def test_columns_that_do_not_fit(spark: SparkSession, quotes: DataFrame) -> None:
    with pytest.raises(SchemaError, match='the DataFrame for stream "quotes" has no column "price"'):
        quotes.drop("price").transform(match(QUERIES))
    wrong = quotes.selectExpr("symbol", "date'2020-01-01' AS price")
    with pytest.raises(SchemaError, match=r'column "price" .* has the type date, but double is declared'):
        wrong.transform(match(QUERIES))
    with pytest.raises(SchemaError, match="has the collation UTF8_LCASE"):
        quotes.selectExpr("symbol COLLATE UTF8_LCASE AS symbol", "price").transform(match(QUERIES))
    with pytest.raises(SchemaError, match='has a column "query_ids" already'):
        quotes.selectExpr("*", "1 AS query_ids").transform(match(QUERIES))
    with pytest.raises(SchemaError, match='has the column "price" more than once'):
        quotes.selectExpr("*", "1 AS PRICE").transform(match(QUERIES))


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(EddylineError, match='ids is "id" or "number", not'):
        match(QUERIES, ids="name")  # type: ignore[arg-type]
    with pytest.raises(EddylineError, match='stream "trades" is not known'):
        match(QUERIES, stream="trades")


def test_a_stream_is_found_in_any_case(quotes: DataFrame) -> None:
    found = [quotes.transform(match(QUERIES, stream=name)).collect() for name in ("quotes", "QUOTES")]
    assert found[0] == found[1] and any(row["query_ids"] for row in found[0])


def test_types_that_queries_do_not_know_pass_by(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT 'A' AS symbol, 1D AS price, parse_json('{}') AS variant, INTERVAL '1' YEAR AS years, "
        "CAST('abc' AS STRING COLLATE UTF8_LCASE) AS text, named_struct('x', 1) AS pair"
    )
    found = (
        df.transform(match(QUERIES))
        .selectExpr("query_ids", "CAST(years AS STRING)", "text", "pair.x")
        .collect()
    )
    assert found[0]["query_ids"] == ["cheap", "a"] and found[0]["x"] == 1


def test_types_on_the_way(spark: SparkSession) -> None:
    kinds = {
        "c": ("CAST('ab' AS CHAR(4))", pa.string(), "c = 'ab'"),
        "v": ("CAST('ab' AS VARCHAR(4))", pa.string(), "v LIKE 'a%'"),
        "dt": ("INTERVAL '1 02:03:04' DAY TO SECOND", pa.duration("us"), "dt > INTERVAL '1' DAY"),
        "dec": ("12.50BD", pa.decimal128(4, 2), "dec = 12.5"),
        "bin": ("X'00FF'", pa.binary(), "bin = X'00FF'"),
        "ts": ("TIMESTAMP'2020-01-01 10:00:00'", pa.timestamp("us", "UTC"), "hour(ts) = 10"),
        "ntz": ("TIMESTAMP_NTZ'2020-01-01 10:00:00'", pa.timestamp("us"), "hour(ntz) = 10"),
        "arr": ("array(1, 2)", pa.list_(pa.int32()), "array_contains(arr, 2)"),
        "m": ("map('k', 5)", pa.map_(pa.string(), pa.int32()), "m['k'] = 5"),
        "s": (
            "named_struct('x', 1, 'y', 'z')",
            pa.struct([("x", pa.int32()), ("y", pa.string())]),
            "s.y = 'z'",
        ),
    }
    stream = Stream("kinds", pa.schema([(name, kind) for name, (_, kind, _) in kinds.items()]))
    texts = {name: f"SELECT * FROM kinds WHERE {where}" for name, (_, _, where) in kinds.items()}
    queries = QuerySet.build(texts, streams=[stream])
    df = spark.sql("SELECT " + ", ".join(f"{value} AS {name}" for name, (value, _, _) in kinds.items()))
    expected = list(kinds)
    for way in WAYS:
        assert df.transform(match(queries, _way=way)).collect()[0]["query_ids"] == expected
    assert Decimal("12.50") == df.collect()[0]["dec"]


def test_the_set_in_a_folder(quotes: DataFrame, tmp_path: Path) -> None:
    expected = rows(quotes.transform(match(QUERIES)))
    for folder in (tmp_path / "sets", f"file://{tmp_path}/other%20sets"):
        df = quotes.transform(match(QUERIES, folder=folder))
        assert rows(df) == expected
    assert len(list((tmp_path / "sets").iterdir())) == 1
    QUERIES.save(tmp_path / "saved")
    loaded = QuerySet.load(tmp_path / "saved")
    assert shipping.ship(loaded, local=True).folder == str(tmp_path / "saved")
    assert rows(quotes.transform(match(loaded))) == expected


def test_a_large_set_without_a_folder(
    quotes: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "MAX_CONTENT", 10)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    fresh = QUERIES.add({"new": "SELECT * FROM quotes WHERE price = 1.5"})
    assert len(rows(quotes.transform(match(fresh)))) == 2
    monkeypatch.undo()

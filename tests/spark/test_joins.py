"""Joins on Spark: left out of DataFrames with a warning, refused by commands, each by name."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from eddyline import EddylineError, QuerySet, Stream
from eddyline.cli import app
from eddyline.spark import count, match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
STREAMS = [Stream(name, SCHEMA, "ts", "10 seconds") for name in ("quotes", "trades")]
SELECTIONS = {
    "cheap": "SELECT * FROM quotes WHERE price < 10",
    "acme": "SELECT symbol FROM quotes WHERE symbol = 'ACME'",
}
JOINS = {
    "soon": "SELECT q.price FROM quotes q JOIN trades t ON q.symbol = t.symbol AND q.ts = t.ts AND q.price < 5",
    "again": "SELECT 1 FROM quotes a JOIN quotes b ON a.symbol = b.symbol AND a.ts = b.ts",
}
ALL = {"soon": JOINS["soon"], **SELECTIONS, "again": JOINS["again"]}
ROWS = [("ACME", 5.0), ("ZETA", 50.0), ("ACME", 12.0)]


@pytest.mark.parametrize("compiled_before", [False, True])
@pytest.mark.parametrize("ids", ["id", "number"])
def test_joins_are_left_out_of_dataframes_with_a_warning(
    spark: SparkSession, ids: Any, compiled_before: bool
) -> None:
    queries = QuerySet.build(ALL, streams=STREAMS)
    if compiled_before:
        queries.placed()
    quotes = spark.createDataFrame(ROWS, "symbol string, price double")
    said = r'joins are not evaluated on a DataFrame, and are left out: "soon" and 1 more'
    with pytest.warns(UserWarning, match=said) as told:
        matched = quotes.transform(match(queries, stream="quotes", ids=ids))
    assert [warning.filename for warning in told] == [__file__]
    names = {id: id if ids == "id" else queries.number(id) for id in SELECTIONS}
    assert [list(row[2]) for row in matched.collect()] == [[names["cheap"], names["acme"]], [names["acme"]]]
    with pytest.warns(UserWarning, match=said):
        counted = quotes.transform(count(queries, stream="quotes", ids=ids))
    assert {row[0]: row[1] for row in counted.collect()} == {names["cheap"]: 1, names["acme"]: 2}


def test_a_set_of_nothing_but_joins_is_refused() -> None:
    for function in (match, count):
        with pytest.raises(
            EddylineError, match=r'all queries of the set join streams \("soon" and 1 more\)'
        ) as refused:
            function(QuerySet.build(JOINS, streams=STREAMS), stream="quotes")
        assert refused.value.hint == "joins are evaluated by Engine and QuerySet.join"
    with warnings.catch_warnings(action="error"):
        match(QuerySet.build(SELECTIONS, streams=STREAMS), stream="quotes")


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "rules.jsonl").write_text(
        "\n".join(json.dumps({"id": id, "sql": sql}) for id, sql in ALL.items())
    )
    streams = []
    for stream in STREAMS:
        table = pa.table(
            [[symbol for symbol, _ in ROWS], [price for _, price in ROWS], [0, 1, 2]], schema=SCHEMA
        )
        parquet.write_table(table, tmp_path / f"{stream.name}.parquet")
        streams += ["--stream", f"{stream.name}={tmp_path / stream.name}.parquet"]
    return [*streams, "--event-time", "ts", "--runtime", "spark", "--json"]


def test_match_refuses_joins_by_name(spark: SparkSession, tmp_path: Path, command: list[str]) -> None:
    result = CliRunner().invoke(app, ["match", "--queries", str(tmp_path / "rules.jsonl"), *command])
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and found["counts"] == {"cheap": 1, "acme": 2} and found["joins"] == []
    assert [(each["query"], each["message"], each["hint"]) for each in found["findings"]] == [
        (
            id,
            "it joins streams, which this runtime does not do",
            "leave out --runtime spark: joins are evaluated in this process",
        )
        for id in JOINS
    ]


def test_backtests_refuse_joins_by_name(spark: SparkSession, tmp_path: Path, command: list[str]) -> None:
    result = CliRunner().invoke(app, ["backtest", str(tmp_path / "rules.jsonl"), *command])
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and found["joins"] == []
    assert {query["id"]: query["matches"] for query in found["queries"]} == {"cheap": 1, "acme": 2}
    assert [refusal["id"] for refusal in found["refused"]] == list(JOINS)
    assert "leave out --runtime spark" in found["refused"][0]["text"]

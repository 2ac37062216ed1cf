"""`eddyline match --runtime spark`: counts, pairs and rows as the embedded runtime has them, and what it refuses."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from click.testing import Result
from pyarrow import csv, parquet
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.testing.queries import statement
from eddyline.testing.rows import benign_rows, nasty_rows
from eddyline.testing.text import statement_text
from tests.spark.test_backtest import TESTED, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LISTS = (
    "*",
    "symbol, price * volume AS value",
    "symbol AS `row`, price * volume AS value",
    "at, paid, NULL AS nothing",
)


def match(folder: Path, *options: str, exit_code: int = 0) -> Result:
    command = ["match", "--queries", str(folder / "rules.jsonl"), "-s", f"quotes={folder / 'data'}", *options]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == exit_code, result.output + result.stderr
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matching")
    (folder / "data").mkdir()
    table = history(3000, seed=5)
    for name, first, count in (("a b.parquet", 0, 1000), ("c.parquet", 1000, 2000)):
        parquet.write_table(table.slice(first, count), folder / "data" / name, row_group_size=400)
    rules = [
        {"id": id, "sql": f"SELECT {LISTS[n % len(LISTS)]} FROM quotes WHERE {text}"}
        for n, (id, text) in enumerate(TESTED.items())
    ]
    (folder / "rules.jsonl").write_text("\n".join(map(json.dumps, rules)))
    return folder


def rows_of(table: pa.Table) -> Counter[str]:
    return Counter(json.dumps(row, default=str) for row in table.to_pylist())


def table_in(path: Path) -> pa.Table:
    """A file of the embedded runtime, or a folder of part files of Spark's."""
    if path.suffix == ".parquet":
        return ds.dataset(path, format="parquet").to_table()
    texts = [path] if path.is_file() else sorted(path.glob("part-*"))
    if path.suffix == ".jsonl":
        return pa.table({"line": [line for text in texts for line in text.read_text().splitlines()]})
    return pa.concat_tables(csv.read_csv(text) for text in texts if text.stat().st_size)


def test_counts(spark: SparkSession, folder: Path) -> None:
    here, there = (json.loads(match(folder, "--json", *more).stdout) for more in ((), ("--runtime", "spark")))
    assert there == here
    assert here["rows"] == 3000 and here["counts"]["all"] == 3000 and here["counts"]["never"] == 0
    out = folder / "counts.csv"
    match(folder, "--output", "counts", "--out", str(out), "--runtime", "spark")
    assert dict(zip(*csv.read_csv(out).to_pydict().values(), strict=True)) == here["counts"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_pairs(spark: SparkSession, folder: Path, kind: str) -> None:
    places = [folder / f"{runtime}-pairs.{kind}" for runtime in ("embedded", "spark")]
    for place in places:
        match(folder, "--output", "pairs", "--out", str(place), "--runtime", place.name.split("-")[0])
    here, there = map(table_in, places)
    assert here.schema.names == there.schema.names == ["query", "file", "row"]
    assert here.num_rows > 3000 and rows_of(here) == rows_of(there)


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_rows_of_several_select_lists(spark: SparkSession, folder: Path, kind: str) -> None:
    places = [folder / f"{runtime}-{kind}-rows" for runtime in ("embedded", "spark")]
    for place in places:
        match(folder, "--out", f"{place}/", "--format", kind, "--runtime", place.name.split("-")[0])
    here, there = (
        sorted(path.name for path in place.iterdir() if path.name[0] not in "._") for place in places
    )
    assert here == there == sorted(f"{id}.{kind}" for id in ("cheap", "acme", "value", "odd"))
    for name in here:
        assert rows_of(table_in(places[0] / name)) == rows_of(table_in(places[1] / name))


def test_rows_in_one_place(spark: SparkSession, folder: Path) -> None:
    """JSON lines hold every SELECT list; a table holds one."""
    places = [folder / f"{runtime}-all.jsonl" for runtime in ("embedded", "spark")]
    for place in places:
        match(folder, "--out", str(place), "--runtime", place.name.split("-")[0])
    here, there = map(table_in, places)
    assert rows_of(here) == rows_of(there) and here.num_rows > 3000
    refused = match(folder, "--out", str(folder / "x.parquet"), "--runtime", "spark", exit_code=3)
    assert "4 different SELECT lists" in refused.stderr
    again = match(folder, "--out", str(places[1]), "--runtime", "spark", exit_code=3)
    assert "is there already" in again.stderr


def test_several_streams_and_functions_that_only_spark_has(spark: SparkSession, tmp_path: Path) -> None:
    rules = {
        "sound": "SELECT soundex(symbol) AS s, price FROM quotes WHERE soundex(symbol) = 'A250'",
        "bad": "SELECT sequence(day, 1, 2) AS s FROM quotes WHERE day = 0",
        "heavy": "SELECT paid, soundex('x') AS price FROM trades WHERE volume > 500",
    }
    (tmp_path / "rules.jsonl").write_text(
        "\n".join(json.dumps({"id": q, "sql": s}) for q, s in rules.items())
    )
    for seed, name in enumerate(("quotes", "trades")):
        parquet.write_table(history(300, seed), tmp_path / f"{name}.parquet")
    streams = [f"{name}={tmp_path / f'{name}.parquet'}" for name in ("quotes", "trades")]
    command = [
        "match",
        "--runtime",
        "spark",
        "-q",
        str(tmp_path / "rules.jsonl"),
        "-s",
        streams[0],
        "-s",
        streams[1],
    ]
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(app, [*command, "--out", str(out), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    quotes, trades = (
        parquet.read_table(tmp_path / f"{name}.parquet").to_pylist() for name in ("quotes", "trades")
    )
    expected = {
        "sound": sum(row["symbol"] == "ACME" for row in quotes),
        "bad": sum(row["day"] == 0 for row in quotes),
        "heavy": sum(row["volume"] > 500 for row in trades),
    }
    assert json.loads(result.stdout)["counts"] == expected
    written = [json.loads(line) for line in table_in(out)["line"].to_pylist()]
    assert Counter(row["query"] for row in written) == expected
    assert {row["s"] for row in written if row["query"] == "sound"} == {"A250"}
    assert {row["file"] for row in written if row["query"] == "heavy"} == {str(tmp_path / "trades.parquet")}


def test_partition_columns_are_columns(spark: SparkSession, tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / "data" / f"day={day}").mkdir(parents=True)
        parquet.write_table(
            pa.table({"price": [1.0, 2.0, 3.0]}), tmp_path / "data" / f"day={day}" / "a.parquet"
        )
    (tmp_path / "rules.jsonl").write_text(
        '{"id": "q", "sql": "SELECT * FROM quotes WHERE day = 2 AND price > 1"}'
    )
    found: dict[str, Any] = json.loads(match(tmp_path, "--json", "--runtime", "spark").stdout)
    assert found["counts"] == {"q": 2} and found["rows"] == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--threads", "2"), "--threads means nothing with --runtime spark"),
        (("--rejects", "bad.jsonl"), "--rejects means nothing with --runtime spark"),
        (("--output", "pairs"), "go to a folder"),
        (("--out", "-"), "go to a folder"),
        (("--out", "x.arrow"), 'Spark does not write "arrow"'),
        (("--spark", "cores"), "KEY=VALUE"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(
    folder: Path, options: tuple[str, ...], message: str
) -> None:
    refused = match(folder, "--runtime", "spark", *options, exit_code=2)
    assert message in " ".join(refused.stderr.replace("│", " ").split())


def test_without_pyspark_it_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'eddyline[spark]'" in match(folder, "--runtime", "spark", exit_code=3).stderr


def test_spark_settings_need_the_runtime(folder: Path) -> None:
    refused = match(folder, "--spark", "spark.master=local[2]", exit_code=2)
    assert "--spark means nothing with --runtime embedded" in " ".join(
        refused.stderr.replace("│", " ").split()
    )


def test_sources_that_spark_cannot_number_are_refused(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("price\n1\n")
    broken = tmp_path / "b.parquet"
    broken.write_bytes(b"PAR1 and no more")
    common = ["match", "--runtime", "spark", "--queries", str(folder / "rules.jsonl")]
    for source, message in (
        (str(tmp_path / "a.csv"), "is csv"),
        ("-", "standard input"),
        (str(broken), "could not read"),
    ):
        refused = CliRunner().invoke(
            app, [*common, "--schema", "quotes=price DOUBLE", source], catch_exceptions=False
        )
        assert refused.exit_code == 3 and message in refused.stderr, refused.stderr


def test_a_column_of_another_type_is_refused(spark: SparkSession, folder: Path) -> None:
    refused = match(folder, "--runtime", "spark", "--schema", "quotes=price INT", exit_code=3)
    assert 'column "price"' in refused.stderr and "double" in refused.stderr


def test_random_queries_over_every_type(spark: SparkSession, tmp_path: Path) -> None:
    """Nasty and benign rows of all types: the same lines, and the same back-test, from both runtimes."""
    (tmp_path / "data").mkdir()
    for seed, rows in enumerate((nasty_rows(1, 250), benign_rows(2, 250))):
        table = pa.Table.from_batches([rows])
        # Parquet has no durations; nested moments before the year 1 or after 9999 have no text yet
        left_out = [
            f.name for f in table.schema if pa.types.is_duration(f.type) or pa.types.is_nested(f.type)
        ]
        table = table.drop_columns(left_out)
        parquet.write_table(table, tmp_path / "data" / f"{seed}.parquet", row_group_size=100)
    texts = {f"q{seed}": statement_text(statement(seed)) for seed in range(100)}
    rules = tmp_path / "rules.jsonl"
    rules.write_text("\n".join(json.dumps({"id": id, "sql": text}) for id, text in texts.items()))
    lines, reports = [], []
    for runtime in ("embedded", "spark"):
        out, report = tmp_path / f"{runtime}.jsonl", tmp_path / f"{runtime}.json"
        source = ["-s", f"everything={tmp_path / 'data'}", "--runtime", runtime]
        for command in (
            ["match", "--queries", str(rules), *source, "--out", str(out)],
            ["backtest", str(rules), *source, "--report", str(report)],
        ):
            result = CliRunner().invoke(app, command, catch_exceptions=False)
            assert result.exit_code in (0, 1), result.stderr  # 1: some are refused
        lines.append(rows_of(table_in(out)))
        reports.append(json.loads(report.read_text()))
    assert lines[0] == lines[1] and lines[0].total() > 2000
    assert reports[0] == reports[1] and len(reports[0]["refused"]) < 40

"""Back-tests on Spark: the same report as the embedded runtime's, from the same Parquet files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from eddyline.cli import app

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTED = {
    "cheap": "price < 12",
    "acme": "symbol = 'ACME' AND volume > 500",
    "value": "price * volume > 30000",
    "odd": "price IS NULL OR symbol IN ('BOLT', 'CRUX') AND volume BETWEEN 10 AND 30",
    "late": "at >= TIMESTAMP '2026-01-05 11:00:00' AND volume < 40",
    "undated": "at IS NULL",
    "never": "price < 0",
    "all": "volume > 0",
}
EXISTING = {"low": "price < 20", "busy": "volume > 950", "cheap": "price < 10"}


def history(rows: int, seed: int = 11) -> pa.Table:
    rng = np.random.default_rng(seed)
    start = np.datetime64("2026-01-05T09:30:00", "us").astype(np.int64)
    at = start + rng.integers(0, 150 * 60, rows) * 1_000_000
    return pa.table(
        {
            "at": pa.array(at, pa.timestamp("us", "UTC"), mask=rng.random(rows) < 0.01),
            "symbol": rng.choice(["ACME", "BOLT", "CRUX", "ZETA"], rows),
            "price": pa.array(np.round(np.exp(rng.normal(3, 1, rows)), 2), mask=rng.random(rows) < 0.03),
            "volume": rng.integers(1, 1000, rows),
            "day": pa.array(rng.integers(0, 3, rows), pa.int32()),
            "paid": pa.array([None if n % 7 == 0 else f"{n}.50" for n in range(rows)]).cast(
                pa.decimal128(12, 2)
            ),
        }
    )


def queries(path: Path, predicates: dict[str, str]) -> str:
    lines = [
        json.dumps({"id": id, "sql": f"SELECT * FROM quotes WHERE {text}"}) for id, text in predicates.items()
    ]
    path.write_text("\n".join(lines))
    return str(path)


def backtest(folder: Path, *options: str, data: str = "data", exit_code: int = 0) -> dict[str, Any]:
    new, old = queries(folder / "new.jsonl", TESTED), queries(folder / "old.jsonl", EXISTING)
    command = ["backtest", new, "--stream", f"quotes={folder / data}", "--against", old, "--json", *options]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == exit_code, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several row groups, below two folders, one with a name that is hard for Spark, one without rows."""
    folder = tmp_path_factory.mktemp("history")
    table = history(9000)
    (folder / "data" / "b").mkdir(parents=True)
    pieces = (("b/x.parquet", 0, 2500), ("a [1] {2} %20é.parquet", 2500, 3000), ("c.parquet", 5500, 0))
    for name, first, count in (*pieces, ("z.parquet", 5500, 3500)):
        parquet.write_table(table.slice(first, count), folder / "data" / name, row_group_size=700)
    return folder


@pytest.mark.parametrize("options", [("--time", "at"), (), ("--time", "volume"), ("--samples", "0")])
def test_the_report_is_that_of_the_embedded_runtime(
    spark: SparkSession, folder: Path, options: Sequence[str]
) -> None:
    here = backtest(folder, *options)
    assert here["rows"] == 9000 and any(query["overlaps"] for query in here["queries"])
    assert backtest(folder, *options, "--runtime", "spark") == here


def test_functions_that_only_spark_has(spark: SparkSession, tmp_path: Path) -> None:
    """They are computed in front of the queries; one that fails counts as NULL, and is told."""
    (tmp_path / "data").mkdir()
    parquet.write_table(history(500), tmp_path / "data" / "a.parquet")
    sound = {"sound": "soundex(symbol) = 'A250'", "twice": "symbol = 'ACME' AND price > 0"}
    new = queries(tmp_path / "new.jsonl", sound | {"bad": "sequence(day, 1, 2)[0] = 1"})
    command = ["backtest", new, "--stream", f"quotes={tmp_path / 'data'}", "--json", "--runtime", "spark"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    assert "sequence(day, 1, 2) failed on some row and counts as NULL in all" in result.stderr
    found = {query["id"]: query for query in json.loads(result.stdout)["queries"]}
    acme = [row["symbol"] for row in parquet.read_table(tmp_path / "data").to_pylist()].count("ACME")
    assert (found["sound"]["matches"], found["bad"]["verdict"]) == (acme, "never")
    assert found["sound"]["overlaps"][0]["shared"] == found["twice"]["matches"]


def test_expectations_name_rows_of_files(spark: SparkSession, folder: Path) -> None:
    place = folder / "data" / "b" / "x.parquet"
    (folder / "expect.toml").write_text(f'[all]\nmin = 9000\nmatch = ["{place}:2"]\n[never]\nmin = 1\n')
    found = backtest(folder, "--runtime", "spark", "--expect", str(folder / "expect.toml"), exit_code=1)
    assert [check["passed"] for check in found["checks"]] == [True, True, False]

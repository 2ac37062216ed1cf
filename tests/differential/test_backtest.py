"""A back-test of a folder of files against DuckDB: counts by minute, first, last, coverage and overlap in SQL."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from eddyline.cli import app

TESTED = {
    "cheap": "price < 12",
    "acme": "symbol = 'ACME' AND volume > 500",
    "value": "price * volume > 30000",
    "odd": "price IS NULL OR symbol IN ('BOLT', 'CRUX') AND volume BETWEEN 10 AND 30",
    "never": "price < 0",
    "all": "volume > 0",
}
EXISTING = {"low": "price < 20", "busy": "volume > 950", "cheap": "price < 10"}
SCHEMA = "quotes=at TIMESTAMP_NTZ, symbol STRING, price DOUBLE, volume BIGINT"


def history(rows: int) -> pa.Table:
    rng = np.random.default_rng(11)
    start = np.datetime64("2026-01-05T09:30:00", "us").astype(np.int64)
    at = start + rng.integers(0, 150 * 60, rows) * 1_000_000
    return pa.table(
        {
            "at": pa.array(at, pa.timestamp("us")),
            "symbol": rng.choice(["ACME", "BOLT", "CRUX", "ZETA"], rows),
            "price": pa.array(np.round(np.exp(rng.normal(3, 1, rows)), 2), mask=rng.random(rows) < 0.03),
            "volume": rng.integers(1, 1000, rows),
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return history(20_000)


@pytest.fixture(scope="module")
def found(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("history")
    (folder / "data").mkdir()
    csv.write_csv(table.slice(0, 7000), folder / "data" / "a.csv")
    parquet.write_table(table.slice(7000), folder / "data" / "b.parquet", row_group_size=3000)
    for name, queries in (("new", TESTED), ("old", EXISTING)):
        lines = [
            json.dumps({"id": id, "sql": f"SELECT * FROM quotes WHERE {text}"})
            for id, text in queries.items()
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    result = CliRunner().invoke(
        app,
        [
            *(
                "backtest",
                str(folder / "new.jsonl"),
                "--stream",
                f"quotes={folder / 'data'}",
                "--schema",
                SCHEMA,
            ),
            *("--time", "at", "--against", str(folder / "old.jsonl"), "--json"),
        ],
        catch_exceptions=False,
    )
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["rows"] == 20_000 and document["streams"][0]["axis"]["step"] == "1 min"
    return {query["id"]: query | {"axis": document["streams"][0]["axis"]} for query in document["queries"]}


def ask(table: pa.Table, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.register("quotes", table)
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("id", TESTED)
def test_counts_by_minute(table: pa.Table, found: dict[str, dict[str, object]], id: str) -> None:
    sql = f"SELECT date_trunc('minute', \"at\")::VARCHAR, count(*) FROM quotes WHERE {TESTED[id]} GROUP BY 1"
    query = found[id]
    starts = query["axis"]["starts"]  # type: ignore[index]
    told = {start: count for start, count in zip(starts, query["counts"], strict=True) if count}  # type: ignore[call-overload]
    assert told == dict(ask(table, sql))
    [(first, last, matches)] = ask(
        table, f'SELECT min("at")::VARCHAR, max("at")::VARCHAR, count(*) FROM quotes WHERE {TESTED[id]}'
    )
    ends = [query[end]["at"] if query[end] else None for end in ("first", "last")]  # type: ignore[index]
    assert [*ends, query["matches"]] == [first, last, matches]


@pytest.mark.parametrize("id", TESTED)
def test_coverage_and_overlap(table: pa.Table, found: dict[str, dict[str, object]], id: str) -> None:
    covered = " OR ".join(f"({text})" for text in EXISTING.values())
    [(count,)] = ask(table, f"SELECT count(*) FROM quotes WHERE ({TESTED[id]}) AND ({covered})")
    assert found[id]["covered"] == count
    for is_new, others in ((False, EXISTING), (True, TESTED)):
        told = {
            o["query"]: (o["shared"], o["of_other"]) for o in found[id]["overlaps"] if o["is_new"] == is_new
        }  # type: ignore[attr-defined]
        expected = {}
        for other, text in others.items():
            if not (is_new and other == id):
                sql = f"SELECT count(*) FILTER (({TESTED[id]}) AND ({text})), count(*) FILTER ({text}) FROM quotes"
                [figures] = ask(table, sql)
                if figures[0]:
                    expected[other] = figures
        assert told == expected

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from eddyline.cli import app

RULES = """\
-- name: cheap
SELECT symbol, price FROM quotes WHERE price < 10
-- name: acme
SELECT * FROM quotes WHERE symbol = 'ACME' AND price > 5
-- name: low
SELECT symbol, price FROM quotes WHERE price < 4
"""
QUOTES = pa.table(
    {"symbol": ["ACME", "ZETA", None, "ACME"], "price": [9.5, 3.0, None, 50.0], "volume": [1, 2, 3, 4]}
)
PAIRS = [("cheap", 1), ("acme", 1), ("cheap", 2), ("low", 2), ("acme", 4)]


def run(*arguments: object, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.sql").write_text(RULES)
    parquet.write_table(QUOTES, tmp_path / "quotes.parquet")
    return tmp_path


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_counts_with_most_matches_first(folder: Path) -> None:
    result = run("match", folder / "quotes.parquet", "-q", folder / "rules.sql", "--output", "counts")
    assert result.exit_code == 0
    assert result.stdout.split() == ["query", "matches", "cheap", "2", "acme", "2", "low", "1"]
    assert "4 rows, 5 matches of 3 queries" in result.stderr


def test_rows_as_json_lines_come_by_row_then_by_query(folder: Path) -> None:
    result = run("match", folder / "quotes.parquet", "-q", folder / "rules.sql")
    assert result.exit_code == 0
    rows = lines(result.stdout)
    assert [(row["query"], row["row"]) for row in rows] == PAIRS
    assert rows[1] == {
        "query": "acme", "file": str(folder / "quotes.parquet"), "row": 1, "symbol": "ACME", "price": 9.5, "volume": 1
    }  # fmt: skip


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "jsonl.gz", "arrow"])
def test_pairs_go_to_files_and_threads_do_not_matter(folder: Path, ending: str) -> None:
    out = folder / f"pairs.{ending}"
    found = set()
    for threads in (1, 2):
        result = run(
            "match", folder / "quotes.parquet", "-q", folder / "rules.sql",
            "--output", "pairs", "--out", out, "--threads", threads,
        )  # fmt: skip
        assert result.exit_code == 0 and result.stdout == ""
        found.add(out.read_bytes())
    assert len(found) == 1
    if ending == "csv":
        table = csv.read_csv(out)
        assert list(zip(table["query"].to_pylist(), table["row"].to_pylist(), strict=True)) == PAIRS


def test_a_folder_has_a_file_for_each_select_list(folder: Path) -> None:
    out = f"{folder}/out/"
    result = run("match", folder / "quotes.parquet", "-q", folder / "rules.sql", "--out", out)
    assert result.exit_code == 0
    assert sorted(path.name for path in Path(out).iterdir()) == ["acme.parquet", "cheap.parquet"]
    assert parquet.read_table(f"{out}cheap.parquet")["query"].to_pylist() == ["cheap", "cheap", "low"]


def test_one_file_cannot_hold_two_select_lists(folder: Path) -> None:
    result = run(
        "match", folder / "quotes.parquet", "-q", folder / "rules.sql", "--out", folder / "out.parquet"
    )
    assert result.exit_code == 3 and "different SELECT lists" in result.stderr
    assert not (folder / "out.parquet").exists()


def test_refused_queries_are_shown_and_the_others_match(folder: Path) -> None:
    (folder / "bad.sql").write_text("-- name: oops\nSELECT * FROM quotes WHERE prise < 10\n")
    result = run(
        "match", folder / "quotes.parquet", "-q", folder / "bad.sql", "-q", folder / "rules.sql", "--json"
    )
    assert result.exit_code == 1 and "prise" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["counts"] == {"cheap": 2, "acme": 2, "low": 1}
    assert summary["findings"][0]["query"] == "oops"


def test_several_streams(folder: Path) -> None:
    (folder / "trades.jsonl").write_text('{"amount": 5}\n{"amount": 50}\n')
    (folder / "more.sql").write_text("-- name: large\nSELECT * FROM trades WHERE amount > 10\n")
    result = run(
        "match", "-s", f"quotes={folder}/quotes.parquet", "-s", f"trades={folder}/*.jsonl",
        "-q", folder / "rules.sql", "-q", folder / "more.sql", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["counts"]["large"] == 1
    assert "guessed from the first 2 rows" in result.stderr


def test_a_pipe_from_standard_input_to_standard_output(folder: Path) -> None:
    data = b'{"symbol": "ACME", "price": 6}\n'
    result = run(
        "match", "--queries", folder / "rules.sql", "--stream", "quotes=-",
        "--schema", "symbol STRING, price DOUBLE", stdin=data,
    )  # fmt: skip
    assert result.exit_code == 0
    assert [row["query"] for row in lines(result.stdout)] == ["cheap", "acme"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-s", "quotes"],
        ["-s", "quotes=-", "-s", "trades=-"],
        ["q.parquet", "--format", "xls"],
        ["q.parquet", "--json", "--out", "-"],
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.write_table(QUOTES, folder / "q.parquet")
    monkeypatch.chdir(folder)
    assert run("match", "-q", "rules.sql", *arguments).exit_code == 2


def test_the_registry_gives_queries_and_streams(folder: Path) -> None:
    registry = folder / "queries.db"
    added = run(
        "query",
        "import",
        folder / "rules.sql",
        "--registry",
        registry,
        "--schema",
        f"quotes={folder}/quotes.parquet",
    )
    assert added.exit_code == 0, added.output
    assert run("query", "shadow", "low", "--registry", registry).exit_code == 0
    result = run("match", folder / "quotes.parquet", "--registry", registry, "--output", "pairs")
    assert [(row["query"], row["row"]) for row in lines(result.stdout)] == [p for p in PAIRS if p[0] != "low"]
    counts = run("match", folder / "quotes.parquet", "--registry", registry, "--json")
    summary = json.loads(counts.stdout)
    assert summary["counts"]["low"] == 1 and summary["shadow"] == ["low"]


def test_why_one_row(folder: Path) -> None:
    arguments = ["query", "why", "acme", "-q", folder / "rules.sql"]
    result = run(*arguments, "--row", f"{folder}/quotes.parquet:2")
    assert result.exit_code == 0
    assert "row 2 of" in result.stdout and "symbol is 'ZETA', which is not in {'ACME'}" in result.stdout
    document = json.loads(run(*arguments, "--row", f"{folder}/quotes.parquet:4", "--json").stdout)
    assert document["matched"] and document["tuple"] == {"symbol": "ACME", "price": 50, "volume": 4}
    assert [reason["subject"] for reason in document["reasons"]] == ["symbol", "price"]


def test_why_all_rows(folder: Path) -> None:
    arguments = ["query", "why", "acme", "-q", folder / "rules.sql", "--rows", folder / "quotes.parquet"]
    result = run(*arguments)
    assert result.exit_code == 0 and "2 of 4 rows match" in result.stdout
    document = json.loads(run(*arguments, "--json").stdout)
    assert [row["matched"] for row in document["rows"]] == [True, False, False, True]
    assert [c["failed"] for c in document["summary"]["conditions"]] == [2, 2]
    assert len(run(*arguments, "--summary").stdout.splitlines()) == 4


def test_why_of_a_query_that_cannot_be_judged_here(folder: Path) -> None:
    registry = folder / "queries.db"
    text = "SELECT symbol FROM quotes WHERE levenshtein(symbol, 'x') < 3"
    schema = f"quotes={folder}/quotes.parquet"
    assert run("query", "add", "near", text, "--registry", registry, "--schema", schema).exit_code == 0
    cheap = "SELECT symbol FROM quotes WHERE price < 3"
    assert run("query", "add", "cheap", cheap, "--registry", registry).exit_code == 0
    asked = ("--row", f"{folder}/quotes.parquet:1", "--registry", registry)
    assert 'query "near" needs functions that only Spark has' in run("query", "why", "near", *asked).stderr
    assert 'did you mean "cheap"?' in run("query", "why", "cheep", *asked).stderr


@pytest.mark.parametrize(
    ("row", "code"),
    [("quotes.parquet:0", 2), ("quotes.parquet", 2), ("quotes.parquet:5", 3), ("nothing.csv:1", 3)],
)
def test_why_of_no_row(folder: Path, row: str, code: int) -> None:
    assert (
        run("query", "why", "acme", "-q", folder / "rules.sql", "--row", f"{folder}/{row}").exit_code == code
    )


def test_why_a_row_given_as_json(folder: Path) -> None:
    arguments = [
        "query",
        "why",
        "cheap",
        "-q",
        folder / "rules.sql",
        "--schema",
        "symbol STRING, price DOUBLE",
    ]
    assert "the row matches" in run(*arguments, "--row", '{"price": 3}').stdout
    assert run(*arguments, "--row", '{"price": "x"}').exit_code == 3
    assert run("query", "why", "none", "-q", folder / "rules.sql", "--row", "{}").exit_code == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "quotes.parquet"], "is read, and would be written over"),
        (["--out", "../day/quotes.parquet"], "is read, and would be written over"),
        (["--out", "."], "is read, and would be written over"),
        (["--rejects", "quotes.parquet"], "is read, and would be written over"),
        (["--rejects", "rules.sql"], "is read, and would be written over"),
        (["--out", "a.jsonl", "--rejects", "./a.jsonl"], "two things would be written"),
    ],
)
def test_what_is_read_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    day = tmp_path / "day"
    day.mkdir()
    monkeypatch.chdir(day)
    Path("rules.sql").write_text(RULES)
    parquet.write_table(QUOTES, "quotes.parquet")
    result = run("match", "quotes.parquet", "-q", "rules.sql", *options)
    assert result.exit_code == 2 and said in result.stderr
    assert Path("rules.sql").read_text() == RULES and parquet.read_table("quotes.parquet") == QUOTES
    assert sorted(path.name for path in day.iterdir()) == ["quotes.parquet", "rules.sql"]


def test_counts_in_a_folder(folder: Path) -> None:
    result = run(
        "match",
        folder / "quotes.parquet",
        "-q",
        folder / "rules.sql",
        "--output",
        "counts",
        "--out",
        f"{folder}/new/",
    )
    assert result.exit_code == 0
    assert parquet.read_table(folder / "new" / "counts.parquet")["matches"].to_pylist() == [2, 2, 1]


def test_why_gives_a_whole_document_where_a_file_breaks_off(folder: Path) -> None:
    rows = b"symbol,price,volume\n" + b"".join(b"A%d,%d,1\n" % (n, n) for n in range(500_000))
    (folder / "quotes.csv.gz").write_bytes(gzip.compress(rows, 1)[:-100])
    schema = "symbol STRING, price DOUBLE, volume BIGINT"
    result = run(
        "query", "why", "cheap", "--rows", folder / "quotes.csv.gz", "-q", folder / "rules.sql", "--schema", schema,
        "--summary", "--json",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert result.exit_code == 3 and "cannot be read to its end" in found["error"]
    assert found["summary"]["matched"] == 10

"""`eddyline backtest`: from files to verdicts, reports and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

SCHEMA = "quotes=at TIMESTAMP, symbol STRING, price DOUBLE, volume BIGINT"
MONDAY = """at,symbol,price,volume
2026-01-05 09:30:00,ACME,9.5,100
2026-01-05 09:31:10,ZETA,240.0,20
2026-01-05 09:33:00,ACME,8.9,700
"""
TUESDAY = """at,symbol,price,volume
2026-01-06 09:30:00,ACME,10.5,100
2026-01-06 09:41:00,ZETA,n/a,20
2026-01-06 10:02:00,BOLT,48.0,900
"""
NEW = """-- name: acme-dip
SELECT symbol, price FROM quotes WHERE symbol = 'ACME' AND price < 9
-- name: acme
SELECT * FROM quotes WHERE symbol = 'ACME'
-- name: crash
SELECT * FROM quotes WHERE price < 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "monday.csv").write_text(MONDAY)
    (tmp_path / "new.sql").write_text(NEW)
    (tmp_path / "standing.sql").write_text("-- name: cheap\nSELECT * FROM quotes WHERE price < 10\n")
    return tmp_path


def backtest(*arguments: str, schema: str | None = SCHEMA) -> Result:
    command = ["backtest", "new.sql", "--stream", "quotes=history/", *arguments]
    if schema is not None:
        command += ["--schema", schema]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def found(*arguments: str) -> dict[str, object]:
    result = backtest("--json", *arguments)
    return dict(json.loads(result.stdout))


def test_text(folder: Path) -> None:
    result = backtest("--time", "at", "--against", "standing.sql")
    assert result.exit_code == 0, result.stderr
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "quotes: 3 rows from history/; at from 2026-01-05 09:30:00 to 2026-01-05 09:33:01",
        "",
        "query     over time         matches  share  first                last                 covered  note",
        "acme-dip                 █        1  33.3%  2026-01-05 09:33:00  2026-01-05 09:33:00     100%",
        "acme      █              █        2  66.7%  2026-01-05 09:30:00  2026-01-05 09:33:00     100%",
        "crash                             0     0%  -                    -                          -  never fires",
        "",
        "matches that an existing query has already",
        "query     existing  shared  of its matches",
        "acme-dip  cheap          1            100%",
        "acme      cheap          2            100%",
    ]


def test_json_counts_over_rows_by_default(folder: Path) -> None:
    document = found()
    [track] = document["streams"]  # type: ignore[misc]
    assert (document["passed"], document["rows"], track["axis"]["kind"]) == (True, 3, "row")
    counts = {query["id"]: query["counts"] for query in document["queries"]}  # type: ignore[attr-defined]
    assert counts == {"acme-dip": [0, 0, 1], "acme": [1, 0, 1], "crash": [0, 0, 0]}


def test_rejects_are_shown_kept_and_a_finding(folder: Path) -> None:
    (folder / "history" / "tuesday.csv").write_text(TUESDAY)
    result = backtest("--rejects", "bad.jsonl", "--report", "r.html")
    assert result.exit_code == 1
    assert "1 row could not be read; the first:" in result.stdout and "n/a" in result.stdout
    assert json.loads((folder / "bad.jsonl").read_text())["line"] == 3
    assert "Rejected rows" in (folder / "r.html").read_text()


def test_expectations_reports_and_junit(folder: Path) -> None:
    (folder / "expect.toml").write_text('["*"]\nmin = 1\n[acme]\nmatch = ["history/monday.csv:2"]\n')
    result = backtest(
        "--expect", "expect.toml", "--report", "r.html", "--report", "r.json", "--junit", "r.xml"
    )
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-5:] == [
        "2 of 4 expectations held",
        '  query "crash" matched 0 rows, but at least 1 were expected',
        "    expect.toml [*]",
        "  query \"acme\" does not match the row history/monday.csv:2, and should: symbol is 'ZETA', which does not "
        "lie in {'ACME'}",
        "    expect.toml [acme]",
    ]
    assert ElementTree.parse(folder / "r.xml").getroot().attrib["failures"] == "2"
    assert json.loads((folder / "r.json").read_text())["checks"][2]["passed"] is False
    assert "2 of 4 expectations failed" in (folder / "r.html").read_text()
    (folder / "expect.toml").write_text("[acme]\nmin = 2\nmax = 2\n")
    assert backtest("--expect", "expect.toml").exit_code == 0


def test_refused_queries_are_listed_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "new.sql").write_text(
        NEW + "-- name: typo\nSELECT * FROM quotes WHERE prise < 1\n-- name: acme\nSELECT 1"
    )
    result = backtest("--report", "r.html")
    assert result.exit_code == 1
    assert (
        'query "typo": stream "quotes" has no column "prise"' in result.stdout and "acme-dip" in result.stdout
    )
    assert "the id is used before" in result.stdout
    assert "has no column &quot;prise&quot;" in (folder / "r.html").read_text()


def test_against_a_registry(folder: Path) -> None:
    added = CliRunner().invoke(
        app,
        [
            "query",
            "add",
            "cheap",
            "SELECT * FROM quotes WHERE price < 10",
            "--schema",
            SCHEMA,
            "--registry",
            "e.db",
        ],
    )
    assert added.exit_code == 0, added.stderr
    result = backtest("--against", "e.db", "--json", schema=None)
    document = json.loads(result.stdout)
    assert document["existing"] == 1 and document["queries"][0]["covered"] == 1


def test_two_streams_with_rejects_of_their_own(folder: Path) -> None:
    (folder / "trades.csv").write_text("id\n1\nx\n")
    document = found("--stream", "trades=trades.csv", "--schema", "trades=id INT", "--time", "at")
    assert [(t["stream"], t["rejected"], t["axis"]["kind"]) for t in document["streams"]] == [  # type: ignore[attr-defined]
        ("quotes", 0, "time"),
        ("trades", 1, "row"),
    ]
    assert document["rejected"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--report", "r.pdf"), 2, "a report is an .html or a .json file"),
        (("--time", "when"), 3, 'has no column "when" to count over'),
        (("--time", "symbol"), 3, "is no time to count over"),
        (("--time-zone", "Mars"), 2, "is not a time zone"),
        (("--expect", "none.toml"), 3, "there is no file"),
        (("--against", "none.db"), 3, 'there is no registry "none.db"'),
        (("--report", "no/where.html"), 3, "cannot be written"),
        (("--junit", "no/where.xml"), 3, "cannot be written"),
    ],
)
def test_mistakes(folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = backtest(*arguments)
    assert result.exit_code == code, result.stdout + result.stderr
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_an_empty_history(folder: Path) -> None:
    (folder / "history" / "monday.csv").write_text(MONDAY.splitlines()[0] + "\n")
    result = backtest("--report", "r.html", "--time", "at")
    assert result.exit_code == 0, result.stderr
    assert "quotes: 0 rows from history/" in result.stdout and "never fires" in result.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--rejects", "history/monday.csv"],
        ["--junit", "new.sql"],
        ["--report", "a.json", "--junit", "a.json"],
    ],
)
def test_what_is_read_is_not_written_over(folder: Path, options: list[str]) -> None:
    result = backtest(*options)
    assert result.exit_code == 2 and "would be written" in result.stderr
    assert (folder / "history" / "monday.csv").read_text() == MONDAY
    assert (folder / "new.sql").read_text() == NEW

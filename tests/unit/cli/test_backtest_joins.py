"""`eddyline backtest` with joins: from files to verdicts, reports and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

SCHEMA = "at TIMESTAMP, symbol STRING, price DOUBLE"
QUOTES = """at,symbol,price
2026-01-05 09:30:08,ACME,9.0
2026-01-05 09:30:00,ACME,9.5
,ACME,9.5
2026-01-05 09:30:01,ZETA,240.0
2026-01-05 09:30:01,ZETA,n/a
"""
TRADES = """at,symbol,price
2026-01-05 09:30:20,ZETA,241.0
2026-01-05 09:30:09,ACME,9.9
2026-01-05 09:30:04,ACME,9.7
"""
NEW = """-- name: dearer
SELECT q.symbol, q.price, t.price AS paid FROM quotes q JOIN trades t ON q.symbol = t.symbol
WHERE t.at BETWEEN q.at AND q.at + INTERVAL 5 SECONDS AND t.price > q.price
-- name: dip
SELECT * FROM quotes WHERE price < 9.2
"""
EXISTING = """-- name: traded
SELECT t.* FROM trades t JOIN quotes q ON q.symbol = t.symbol AND t.at BETWEEN q.at AND q.at + INTERVAL 1 MINUTE
-- name: dearer
SELECT 1 AS one FROM quotes a JOIN quotes b ON a.at = b.at AND a.symbol = b.symbol
"""
TEXT = """\
quotes: 4 rows from quotes.csv; at from 2026-01-05 09:30:00 to 2026-01-05 09:30:08.050000
trades: 3 rows from trades, 2 files; at from 2026-01-05 09:30:04 to 2026-01-05 09:30:20.100000

query   over time         matches  share  first                last                 covered  note
dearer     █  █                 2  28.6%  2026-01-05 09:30:04  2026-01-05 09:30:09     100%
dip                   █         1  25.0%  2026-01-05 09:30:08  2026-01-05 09:30:08        -

matches that an existing query has already
query   existing  shared  of its matches
dearer  traded         2            100%

1 row could not be read; the first:
  quotes.csv, line 6: price: "n/a" is not a double: 2026-01-05 09:30:01,ZETA,n/a
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quotes.csv").write_text(QUOTES)
    Path("trades").mkdir()
    head, *rows = TRADES.splitlines(keepends=True)
    Path("trades/1.csv").write_text(head + rows[0])
    Path("trades/2.csv").write_text(head + "".join(rows[1:]))
    Path("new.sql").write_text(NEW)
    Path("existing.sql").write_text(EXISTING)


def backtest(*arguments: str, times: tuple[str, ...] = ("--event-time", "at")) -> Result:
    streams = ("--stream", "quotes=quotes.csv", "--stream", "trades=trades")
    schemas = ("--schema", f"quotes={SCHEMA}", "--schema", f"trades={SCHEMA}")
    return CliRunner().invoke(app, ["backtest", "new.sql", *streams, *schemas, *times, *arguments])


def test_text() -> None:
    result = backtest("--against", "existing.sql")
    assert "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines()) == TEXT
    assert result.exit_code == 1


def test_a_stream_that_no_query_reads_is_named() -> None:
    Path("new.sql").write_text("-- name: dip\nSELECT * FROM quotes WHERE price < 9.2")
    said = 'no query reads stream "trades", whose rows are in trades'
    assert said in backtest().stderr
    assert said not in backtest("--against", "existing.sql").stderr, "an existing query does"


def test_reports_and_expectations() -> None:
    Path("expect.toml").write_text(
        '[dearer]\nmin = 3\nmatch = [{ q = "quotes.csv:2", t = "trades/2.csv:2" }]\n'
        'no_match = [{ q = "quotes.csv:2", T = { symbol = "ACME", price = 9.0, at = "2026-01-05 09:30:00" } }]\n'
    )
    result = backtest(
        "--expect", "expect.toml", "--junit", "b.xml", "--report", "b.html", "--report", "b.json"
    )
    assert 'query "dearer" matched 2 pairs, but at least 3 were expected' in result.stdout
    assert "2 of 3 expectations held" in result.stdout
    [suite] = ElementTree.parse("b.xml").getroot()
    assert [case.attrib["name"] for case in suite][2:] == [
        "matches at least 3 pairs",
        'matches {"q": "quotes.csv:2", "t": "trades/2.csv:2"}',
        'does not match {"q": "quotes.csv:2", "T": {"symbol": "ACME", "price": 9.0, "at": "2026-01-05 09:30:00"}}',
    ]
    dearer, dip = json.loads(Path("b.json").read_text())["queries"]
    assert (dearer["stream"], dearer["is_join"], dip["is_join"]) == ("quotes JOIN trades", True, False)
    assert dearer["first"] == {
        "at": "2026-01-05 09:30:04",
        "rows": {
            "q": {
                "file": "quotes.csv",
                "number": 2,
                "at": "2026-01-05 09:30:00",
                "values": {"at": "2026-01-05 09:30:00+00:00", "symbol": "ACME", "price": 9.5},
            },
            "t": {
                "file": "trades/2.csv",
                "number": 2,
                "at": "2026-01-05 09:30:04",
                "values": {"at": "2026-01-05 09:30:04+00:00", "symbol": "ACME", "price": 9.7},
            },
        },
    }
    page = Path("b.html").read_text()
    assert (
        "<th>q.price</th>" in page and "quotes.csv:2, trades/2.csv:2" in page and "2 pairs of 7 rows" in page
    )


def test_without_an_event_time_it_says_what_to_write() -> None:
    result = backtest(times=())
    assert result.exit_code == 1
    assert 'query "dearer": stream "quotes" has no event time' in result.stdout
    assert "hint: say which column it is: --event-time quotes=at" in result.stdout


def test_without_a_history_of_both_streams() -> None:
    Path("known.ddl").write_text(f"{SCHEMA} WITH (event_time = at, lateness = '1 second')")
    declared = ["--schema", "quotes=known.ddl", "--schema", "trades=known.ddl", "--registry", "r.db"]
    assert CliRunner().invoke(app, ["query", "import", "existing.sql", *declared]).exit_code == 0
    arguments = ["backtest", "new.sql", "--stream", "quotes=quotes.csv", "--against", "r.db", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    [refusal] = found["refused"]
    assert refusal["message"] == 'there is no history of its stream "trades"' and found["existing"] == 1

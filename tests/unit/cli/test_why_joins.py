"""`eddyline query why` for joins: one row against all rows of the partner stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

COLUMNS = "symbol STRING, price DOUBLE, ts TIMESTAMP"
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
RULES = f"""-- name: spread
SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol
WHERE {SOON} AND q.price < 10 AND t.price > q.price;
-- name: rises
SELECT 1 AS n FROM quotes a JOIN quotes b ON a.symbol = b.symbol
WHERE b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS AND b.price >= a.price;
-- name: never
SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol) WHERE {SOON} AND q.price < 1 AND q.price > 2;
-- name: unbound
SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol);
-- name: cheap
SELECT * FROM quotes WHERE price < 10;
"""
QUOTES = """symbol,price,ts
A,5.0,2026-01-31 12:00:00
A,70.0,2026-01-31 12:00:01
B,3.0,2026-01-31 12:00:00
A,6.0,
"""
TRADES = """symbol,price,ts
A,6.0,2026-01-31 12:00:02
A,6.0,2026-01-31 12:00:07
Z,6.0,2026-01-31 12:00:02
A,6.0,
A,5.0,2026-01-31 12:00:02
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("rules.sql", RULES), ("quotes.csv", QUOTES), ("trades.csv", TRADES)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(id: str, row: str, *arguments: str, schemas: tuple[str, ...] = ("quotes", "trades")) -> Result:
    stated = [part for name in schemas for part in ("--schema", f"{name}={COLUMNS}")]
    command = [
        "query",
        "why",
        id,
        "--row",
        row,
        "--queries",
        "rules.sql",
        *stated,
        "--event-time",
        "ts",
        *arguments,
    ]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def complaint(result: Result) -> str:
    """What is said of wrong usage, in one line; a box may be drawn around it."""
    return " ".join(result.stderr.replace("│", " ").split())


def test_a_row_with_a_partner() -> None:
    result = ask("spread", "trades.csv:1", "--stream", "quotes=quotes.csv")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        'row 1 of trades.csv is in 1 pair of "spread"',
        "as t, with tuples of quotes as q",
        "  among 4 rows of quotes.csv",
        "  3 of them have its key: q.symbol = t.symbol",
        "  2 of them lie in the window: t.ts - q.ts from 0 seconds to 5 seconds",
        "  1 of them satisfies the conditions on q",
        "  1 of them satisfies (t.price > q.price)",
    ]


def test_the_nearest_miss() -> None:
    assert ask("spread", "trades.csv:2", "--stream", "QUOTES=quotes.csv").stdout.splitlines() == [
        'row 2 of trades.csv is in no pair of "spread"',
        "as t, with tuples of quotes as q",
        "  among 4 rows of quotes.csv",
        "  3 of them have its key: q.symbol = t.symbol",
        "  0 of them lie in the window: t.ts - q.ts from 0 seconds to 5 seconds",
        "  nearest: row 2 of quotes.csv: symbol 'A', price 70.0, ts 2026-01-31 12:00:01",
        "    q.price is 70.0, which does not lie in (-inf, 10.0)",
        "    t.ts - q.ts is 6 seconds, 1 second outside of 0 seconds to 5 seconds",
        "    (t.price > q.price) is false",
    ]
    assert ask("spread", "trades.csv:5", "--stream", "quotes=quotes.csv").stdout.splitlines()[-3:] == [
        "  0 of them satisfy (t.price > q.price)",
        "  nearest: row 1 of quotes.csv: symbol 'A', price 5.0, ts 2026-01-31 12:00:00",
        "    (t.price > q.price) is false",
    ]


def test_the_row_itself_fails() -> None:
    assert ask("spread", "quotes.csv:2", "--stream", "trades=trades.csv").stdout.splitlines() == [
        'row 2 of quotes.csv is in no pair of "spread"',
        "as q, with tuples of trades as t",
        "  q.price is 70.0, which does not lie in (-inf, 10.0)",
        "  among 5 rows of trades.csv",
        "  4 of them have its key: q.symbol = t.symbol",
        "  2 of them lie in the window: t.ts - q.ts from 0 seconds to 5 seconds",
        "  0 of them satisfy (t.price > q.price)",
        "  nearest: row 5 of trades.csv: symbol 'A', price 5.0, ts 2026-01-31 12:00:02",
        "    (t.price > q.price) is false",
    ]
    assert ask("spread", "trades.csv:4", "--stream", "quotes=quotes.csv").stdout.splitlines() == [
        'row 4 of trades.csv is in no pair of "spread"',
        "it is left out of joins: ts is NULL",
    ]
    assert ask("never", "trades.csv:1", "--stream", "quotes=quotes.csv").stdout.splitlines() == [
        'row 1 of trades.csv is in no pair of "never"',
        "no pair ever satisfies the query",
    ]


def test_a_row_given_as_json() -> None:
    row = '{"symbol": "A", "price": 6, "ts": "2026-01-31 12:00:03"}'
    result = ask("spread", row, "--stream", "quotes=quotes.csv", "--json")
    found = json.loads(result.stdout)
    assert (found["stream"], found["file"], found["row"]) == ("trades", None, None)
    assert found["tuple"] == {"symbol": "A", "price": 6, "ts": "2026-01-31T12:00:03Z"}
    assert (found["matched"], found["pairs"], found["rejected"], found["itself"]) == (True, 1, 0, None)
    assert found["roles"][0]["partners"] == {
        "all": 4,
        "key": 3,
        "window": 2,
        "standing": 2,
        "side": 1,
        "residual": 1,
    }
    assert ask("spread", f"trades={row}", "--stream", "quotes=quotes.csv").stdout.startswith(
        "the row is in 1 pair"
    )
    both = ["--stream", "quotes=quotes.csv", "--stream", "trades=trades.csv"]
    assert ask("spread", f"Quotes={row}", *both).stdout.splitlines()[1] == "as q, with tuples of trades as t"
    assert ask("spread", "trades.csv:1", *both).stdout.startswith("row 1 of trades.csv is in 1 pair")


def test_a_stream_joined_with_itself(folder: Path) -> None:
    result = ask("rises", "quotes.csv:2", schemas=("quotes",))
    assert result.stdout.splitlines() == [
        'row 2 of quotes.csv is in 2 pairs of "rises"',
        "as a, with tuples of quotes as b",
        "  among 3 rows of quotes.csv",
        "  2 of them have its key: a.symbol = b.symbol",
        "  0 of them lie in the window: b.ts - a.ts from 0 seconds to 5 seconds",
        "  nearest: row 1 of quotes.csv: symbol 'A', price 5.0, ts 2026-01-31 12:00:00",
        "    b.ts - a.ts is -1 second, 1 second outside of 0 seconds to 5 seconds",
        "    (b.price >= a.price) is false",
        "as b, with tuples of quotes as a",
        "  among 3 rows of quotes.csv",
        "  2 of them have its key: a.symbol = b.symbol",
        "  1 of them lies in the window: b.ts - a.ts from 0 seconds to 5 seconds",
        "  1 of them satisfies (b.price >= a.price)",
        "with itself it matches, because",
        "    a.symbol = b.symbol, both are 'A'",
        "    b.ts - a.ts is 0 seconds, within 0 seconds to 5 seconds",
        "    (b.price >= a.price) is true",
    ]
    same = f"quotes={folder / 'quotes.csv'}"
    assert ask("rises", "quotes.csv:2", "--stream", same, schemas=("quotes",)).stdout.startswith(
        "row 2 of quotes.csv is in 2 pairs"
    ), "the same file, by another name"


def test_rows_that_cannot_be_read(folder: Path) -> None:
    (folder / "quotes.csv").write_text(QUOTES + "A,oops,2026-01-31 12:00:02\n")
    result = ask("spread", "trades.csv:1", "--stream", "quotes=quotes.csv")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[2] == "  among 4 rows of quotes.csv"
    assert "1 row could not be read" in result.stderr


def test_columns_are_guessed_from_files() -> None:
    result = ask("spread", "trades.csv:1", "--stream", "quotes=quotes.csv", schemas=())
    assert result.exit_code == 0 and result.stdout.startswith("row 1 of trades.csv is in 1 pair")


def test_a_join_that_is_refused() -> None:
    result = ask("unbound", "trades.csv:1", "--stream", "quotes=quotes.csv")
    assert result.exit_code == 1
    assert "are not bound in time" in result.stderr
    command = [
        "query",
        "why",
        "spread",
        "--row",
        "trades.csv:1",
        "--queries",
        "rules.sql",
        "-s",
        "quotes=quotes.csv",
    ]
    untimed = CliRunner().invoke(app, command, catch_exceptions=False)
    assert untimed.exit_code == 1
    assert "hint: say which column it is: --event-time quotes=ts" in untimed.stderr


@pytest.mark.parametrize(
    ("row", "arguments", "said"),
    [
        ("trades.csv:1", (), 'the rows of stream "quotes" are not named: add --stream quotes=SOURCE'),
        ("{}", (), "whether the row is of quotes or trades is not clear: write it as --row quotes=ROW"),
        ("news=x.csv:1", (), 'query "spread" does not read stream "news"; it joins quotes and trades'),
        ("trades.csv:1", ("-s", "news=quotes.csv"), 'query "spread" does not read stream "news"'),
        ("trades.csv:1", ("-s", "quotes.csv"), "--stream is written as NAME=SOURCE"),
        ("trades.csv:1", ("-s", "quotes=a.csv", "-s", "Quotes=b.csv"), "a stream has two sources"),
        (
            "trades.csv:1",
            ("--row", "quotes.csv:1"),
            "--row is given 2 times, and one row is asked about at a time",
        ),
        ("trades.csv", ("-s", "quotes=quotes.csv"), "--row is written as FILE:N with N from 1"),
    ],
)
def test_rows_and_streams_that_do_not_fit(row: str, arguments: tuple[str, ...], said: str) -> None:
    result = ask("spread", row, *arguments)
    assert result.exit_code == 2
    assert said in complaint(result)


def test_options_that_mean_nothing() -> None:
    result = ask("cheap", "quotes.csv:1", "--stream", "quotes=quotes.csv", schemas=("quotes",))
    said = 'query "cheap" reads "quotes" alone and joins nothing: leave out --stream quotes=quotes.csv'
    assert result.exit_code == 2 and said in complaint(result)
    command = ["query", "why", "spread", "--rows", "trades.csv", "--queries", "rules.sql"]
    every = CliRunner().invoke(app, command, catch_exceptions=False)
    assert every.exit_code == 2 and "joins streams: name one row with --row" in complaint(every)
    assert ask("spread", "trades.csv:9", "--stream", "quotes=quotes.csv").exit_code == 3

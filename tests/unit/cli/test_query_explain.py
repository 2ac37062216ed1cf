"""`eddyline query explain`: a query's way, for people and for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

SCHEMA = "symbol STRING, price DOUBLE, volume BIGINT"


def explain(query: str | Path, *arguments: str) -> Result:
    command = ["query", "explain", str(query), "--schema", SCHEMA, *arguments]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_text() -> None:
    result = explain("SELECT symbol FROM quotes WHERE NOT (price >= 10 OR volume <= 2.5D)")
    assert result.exit_code == 0
    parts = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert parts[0] == "query"
    assert "bound to the stream quotes, time zone UTC" in parts
    assert "rewritten by unwrap_casts" in parts
    assert "volume   bigint  [3, +inf)" in parts
    assert "symbol  string  symbol" in parts


def test_json() -> None:
    result = explain("SELECT symbol FROM quotes WHERE price < 10 AND (symbol = 'A' OR volume > 5)", "--json")
    found = json.loads(result.stdout)
    assert found["normal_form"] == {
        "and": [
            {"subject": "price", "regions": "(-inf, 10.0)"},
            {
                "or": [
                    {"subject": "symbol", "regions": "{'A'}"},
                    {"subject": "volume", "regions": "[6, +inf)"},
                ]
            },
        ]
    }
    assert found["outputs"] == [{"name": "symbol", "expression": "symbol", "type": "string"}]
    assert (found["never_true"], found["always_true"], found["stream"]) == (False, False, "quotes")


@pytest.mark.parametrize(
    ("where", "verdict"),
    [("price < 1 AND price > 2", "never true"), ("symbol IS NULL OR symbol IS NOT NULL", "always true")],
)
def test_verdicts(where: str, verdict: str) -> None:
    assert f"  {verdict}: " in explain(f"SELECT * FROM quotes WHERE {where}").stdout


def test_a_refused_query_is_a_finding() -> None:
    result = explain("SELECT * FROM quotes WHERE prise < 1")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "SQL:1:28: error",
        '  stream "quotes" has no column "prise"',
        "    SELECT * FROM quotes WHERE prise < 1",
        "                               ^^^^^",
        '  hint: did you mean "price"?',
    ]
    found = json.loads(explain("SELECT", "--json").stdout)["finding"]
    assert found["line"] == 1 and found["message"]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "rules.sql"
    path.write_text("-- name: a\nSELECT * FROM q WHERE price < 1\n-- name: b\nSELECT * FROM q")
    assert explain(path, "--id", "a").stdout.startswith('query "a"')
    assert explain(path).exit_code == 2
    assert "a, b" in explain(path, "--id", "c").stderr
    assert explain(tmp_path / "missing.sql").exit_code == 3
    (tmp_path / "empty.sql").write_text("")
    assert explain(tmp_path / "empty.sql").exit_code == 3


JOINED = (
    "quotes=symbol STRING, price DOUBLE, ts TIMESTAMP",
    "Trades=symbol STRING, price DOUBLE, ts TIMESTAMP",
)
SPREAD = (
    "SELECT q.symbol, t.price AS paid FROM quotes q JOIN trades t ON q.symbol = t.symbol "
    "WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS AND NOT q.price >= 10 AND t.price > q.price"
)


def explain_join(query: str, *arguments: str) -> Result:
    schemas = [part for schema in JOINED for part in ("--schema", schema)]
    times = ["--event-time", "ts", "--lateness", "10 seconds"]
    command = ["query", "explain", query, *schemas, *times, *arguments]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_a_join() -> None:
    result = explain_join(SPREAD)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "query",
        f"  {SPREAD}",
        "",
        "bound to the streams quotes q JOIN Trades t, time zone UTC",
        "  ((q.symbol = t.symbol) AND (t.ts >= q.ts) AND "
        "(t.ts <= (q.ts + INTERVAL '0 00:00:05.000000' DAY TO SECOND)) AND "
        "(NOT (q.price >= CAST(10 AS DOUBLE))) AND (t.price > q.price))",
        "",
        "q rewritten by fold_constants",
        "  (NOT (price >= 10.0D)) in {true}",
        "",
        "q rewritten by push_down_not",
        "  price in (-inf, 10.0)",
        "",
        "normal form",
        "  branch",
        "  ├─ q: price in (-inf, 10.0)",
        "  ├─ t: always true",
        "  ├─ key: q.symbol = t.symbol",
        "  ├─ time: t.ts - q.ts from 0 seconds to 5 seconds",
        "  └─ residual: (t.price > q.price)",
        "",
        "delivers",
        "name    type    from",
        "symbol  string  q.symbol",
        "paid    double  t.price",
    ]


def test_a_join_for_machines() -> None:
    found = json.loads(explain_join(SPREAD + " AND (q.price < 3 OR t.price <=> 7)", "--json").stdout)
    assert (found["stream"], found["never_true"]) == ("quotes q JOIN Trades t", False)
    assert found["sources"] == [{"alias": "q", "stream": "quotes"}, {"alias": "t", "stream": "Trades"}]
    assert found["outputs"][1] == {"name": "paid", "expression": "t.price", "type": "double"}
    first, second = found["branches"]
    assert [side["free"] for side in first["sides"]] == [False, True]
    assert first["sides"][0]["normal_form"] == {"subject": "price", "regions": "(-inf, 3.0)"}
    assert [rewrite["rule"] for rewrite in first["sides"][0]["rewrites"]] == [
        "fold_constants",
        "push_down_not",
        "merge_subject",
    ]
    assert second["sides"][1]["normal_form"] == {"subject": "price", "regions": "{7.0}"}
    assert first["sides"][1]["rewrites"] == []
    assert first["keys"] == [{"expressions": ["q.symbol", "t.symbol"], "null_safe": False}]
    assert first["window"] == {
        "low": 0,
        "high": 5_000_000,
        "text": "t.ts - q.ts from 0 seconds to 5 seconds",
        "is_join_window": False,
    }
    assert first["residual"] == "(t.price > q.price)"


def test_a_join_that_is_never_true() -> None:
    never = SPREAD + " AND q.price > 20"
    assert "  never true: no pair can ever match" in explain_join(never).stdout.splitlines()
    found = json.loads(explain_join(never, "--json").stdout)
    assert (found["never_true"], found["branches"]) == (True, [])


def test_a_refused_join_is_a_finding() -> None:
    result = explain_join("SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol")
    assert result.exit_code == 1
    assert '"q" and "t" are not bound in time, so nothing could be forgotten' in result.stdout

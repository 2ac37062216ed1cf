"""`query cost` and budgets: the dearest queries, one with its parts, new ones, and what is refused or put in shadow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

SCHEMA = "quotes=symbol STRING, price DOUBLE, volume BIGINT, title STRING"
RULES = """-- name: cheap
SELECT symbol FROM quotes WHERE price < 10;
-- name: busy
SELECT symbol FROM quotes WHERE price < 10 AND volume >= 500;
-- name: news
SELECT * FROM quotes WHERE title RLIKE '[0-9]+ dead';
-- name: never
SELECT * FROM quotes WHERE price < 1 AND price > 2;
"""
DEAR = "SELECT * FROM quotes WHERE title RLIKE 'x?[a-z]y+'"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["query", *map(str, arguments)], catch_exceptions=False)


def parsed(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.sql"
    path.write_text(RULES)
    return path


@pytest.fixture
def registry(rules: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDDYLINE_REGISTRY", str(rules.parent / "eddyline.db"))
    assert run("import", rules, "--schema", SCHEMA).exit_code == 0
    return rules.parent / "eddyline.db"


def test_the_dearest_come_first(registry: Path) -> None:
    result = run("cost", "--top", "2")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["query", "news", "busy"]
    assert lines[-1].startswith("4 queries: ") and lines[-1].endswith(", 2 shown")


def test_json_has_all_figures_and_the_shares_sum_up(registry: Path) -> None:
    found = parsed(run("cost", "--by", "bytes", "--json"))
    assert found["queries"][0]["id"] == "news"
    assert sum(query["bytes"] for query in found["queries"]) == found["total"]["bytes"]


def test_one_query_with_its_parts(rules: Path) -> None:
    result = run("cost", "busy", "--queries", rules, "--schema", SCHEMA)
    assert result.exit_code == 0
    assert "  price located: 2.5 ns, 0 bytes, shared with 1 other\n" in result.stdout
    never = run("cost", "never", "--queries", rules, "--schema", SCHEMA)
    assert 'query "never": 0 ns a tuple, 0 bytes' in never.stdout


def test_an_unknown_query(registry: Path) -> None:
    result = run("cost", "nix")
    assert result.exit_code == 3
    assert 'there is no query "nix"' in result.stderr


def test_new_queries(registry: Path, tmp_path: Path) -> None:
    result = run("cost", "--add", "SELECT * FROM quotes WHERE price < 10 AND symbol = 'A'")
    assert result.exit_code == 0
    assert "  symbol located: 9 ns, 0 bytes\n" in result.stdout and "price located" not in result.stdout
    (tmp_path / "new.sql").write_text(
        f"-- name: a\n{DEAR};\n-- name: b\n{DEAR};\n-- name: c\nSELECT prise FROM quotes;\n"
    )
    found = run("cost", "--add", tmp_path / "new.sql", "--json")
    assert found.exit_code == 1 and 'has no column "prise"' in found.stderr
    first, second = parsed(found)["queries"]
    assert first["nanoseconds"] > 100 and second["nanoseconds"] < 0.01
    assert run("cost", "cheap", "--add", DEAR).exit_code == 2


def test_measured_on_rows(registry: Path, tmp_path: Path) -> None:
    rows = tmp_path / "quotes.csv"
    rows.write_text("symbol,price,volume,title\n" + "A,5,900,12 dead cats\n" * 100)
    found = parsed(run("cost", "busy", "--stream", f"quotes={rows}", "--json"))
    assert found["measured_on"] == {"quotes": 100}
    assert 0 < found["queries"][0]["measured_nanoseconds"] < found["total"]["measured_nanoseconds"]
    assert found["measured_alone"] > 0
    result = run("cost", "--stream", f"quotes={rows}")
    assert "measured on 100 rows of quotes: so few tell mostly" in result.stdout


def test_columns_must_be_known(rules: Path) -> None:
    assert run("cost", "--queries", rules).exit_code == 2


def test_over_budget_is_refused_or_put_in_shadow(registry: Path) -> None:
    assert run("budget", "set", "ann", "--owner", "--ns", "10").exit_code == 0
    refused = run("add", "dear", DEAR, "--owner", "ann")
    assert refused.exit_code == 1
    assert "it would cost 150 ns a tuple, most of it for title RLIKE 'x?[a-z]y+'" in refused.stdout
    assert "and every query of ann may cost 10" in refused.stdout
    assert (
        "hint: query cost --add shows all parts; query budget set ann --owner allows more" in refused.stdout
    )
    shadowed = run("add", "dear", DEAR, "--owner", "ann", "--over-budget", "shadow", "--json")
    assert shadowed.exit_code == 0
    assert parsed(shadowed)["findings"][0]["message"].startswith("put in shadow: it would cost 150 ns")
    assert parsed(run("show", "dear", "--json"))["state"] == "shadow"
    assert run("add", "ours", DEAR.replace("y+", "z+")).exit_code == 0
    assert run("add", "fine", "SELECT * FROM quotes WHERE price < 10", "--owner", "ann").exit_code == 0


def test_the_budget_itself_says_shadow(registry: Path) -> None:
    assert run("budget", "set", "dear", "--bytes", "20", "--over", "shadow").exit_code == 0
    assert run("add", "dear", DEAR, "--state", "disabled").exit_code == 0
    assert parsed(run("show", "dear", "--json"))["state"] == "disabled"
    changed = DEAR.replace("y+", "z+")
    assert run("add", "dear", changed, "--replace", "--state", "enabled").exit_code == 0
    assert parsed(run("show", "dear", "--json"))["state"] == "shadow"
    assert run("add", "dear", DEAR, "--replace", "--over-budget", "refuse").exit_code == 1


def test_an_import_refuses_each_query_that_costs_too_much(registry: Path, tmp_path: Path) -> None:
    run("budget", "set", "ann", "--owner", "--ns", "10")
    new = tmp_path / "new.jsonl"
    records = [
        {"id": "a", "sql": DEAR, "owner": "ann"},
        {"id": "b", "sql": DEAR, "owner": "ann"},
        {"id": "c", "sql": "SELECT * FROM quotes WHERE price < 11", "owner": "ann"},
    ]
    new.write_text("\n".join(map(json.dumps, records)))
    found = run("import", new, "--json")
    assert found.exit_code == 1
    assert [finding["query"] for finding in parsed(found)["findings"]] == ["a", "b"]
    assert parsed(found)["added"] == 1


def test_what_is_registered_already_is_no_new_cost(registry: Path, rules: Path) -> None:
    run("budget", "set", "news", "--ns", "1")
    assert run("import", rules).exit_code == 0
    assert run("add", "news", DEAR, "--replace").exit_code == 1


def test_budgets_are_listed_and_removed(registry: Path) -> None:
    assert "has no budgets" in run("budget", "list").stdout
    run("budget", "set", "cheap", "--ns", "0.5", "--bytes", "1000")
    line = 'the query "cheap" may cost 0.5 ns a tuple and 1,000 bytes; what costs more is refused\n'
    assert run("budget", "list").stdout == line
    assert parsed(run("budget", "list", "--json"))["budgets"][0]["bytes"] == 1000
    assert run("budget", "remove", "cheap").exit_code == 0
    missing = run("budget", "remove", "cheap")
    assert missing.exit_code == 1 and 'the query "cheap" has no budget' in missing.stderr
    assert run("budget", "set", "cheap").exit_code == 2


TIMED = "symbol STRING, price DOUBLE, ts TIMESTAMP WITH (event_time = ts, lateness = '10 seconds')"
JOIN = """SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol
    WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS AND q.price < 10"""


@pytest.fixture
def joins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry with a join, a query of one of its streams, and a join that is never true."""
    (tmp_path / "joins.sql").write_text(
        f"-- name: spread\n{JOIN};\n-- name: cheap\nSELECT symbol FROM quotes WHERE price < 10;\n"
        f"-- name: never\n{JOIN} AND q.price > 20;\n"
    )
    monkeypatch.setenv("EDDYLINE_REGISTRY", str(tmp_path / "eddyline.db"))
    schemas = ["--schema", f"quotes={TIMED}", "--schema", f"trades={TIMED}"]
    assert run("import", tmp_path / "joins.sql", *schemas).exit_code == 0
    return tmp_path / "eddyline.db"


def test_a_join_and_its_parts(joins: Path) -> None:
    assert run("cost", "spread").stdout.splitlines() == [
        'query "spread": 209 ns a tuple, 353 bytes',
        "  q: keeping tuples of quotes by symbol: 60 ns, 0 bytes",
        "  t: keeping tuples of trades by symbol: 60 ns, 0 bytes",
        "  q: looking up tuples of quotes among those of trades by symbol: 40 ns, 0 bytes",
        "  t: looking up tuples of trades among those of quotes by symbol: 40 ns, 0 bytes",
        "  q: its entry in the list of a tuple: 6 ns, 4 bytes",
        "  q: price located: 2.5 ns, 0 bytes, shared with 1 other",
        "  q: price < 10.0: 0.0043 ns, 9 bytes, shared with 1 other",
        "  q: its own result: 0.0022 ns, 12 bytes",
        "  q: the row-by-row form for small batches: 0 ns, 222 bytes, shared with 1 other",
        "  what is known of its sides: 0 ns, 102 bytes",
        "  q: the constant 10.0 of price: 0 ns, 4 bytes, shared with 1 other",
    ]
    assert run("cost", "never").stdout.splitlines() == [
        'query "never": 0 ns a tuple, 0 bytes',
        "  it is never true, so nothing is done for it",
    ]
    listed = run("cost").stdout.splitlines()
    assert listed[1].split()[0] == "spread" and listed[1].endswith("  q: keeping tuples of quotes by symbol")
    found = parsed(run("cost", "--json"))
    assert sum(query["bytes"] for query in found["queries"]) == found["total"]["bytes"]


def test_what_one_more_join_would_cost(joins: Path) -> None:
    assert run("cost", "--add", JOIN.replace("< 10", "< 20")).stdout.splitlines() == [
        'adding "the query": 6.01 ns a tuple, 132 bytes',
        "  q: its entry in the list of a tuple: 6 ns, 4 bytes",
        "  q: price < 20.0, compared for it alone: 0.0061 ns, 10 bytes",
        "  what is known of its sides: 0 ns, 102 bytes",
        "  q: its own result: 0 ns, 8 bytes",
        "  q: the constant 20.0 of price: 0 ns, 8 bytes",
        "on top of 3 queries: 6.01 ns a tuple, 132 bytes",
    ]


def test_a_join_measured_on_rows(joins: Path, tmp_path: Path) -> None:
    (tmp_path / "quotes.csv").write_text(
        "symbol,price,ts\nA,5.0,2026-01-01 00:00:00\nB,50.0,2026-01-01 00:00:01\n"
    )
    result = run("cost", "spread", "--stream", f"quotes={tmp_path / 'quotes.csv'}")
    assert result.exit_code == 0
    assert "ns measured" in result.stdout.splitlines()[0]
    assert result.stdout.splitlines()[-1].startswith("  if it were the only query: ")


def test_a_join_over_its_budget_is_refused(joins: Path) -> None:
    assert run("budget", "set", "ann", "--owner", "--ns", "50").exit_code == 0
    result = run("add", "other", JOIN.replace("q.symbol = t.symbol", "q.price = t.price"), "--owner", "ann")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:3] == [
        '  query "other": it would cost 217 ns a tuple, most of it for q: keeping tuples of quotes by price, '
        "and every query of ann may cost 50",
        "  hint: query cost --add shows all parts; query budget set ann --owner allows more",
    ]
    assert run("add", "again", JOIN.replace("< 10", "< 30"), "--owner", "ann").exit_code == 0

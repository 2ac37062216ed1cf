"""`--join-window` in every command that has it: kept by a registry, or for one run over files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app
from eddyline.cli.output.terminal import Exit
from eddyline.registry import Put, Registry

COLUMNS = "symbol STRING, price DOUBLE, ts TIMESTAMP WITH (event_time = ts, lateness = '10 seconds')"
SCHEMAS = ("--schema", f"quotes={COLUMNS}", "--schema", f"trades={COLUMNS}")
ANY = "SELECT q.price AS quoted, t.price AS paid FROM quotes q JOIN trades t ON q.symbol = t.symbol"
SOON = f"{ANY} WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
RULES = f"-- name: any\n{ANY};\n-- name: soon\n{SOON};\n"
QUOTES = "symbol,price,ts\nA,1.0,2026-01-05 12:00:00\nA,2.0,2026-01-05 12:04:00\n"
TRADES = "symbol,price,ts\nA,3.0,2026-01-05 12:05:00\nA,4.0,2026-01-05 12:04:03\n"
ROWS = ("-s", "quotes=quotes.csv", "-s", "trades=trades.csv")
UNBOUND = '"q" and "t" are not bound in time'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDDYLINE_REGISTRY", raising=False)
    for name, text in (("rules.sql", RULES), ("quotes.csv", QUOTES), ("trades.csv", TRADES)):
        (tmp_path / name).write_text(text)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words, catch_exceptions=False)


def read(*words: str) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*words, "--json").stdout)


def complaint(result: Result) -> str:
    """What is said of wrong usage, in one line; a box may be drawn around it."""
    return " ".join(result.stderr.replace("│", " ").split())


# -- kept by a registry


@pytest.fixture
def registered(place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A registry with both joins, and five minutes for those that name no time bound."""
    monkeypatch.setenv("EDDYLINE_REGISTRY", place)
    result = run("query", "import", "rules.sql", *SCHEMAS, "--join-window", "300 s")
    assert result.exit_code == 0 and result.stdout.endswith(
        "version 1: 2 added, join window 5 minutes, 1 note\n"
    )
    return place


def window_of(place: str) -> object:
    with Registry.open(place) as registry:
        return registry.join_window()


def test_a_registry_keeps_it(registered: str) -> None:
    assert window_of(registered) == "5 minutes"
    result = run("query", "add", "more", ANY, "--join-window", "5 min")
    assert result.exit_code == 0 and result.stdout.endswith("version 2: 1 added, 1 note\n")
    assert run("query", "add", "most", ANY).exit_code == 0
    assert window_of(registered) == "5 minutes"


def test_without_it_such_a_join_is_refused() -> None:
    result = run("query", "add", "any", ANY, *SCHEMAS)
    assert result.exit_code == Exit.FINDINGS and UNBOUND in result.stdout
    assert "or set join_window; in a shell --join-window" in result.stdout


def test_another_one_has_to_be_asked_for(registered: str) -> None:
    result = run("query", "add", "more", ANY, "--join-window", "1 hour")
    assert result.exit_code == Exit.FAILURE
    assert "the registry has the join window 5 minutes" in result.stderr
    assert "say --redeclare to change it for all joins" in result.stderr
    result = run("query", "import", "rules.sql", "--join-window", "1 hour", "--redeclare")
    assert result.exit_code == 0 and result.stdout.endswith("version 2: 2 unchanged, join window 1 hour\n")
    assert run("query", "diff", "1").stdout.splitlines()[0] == "~ join window 5 minutes -> 1 hour"
    assert read("query", "diff", "1")["join_window"] == {"old": "5 minutes", "new": "1 hour"}
    assert "+ join window 5 minutes" in run("query", "diff", "0", "1").stdout.splitlines()
    assert "- join window 1 hour" in run("query", "diff", "2", "0").stdout.splitlines()
    assert run("query", "rollback", "1").exit_code == 0 and window_of(registered) == "5 minutes"
    assert read("query", "diff", "1", "3")["join_window"] is None


@pytest.mark.parametrize("command", [("add", "soon", SOON, "--replace"), ("import", "soon.sql")])
@pytest.mark.parametrize(
    ("window", "problem"), [("none", UNBOUND), ("100", "join_window 100 is no length of time")]
)
def test_joins_that_would_break_are_named(
    registered: str, command: tuple[str, ...], window: str, problem: str
) -> None:
    Path("soon.sql").write_text(f"-- name: soon\n{SOON};\n")
    result = run("query", *command, "--join-window", window, "--redeclare")
    assert result.exit_code == Exit.FINDINGS
    assert 'query "any": ' + problem in result.stdout
    assert window_of(registered) == "5 minutes"


def test_it_can_be_taken_away(registered: str) -> None:
    assert run("query", "remove", "any").exit_code == 0
    result = run("query", "import", "rules.sql", "--join-window", "None", "--redeclare")
    assert result.exit_code == Exit.FINDINGS and "1 refused, no join window" in result.stdout
    assert window_of(registered) is None


def test_json_of_a_change_says_it(registered: str) -> None:
    changed = read("query", "add", "more", ANY, "--join-window", "1 hour", "--redeclare")
    assert (changed["version"], changed["join_window"]) == (2, "1 hour")
    assert "join_window" not in read("query", "add", "most", ANY)


def test_it_is_shown(registered: str) -> None:
    assert run("query", "list").stdout.endswith("version 1: 2 queries, join window 5 minutes\n")
    assert read("query", "list")["join_window"] == "5 minutes"
    facts = [line.split() for line in run("query", "show", "any").stdout.splitlines()]
    assert ["join", "window", "5", "minutes"] in facts
    assert read("query", "show", "any")["join_window"] == "5 minutes"
    assert "join window" not in run("query", "show", "soon").stdout
    assert read("query", "show", "soon")["join_window"] is None
    assert ", join window 5 minutes" in run("doctor").stdout.replace("\n", " ")


def test_everybody_compiles_with_it(registered: str) -> None:
    found = read("match", *ROWS, "--output", "counts")
    assert found["counts"] == {"any": 4, "soon": 1} and found["findings"] == []
    assert read("match", *ROWS, "--output", "counts", "--join-window", "1 minute")["counts"]["any"] == 2
    why = ("query", "why", "any", "--row", "trades.csv:1", "--stream", "quotes=quotes.csv")
    assert read(*why)["pairs"] == 2 and read(*why, "--join-window", "1 minute")["pairs"] == 1
    assert read("query", "cost")["count"] == 2
    result = run("query", "cost", "any")
    assert result.exit_code == 0 and result.stdout.startswith('query "any": ')
    assert read("query", "cost", "--add", ANY)["marginal"] is True
    assert window_of(registered) == "5 minutes"


def test_rows_that_a_join_selects(registered: str) -> None:
    lines = run("match", *ROWS, "--join-window", "1 minute", "--output", "rows").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert sorted((row["quoted"], row["paid"]) for row in rows if row["query"] == "any") == [(2, 3), (2, 4)]


def test_a_backtest_takes_that_of_the_registry_it_is_compared_with(registered: str) -> None:
    Path("new.sql").write_text(f"-- name: new\n{ANY} WHERE t.price > 3;\n")
    found = read("backtest", "new.sql", *ROWS, "--against", registered)
    assert [(query["id"], query["matches"]) for query in found["queries"]] == [("new", 2)]
    assert found["refused"] == []
    found = read("backtest", "new.sql", *ROWS, "--against", registered, "--join-window", "1 minute")
    assert [(query["id"], query["matches"]) for query in found["queries"]] == [("new", 1)]


def test_budgets_price_joins_that_take_it(registered: str) -> None:
    assert run("query", "budget", "set", "ann", "--owner", "--ns", "1").exit_code == 0
    result = run("query", "add", "more", f"{ANY} AND q.price > 7", "--owner", "ann")
    assert result.exit_code == Exit.FINDINGS and "every query of ann may cost 1" in result.stdout


# -- for one run over files


def test_files_are_checked_with_it() -> None:
    result = run("query", "check", "rules.sql", *SCHEMAS)
    assert result.exit_code == Exit.FINDINGS and "2 queries read, 1 accepted, 1 error" in result.stdout
    result = run("query", "check", "rules.sql", *SCHEMAS, "--join-window", "5 minutes")
    assert result.exit_code == 0 and "2 queries read, 2 accepted" in result.stdout


def test_an_explanation_says_where_the_window_comes_from() -> None:
    result = run("query", "explain", ANY, *SCHEMAS, "--join-window", "5 minutes")
    assert result.exit_code == 0
    assert "time: t.ts - q.ts from -5 minutes to 5 minutes, by the join window" in result.stdout
    window = read("query", "explain", ANY, *SCHEMAS, "--join-window", "5 minutes")["branches"][0]["window"]
    assert (window["high"], window["is_join_window"]) == (300_000_000, True)
    result = run("query", "explain", SOON, *SCHEMAS, "--join-window", "5 minutes")
    assert "time: t.ts - q.ts from 0 seconds to 5 seconds\n" in result.stdout


def test_files_are_matched_with_it() -> None:
    assert read("match", "-q", "rules.sql", *ROWS, *SCHEMAS, "--output", "counts")["counts"] == {"soon": 1}
    found = read("match", "-q", "rules.sql", *ROWS, *SCHEMAS, "--output", "counts", "--join-window", "1 hour")
    assert found["counts"] == {"any": 4, "soon": 1}
    why = ("query", "why", "any", "-q", "rules.sql", "--row", "trades.csv:1", "-s", "quotes=quotes.csv")
    assert UNBOUND in run(*why, *SCHEMAS).stderr
    assert read(*why, *SCHEMAS, "--join-window", "5 minutes")["pairs"] == 2
    found = read("backtest", "rules.sql", *ROWS, *SCHEMAS, "--join-window", "1 minute")
    assert [(query["id"], query["matches"]) for query in found["queries"]] == [("any", 2), ("soon", 1)]
    found = read("query", "cost", "-q", "rules.sql", *SCHEMAS, "--join-window", "1 minute")
    assert found["count"] == 2


def test_numbers_are_for_event_times_that_are_numbers() -> None:
    counted = "key INT, n BIGINT WITH (event_time = n, lateness = 5)"
    Path("a.csv").write_text("key,n\n1,10\n1,100\n")
    text = "SELECT a.n FROM a JOIN a AS b USING (key)"
    Path("a.sql").write_text(f"-- name: near\n{text};\n")
    schema = ("--schema", f"a={counted}")
    found = read(
        "match", "-q", "a.sql", "-s", "a=a.csv", *schema, "--output", "counts", "--join-window", "50"
    )
    assert found["counts"] == {"near": 2}
    assert run("query", "add", "near", text, *schema, "--join-window", "50").exit_code == 0
    assert window_of("eddyline.db") == 50


@pytest.mark.parametrize(
    "command",
    [
        ("query", "check", "rules.sql", *SCHEMAS),
        ("query", "explain", ANY, *SCHEMAS),
        ("query", "why", "any", "-q", "rules.sql", "--row", "trades.csv:1", "-s", "quotes=quotes.csv"),
        ("query", "cost", "-q", "rules.sql", *SCHEMAS),
        ("query", "add", "any", ANY, *SCHEMAS),
        ("query", "import", "rules.sql", *SCHEMAS),
        ("match", "-q", "rules.sql", *ROWS),
        ("backtest", "rules.sql", *ROWS),
    ],
)
def test_what_is_no_length_is_wrong_usage(command: tuple[str, ...]) -> None:
    result = run(*command, "--join-window", "soon")
    assert result.exit_code == Exit.USAGE
    assert "--join-window 'soon' is no length of time; write it as" in complaint(result)
    result = run(*command, "--join-window", "2 months")
    assert result.exit_code == Exit.USAGE and "give days" in complaint(result)


@pytest.mark.parametrize("command", [("match", "-q", "rules.sql"), ("backtest", "rules.sql")])
def test_spark_refuses_joins_and_so_their_window(command: tuple[str, ...]) -> None:
    result = run(*command, *ROWS, "--runtime", "spark", "--join-window", "1 hour")
    assert result.exit_code == Exit.USAGE
    assert "--join-window means nothing with --runtime spark" in complaint(result)


def test_a_registry_that_was_changed_without_a_check_is_told_of(place: str) -> None:
    with Registry.open(place) as registry:
        run("query", "add", "soon", SOON, *SCHEMAS, "--registry", place)
        registry.change([Put("any", ANY)])
    found = read("match", "--registry", place, *ROWS, "--output", "counts")
    assert found["counts"] == {"soon": 1} and UNBOUND in found["findings"][0]["message"]

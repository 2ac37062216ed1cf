"""`query relate` and `query redundancies`: what they print, their exit codes, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app
from eddyline.cli.output.terminal import Exit
from tests.html_page import check_that_it_stands_alone

SCHEMA = "quotes=symbol STRING, price DOUBLE"
RULES = """-- name: cheap
SELECT * FROM quotes WHERE price < 10;
-- name: cheap fx
SELECT * FROM quotes WHERE symbol = 'EUR' AND price < 5;
-- name: low
SELECT symbol FROM quotes WHERE NOT price >= 10;
-- name: odd
SELECT * FROM quotes WHERE price < 1 AND price > 3;
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["query", *map(str, arguments)])


def parsed(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "rules.sql"
    path.write_text(RULES)
    monkeypatch.setenv("EDDYLINE_REGISTRY", str(tmp_path / "eddyline.db"))
    return path


def test_two_queries_of_a_registry(rules: Path) -> None:
    assert run("import", rules, "--schema", SCHEMA).exit_code == Exit.FINE
    result = run("relate", "cheap fx", "cheap")
    assert result.exit_code == Exit.FINDINGS
    assert result.stdout.splitlines()[:2] == ["implies", '"cheap fx" implies "cheap"']
    found = parsed(run("relate", "cheap", "cheap fx", "--json"))
    assert found["verdict"] == "implied by"
    assert found["implies"]["row"] == {"symbol": "", "price": 0.0}


def test_statements_need_no_set(rules: Path) -> None:
    one, other = "SELECT * FROM quotes WHERE price < 3", "SELECT * FROM quotes WHERE price > 7"
    result = run("relate", one, other, "--schema", SCHEMA)
    assert result.exit_code == Exit.FINE and result.stdout.startswith("disjoint\n")
    wide = "SELECT * FROM quotes WHERE symbol = 'A'"
    result = run("relate", wide, other, "--schema", SCHEMA, "--given", "symbol <> 'A'", "--json")
    assert parsed(result)["verdict"] == "never true"


def test_joins(rules: Path) -> None:
    columns = "symbol STRING, price DOUBLE, ts TIMESTAMP WITH (event_time = ts, lateness = '1 minute')"
    schemas = [option for name in ("quotes", "trades") for option in ("--schema", f"{name}={columns}")]
    wide = "SELECT q.price FROM quotes q JOIN trades t ON q.symbol = t.symbol"
    narrow = f"{wide} AND t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
    result = run("relate", narrow, wide, *schemas, "--join-window", "5 seconds", "--json")
    assert result.exit_code == Exit.FINDINGS, result.stderr
    found = parsed(result)
    assert found["verdict"] == "implies"
    assert set(found["implied_by"]["row"]) == {"q", "t"}
    result = run("relate", narrow, wide, *schemas)
    assert result.exit_code == Exit.FAILURE and "--join-window" in result.stderr
    result = run("relate", narrow, "SELECT * FROM quotes", *schemas)
    assert result.exit_code == Exit.USAGE and "the second one reads one" in result.stderr


def test_what_is_refused(rules: Path) -> None:
    asked = ("--queries", rules, "--schema", SCHEMA)
    result = run("relate", "cheap", "chep", *asked)
    assert result.exit_code == Exit.FAILURE and 'did you mean "cheap"?' in result.stderr
    result = run("relate", "cheap", "SELECT * FROM nowhere", *asked)
    assert result.exit_code == Exit.FAILURE and "nowhere" in result.stderr
    result = run("relate", "cheap", "low", "--queries", rules)
    assert result.exit_code == Exit.USAGE and "--schema" in result.stderr


def test_a_whole_set(rules: Path) -> None:
    asked = ("--queries", rules, "--schema", SCHEMA)
    result = run("redundancies", *asked)
    assert result.exit_code == Exit.FINDINGS
    assert result.stdout.splitlines()[-1] == "3 of 4 queries are redundant"
    found = parsed(run("redundancies", *asked, "--json"))
    assert found["count"] == 4 and not found["unknown"] and not found["uncompared"]
    assert found["redundancies"] == [
        {"query": "cheap fx", "relation": "implied", "other": "cheap"},
        {"query": "low", "relation": "equivalent", "other": "cheap"},
        {"query": "odd", "relation": "never true", "other": None},
    ]


def test_a_page_with_what_the_registry_knows(rules: Path, tmp_path: Path) -> None:
    rules.write_text(RULES.replace("-- name: low\n", "-- name: low\n-- owner: ann\n-- destination: desk\n"))
    assert run("import", rules, "--schema", SCHEMA).exit_code == Exit.FINE
    result = run("redundancies", "--html", tmp_path / "page.html")
    assert result.exit_code == Exit.FINDINGS and "3 of 4 queries are redundant" in result.stdout
    text = (tmp_path / "page.html").read_text()
    check_that_it_stands_alone(text)
    assert (
        "delivers to desk, the other to nobody" in text
        and "&quot;cheap fx&quot; implies &quot;cheap&quot;" in text
    )


def test_a_page_that_cannot_be_written(rules: Path, tmp_path: Path) -> None:
    asked = ("--queries", rules, "--schema", SCHEMA)
    result = run("redundancies", *asked, "--html", tmp_path / "no folder" / "page.html")
    assert result.exit_code == Exit.FAILURE and "cannot be written" in result.stderr
    assert "3 of 4 queries are redundant" in result.stdout, "what was found is not lost"


def test_a_long_table_is_cut_and_says_so(rules: Path) -> None:
    rules.write_text("".join(f"-- name: q{n}\nSELECT * FROM quotes WHERE price < 3;\n" for n in range(80)))
    asked = ("--queries", rules, "--schema", SCHEMA)
    lines = run("redundancies", *asked).stdout.splitlines()
    assert len(lines) == 1 + 50 + 2
    assert lines[-2:] == [
        "29 more rows are not shown; --all shows them, --json has them",
        "79 of 80 queries are redundant",
    ]
    assert len(run("redundancies", *asked, "--all").stdout.splitlines()) == 1 + 79 + 1
    assert len(parsed(run("redundancies", *asked, "--json"))["redundancies"]) == 79


def test_proofs_of_a_set(rules: Path) -> None:
    asked = ("--queries", rules, "--schema", SCHEMA, "--proofs")
    lines = run("redundancies", *asked).stdout.splitlines()
    assert '"cheap fx" is covered by "cheap"' in lines and any("   lies in   " in line for line in lines)
    assert all(row["proof"] for row in parsed(run("redundancies", *asked, "--json"))["redundancies"])


def test_joins_of_files(tmp_path: Path) -> None:
    """What is said of event times holds for them, and stands in the commands that a page shows."""
    text = "SELECT * FROM a JOIN b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + {}"
    (tmp_path / "joins.sql").write_text("".join(f"-- name: j{n}\n{text.format(n)};\n" for n in (3, 5)))
    schemas = [word for name in "ab" for word in ("--schema", f"{name}=k INT, t BIGINT")]
    asked = ("--queries", tmp_path / "joins.sql", *schemas, "--event-time", "t", "--lateness", "10")
    assert run("relate", "j3", "j5", *asked).stdout.splitlines()[0] == "implies"
    assert parsed(run("redundancies", *asked, "--json"))["redundancies"][0]["query"] == "j3"


def test_an_interrupted_search_shows_what_it_found(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eddyline.cli.output.progress.Terminal.queries", interrupt)
    asked = ("--queries", rules, "--schema", SCHEMA, "--html", tmp_path / "page.html")
    result = run("redundancies", *asked)
    assert result.exit_code == Exit.INTERRUPTED and "interrupted" in result.stderr
    assert "queries are redundant" in result.stdout
    assert "interrupted: not all were compared" in (tmp_path / "page.html").read_text()
    assert parsed(run("redundancies", *asked, "--json"))["complete"] is False


def test_progress_counts_the_queries_of_all_streams(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "eddyline.cli.output.progress.Terminal.queries",
        lambda _, what, done, total: told.append((done, total)),
    )
    rules.write_text(RULES + "-- name: bar\nSELECT * FROM bars WHERE low < 3;\n")
    run("redundancies", "--queries", rules, "--schema", SCHEMA, "--schema", "bars=low DOUBLE")
    assert told[-1][1] == told[0][1] + 1, "the query of the second stream comes on top of the first's"
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= total for done, total in told)

"""`query relate` and `query redundancies`: what they print, their exit codes, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app
from eddyline.cli.output.terminal import Exit

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

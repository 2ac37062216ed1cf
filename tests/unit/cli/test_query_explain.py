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

"""`eddyline query check`: every problem of a file in one run, at its place, with the right exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app

DATA = Path(__file__).parent / "data"
SCHEMA = "symbol STRING, price DOUBLE, volume BIGINT, happened TIMESTAMP"


def check(*arguments: str | Path, schema: str = SCHEMA, text: bytes | None = None) -> Result:
    command = ["query", "check", *map(str, arguments), "--schema", schema]
    return CliRunner().invoke(app, command, input=text, catch_exceptions=False)


def findings(result: Result) -> list[tuple[object, ...]]:
    """Severity, line, query and message of every finding of a run with --json."""
    found = json.loads(result.stdout)["findings"]
    return [(f["severity"], f["line"], f["query"], f["message"]) for f in found]


def test_ten_mistakes_give_ten_messages() -> None:
    result = check(DATA / "ten_mistakes.sql", "--json")
    assert result.exit_code == 1
    assert findings(result) == [
        ("error", 5, "misspelled column", 'stream "quotes" has no column "prise"'),
        ("error", 8, "misspelled stream", 'stream "qoutes" is not known'),
        ("error", 12, "open string", "the string that starts here is never closed"),
        (
            "error",
            15,
            "aggregate",
            "aggregate functions are not supported: a query sees one tuple at a time",
        ),
        ("error", 18, "bad types", '">" cannot compare timestamp with int'),
        ("error", 21, "no condition", "WHERE wants a condition, not bigint"),
        ("error", 24, "unknown function", 'function "lowercase" is not known'),
        ("error", 29, "forgotten AND", '"volume" was not expected here'),
        ("error", 32, "bad date", "'2026-02-30' is not a date"),
        (
            "error",
            35,
            "the clock",
            "current_timestamp: the function reads the clock, so the same tuple would match one time and not the next",
        ),
    ]
    assert all(f["hint"] for f in json.loads(result.stdout)["findings"])


def test_the_picture_shows_the_line_of_the_file() -> None:
    lines = check(DATA / "ten_mistakes.sql").stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if "ten_mistakes.sql:29:3" in line)
    assert lines[start + 1 : start + 5] == [
        '  query "forgotten AND": "volume" was not expected here',
        "      volume > 100;",
        "      ^^^^^^",
        "  hint: is an operator or AND missing before it?",
    ]
    assert lines[-1] == "1 file: 10 queries read, 0 accepted, 10 errors"


def test_fine(tmp_path: Path) -> None:
    path = tmp_path / "fine.sql"
    path.write_text("-- all is well\n-- name: cheap\nSELECT * FROM ticks WHERE price < 10;\n")
    result = check(path)
    assert (result.exit_code, result.stdout) == (0, "1 file: 1 query read, 1 accepted\n")


def test_never_is_a_warning_and_always_a_note(tmp_path: Path) -> None:
    never, always = "SELECT * FROM q WHERE price < 1 AND price > 2", "SELECT * FROM q"
    path = tmp_path / "edge.csv"
    path.write_text(f'id,sql\nalways,"{always}"\n')
    assert check(path).exit_code == 0
    path.write_text(f'id,sql\nnever,"{never}"\nalways,"{always}"\n')
    result = check(path, "--json")
    assert result.exit_code == 1
    assert findings(result) == [
        ("warning", 2, "never", "no tuple can ever match"),
        ("note", 3, "always", "every tuple matches"),
    ]
    assert json.loads(result.stdout)["accepted"] == 2


def test_a_pattern_that_needs_backtracking_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "patterns.csv"
    once, tried = (
        "SELECT * FROM q WHERE symbol RLIKE '(a+)+$'",
        "SELECT * FROM q WHERE symbol NOT RLIKE '(?=.*a)b'",
    )
    path.write_text(f'id,sql\nonce,"{once}"\ntried,"{tried}"\n')
    result = check(path, "--json")
    message = "pattern '(?=.*a)b' needs backtracking: at most 1,000,000 steps per row, then NULL"
    assert (result.exit_code, findings(result)) == (0, [("note", 3, "tried", message)])


def test_an_id_used_twice_is_found_across_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": "x", "sql": "SELECT * FROM q WHERE price < 1"}\n')
    result = check(tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json")
    assert result.exit_code == 1
    assert findings(result) == [("error", 1, "x", f"the id is used before, at {tmp_path / 'a.jsonl'}:1")]


def test_of_an_id_used_twice_the_first_query_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "rules.sql"
    path.write_text(
        "-- name: d\nSELECT * FROM q WHERE price < 1;\n-- name: d\nSELECT * FROM q WHERE price < 2;\n"
    )
    assert json.loads(check(path, "--json").stdout)["accepted"] == 1


def test_a_function_that_only_spark_has_is_a_note_as_it_is_for_an_import(tmp_path: Path) -> None:
    path = tmp_path / "rules.sql"
    path.write_text("-- name: near\nSELECT * FROM q WHERE levenshtein(symbol, 'x') < 3\n")
    result = check(path, "--json")
    note = "Spark runtime only, and unverified: only Spark has levenshtein"
    assert result.exit_code == 0 and findings(result) == [("note", 1, "near", note)]
    assert json.loads(result.stdout)["accepted"] == 1


def test_standard_input_is_json_lines() -> None:
    lines = b'{"id": "a", "sql": "SELECT * FROM q WHERE prize < 1"}\n\nnonsense\n{"id": 7}\n[1]\n'
    result = check("-", "--json", text=lines)
    assert result.exit_code == 1
    assert findings(result) == [
        ("error", 1, "a", 'stream "q" has no column "prize"'),
        ("error", 3, None, "this is not JSON: expecting value (column 1)"),
        ("error", 4, None, '"id" is not text'),
        ("error", 4, None, '"sql" is missing'),
        ("error", 5, None, "an entry is an object with id and sql"),
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.sql", "there is no file"),
        ("folder.sql", "is a folder"),
        ("rules.txt", "does not say in which form"),
        ("utf16.sql", "is UTF-16 text"),
        ("table.sql", "is a Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_fails_and_the_others_are_checked(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "folder.sql").mkdir()
    (tmp_path / "rules.txt").write_text("SELECT")
    (tmp_path / "utf16.sql").write_text("-- name: a\nSELECT", encoding="utf-16")
    (tmp_path / "table.sql").write_bytes(b"PAR1....")
    (tmp_path / "good.sql").write_text("-- name: a\nSELECT * FROM q WHERE prise < 1")
    result = check(tmp_path / name, tmp_path / "good.sql", "--json")
    assert result.exit_code == 3
    first, second = findings(result)
    assert first[0] == "failure" and message in str(first[3])
    assert second[3] == 'stream "q" has no column "prise"'


def test_a_bare_schema_is_the_stream_that_most_queries_name(tmp_path: Path) -> None:
    path = tmp_path / "rules.sql"
    path.write_text(
        "\n".join(f"-- name: q{n}\nSELECT * FROM {s} WHERE price < 1" for n, s in enumerate("aab"))
    )
    assert findings(check(path, "--json")) == [("error", 6, "q2", 'stream "b" is not known')]
    assert [f[1] for f in findings(check(path, "--stream", "b", "--json"))] == [2, 4]


def test_named_schemas(tmp_path: Path) -> None:
    path = tmp_path / "rules.sql"
    path.write_text(
        "-- name: a\nSELECT * FROM quotes WHERE price < 1\n-- name: b\nSELECT * FROM trades WHERE n < 1\n"
    )
    result = check(path, "--schema", "trades=n INT", schema=f"quotes={SCHEMA}")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--schema", "a INT", "--schema", "b INT"],
        ["--schema", "a=x INT", "--schema", "A=y INT"],
        ["--schema", "a=x INT", "--stream", "b"],
        ["--schema", "a INT", "--time-zone", "Mars/Olympus"],
        [],
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "rules.sql").write_text("-- name: a\nSELECT * FROM q")
    result = CliRunner().invoke(app, ["query", "check", str(tmp_path / "rules.sql"), *arguments])
    assert result.exit_code == 2, result.output


def test_a_schema_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "rules.sql").write_text("-- name: a\nSELECT * FROM q")
    result = check(tmp_path / "rules.sql", schema=str(tmp_path / "missing.parquet"))
    assert result.exit_code == 3
    assert "there is no file" in result.stderr and "Traceback" not in result.output
    result = check(tmp_path / "rules.sql", schema="price DUBLE")
    assert result.exit_code == 3
    assert '"DUBLE" is not a type' in result.stderr and "^^^^^" in result.stderr


def test_what_a_terminal_would_obey_is_shown_as_text(tmp_path: Path) -> None:
    path = tmp_path / "evil.jsonl"
    path.write_text(json.dumps({"id": "\x1b[2J\ud800", "sql": "SELECT"}) + "\n")
    result = check(path)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout and "\\x1b[2J\\ud800" in result.stdout


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("price < 1 AND price > 2", "its conditions exclude each other"),
        ("price = NULL", "a comparison with NULL is never true; to ask for NULL write IS NULL"),
        (
            "happened > 'noon'",
            "CAST('noon' AS TIMESTAMP) is NULL: the constant has no value of type timestamp",
        ),
    ],
)
def test_why_no_tuple_can_match(where: str, hint: str) -> None:
    line = json.dumps({"id": "a", "sql": f"SELECT * FROM q WHERE {where}"})
    assert json.loads(check("-", "--json", text=line.encode()).stdout)["findings"][0]["hint"] == hint


def check_joins(tmp_path: Path, conditions: dict[str, str]) -> Result:
    """Check joins of two streams under conditions, all of them within five seconds."""
    soon = "t.at BETWEEN q.at AND q.at + INTERVAL 5 SECONDS"
    texts = [
        f"-- name: {id}\nSELECT q.symbol FROM quotes q JOIN trades t USING (symbol) WHERE {soon} AND {condition};"
        for id, condition in conditions.items()
    ]
    (tmp_path / "joins.sql").write_text("\n".join(texts))
    columns = "symbol STRING, price DOUBLE, at TIMESTAMP WITH (event_time = at, lateness = '10 seconds')"
    return check(tmp_path / "joins.sql", "--schema", f"trades={columns}", schema=f"quotes={columns}")


def test_joins_that_are_never_true(tmp_path: Path) -> None:
    result = check_joins(
        tmp_path,
        {
            "side": "q.price < 1 AND q.price > 3",
            "window": "t.at > q.at + INTERVAL 6 SECONDS",
            "null": "t.price < NULL",
            "both": "t.price + q.price < NULL",
            "keys": "q.symbol = 'A' AND t.symbol = 'B'",
            "branches": "(q.price < 1 AND q.price > 3 OR t.price < 1 AND t.price > 3)",
        },
    )
    assert result.exit_code == 1
    found = [line.strip() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert found == [
        'query "side": no pair can ever match',
        'hint: its conditions on "q" exclude each other',
        'query "window": no pair can ever match',
        "hint: its time bounds exclude each other",
        'query "null": no pair can ever match',
        "hint: a comparison with NULL is never true; to ask for NULL write IS NULL",
        'query "both": no pair can ever match',
        "hint: what it asks of both sources is never true",
        'query "keys": no pair can ever match',
        'hint: its conditions on "q" exclude each other',
        'query "branches": no pair can ever match',
        'hint: its conditions on "q" exclude each other; its conditions on "t" exclude each other',
    ]


def test_joins_are_checked_like_other_queries(tmp_path: Path) -> None:
    result = check_joins(
        tmp_path,
        {"good": "q.price < t.price", "typo": "q.prise < 1", "regex": r"q.symbol RLIKE '(a)\\1'"},
    )
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if "quer" in line] == [
        '  query "typo": stream "quotes" has no column "prise"',
        "  query \"regex\": pattern '(a)\\1' needs backtracking: at most 1,000,000 steps per row, then NULL",
        "1 file: 3 queries read, 2 accepted, 1 error, 1 note",
    ]

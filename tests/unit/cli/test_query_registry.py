"""`eddyline query add`, `list`, `import` and the rest: what they print, what they exit with, what is then registered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app
from eddyline.cli.output.terminal import Exit
from eddyline.registry import Registry, State

SCHEMA = "quotes=symbol STRING, price DOUBLE"
CHEAP = "SELECT * FROM quotes WHERE price < 10"
DEAR = "SELECT * FROM quotes WHERE price > 90"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDDYLINE_REGISTRY", raising=False)
    monkeypatch.setenv("LOGNAME", "ann")
    return tmp_path


def run(*words: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["query", *words], input=text, catch_exceptions=False)


def read(*words: str, text: str | None = None) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*words, "--json", text=text).stdout)


@pytest.fixture
def registry(here: Path) -> Iterator[Registry]:
    """A registry with a stream and two queries."""
    assert (
        run(
            "add", "cheap", CHEAP, "--schema", SCHEMA, "--tag", "fx", "--owner", "ann", "--reason", "r1"
        ).exit_code
        == 0
    )
    assert run("add", "dear", DEAR, "--tag", "fx", "--tag", "eu", "--state", "shadow").exit_code == 0
    with Registry.open(here / "eddyline.db") as opened:
        yield opened


def test_add(registry: Registry) -> None:
    entry = registry.entry("cheap")
    assert entry is not None and (entry.sql, entry.tags, entry.owner, entry.state) == (
        CHEAP,
        ("fx",),
        "ann",
        "enabled",
    )
    first = registry.versions()[0]
    assert (first.author, first.reason, first.added) == ("ann", "r1", 1)
    assert [stream.name for stream in registry.streams()] == ["quotes"]


def test_add_from_standard_input_with_everything(registry: Registry) -> None:
    words = ("--destination", "kafka://x", "--metadata", '{"n": 1}', "--author", "bob")
    found = read("add", "third", "-", *words, text=f"\n{CHEAP}\n")
    assert (found["version"], found["added"], found["refused"]) == (3, 1, 0)
    entry = registry.entry("third")
    assert entry is not None and (entry.sql, entry.destination, entry.metadata) == (
        CHEAP,
        "kafka://x",
        {"n": 1},
    )
    assert registry.versions()[-1].author == "bob"


def test_add_takes_an_id_once(registry: Registry) -> None:
    result = run("add", "cheap", DEAR)
    assert result.exit_code == Exit.FINDINGS and "the id is taken already" in result.stdout
    assert run("add", "cheap", DEAR, "--replace").exit_code == 0
    entry = registry.entry("cheap")
    assert entry is not None and (entry.sql, entry.revision, entry.tags, entry.owner) == (
        DEAR,
        2,
        ("fx",),
        "ann",
    )


def test_add_is_refused_at_the_door(registry: Registry) -> None:
    result = run("add", "bad", "SELECT * FROM quotes WHERE prise < 10")
    assert result.exit_code == Exit.FINDINGS
    assert result.stdout.splitlines()[:4] == [
        "SQL:1:28: error",
        '  query "bad": stream "quotes" has no column "prise"',
        "    SELECT * FROM quotes WHERE prise < 10",
        "                               ^^^^^",
    ]
    found = read("add", "bad", "SELECT * FROM quotes WHERE prise < 10")
    assert found["findings"][0]["column"] == 28 and found["version"] == 2
    assert registry.version == 2


def test_functions_of_spark_are_kept_unverified(registry: Registry) -> None:
    result = run("add", "card", "SELECT * FROM quotes WHERE luhn_check(symbol)")
    assert (
        result.exit_code == 0
        and "Spark runtime only, and unverified: only Spark has luhn_check" in result.stdout
    )
    entry = registry.entry("card")
    assert entry is not None and entry.spark_only
    assert "enabled, Spark only" in run("list").stdout
    assert "Spark only, and unverified" in run("show", "card").stdout
    result = run("add", "typo", "SELECT * FROM quotes WHERE lowr(symbol) = 'a'")
    assert result.exit_code == Exit.FINDINGS and 'did you mean "lower"?' in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "a", CHEAP, "--time-zone", "Nowhere"], "is not a time zone"),
        (["add", "a", CHEAP, "--stream", "x"], "there is no --schema"),
        (["remove"], "name the queries"),
        (["disable", "a", "--tag", "x"], "not both"),
        (["export", "x.jsonl", "--format", "xml"], "is none of"),
        (["export", "-", "--json"], "name a file"),
        (["list", "--state", "odd"], "odd"),
    ],
)
def test_wrong_usage(registry: Registry, words: list[str], message: str) -> None:
    result = run(*words)
    assert result.exit_code == Exit.USAGE and message in " ".join(result.stderr.split())


def test_first_query_needs_a_schema(here: Path) -> None:
    result = run("add", "a", CHEAP)
    assert result.exit_code == Exit.USAGE and "--schema" in result.stderr


@pytest.mark.parametrize(
    "words",
    [["list"], ["show", "a"], ["remove", "a"], ["export"], ["history"], ["diff", "0"], ["rollback", "0"]],
)
def test_registry_that_is_not_there(here: Path, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == Exit.FAILURE and 'there is no registry "eddyline.db"' in result.stderr
    assert not (here / "eddyline.db").exists()


def test_broken_registry(here: Path) -> None:
    (here / "eddyline.db").write_text("x" * 10_000)
    result = run("list")
    assert result.exit_code == Exit.FAILURE and "is not an SQLite database" in result.stderr


def test_registry_by_environment(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDDYLINE_REGISTRY", "other.db")
    assert run("list").exit_code == Exit.FAILURE
    assert run("add", "a", CHEAP, "--schema", SCHEMA).exit_code == 0
    assert [query["id"] for query in read("list")["queries"]] == ["a"]
    assert read("list", "--registry", "eddyline.db")["total"] == 2


def test_schema_of_a_declared_stream(registry: Registry) -> None:
    assert run("add", "a", CHEAP, "--schema", SCHEMA).exit_code == 0
    wider = SCHEMA + ", volume BIGINT"
    result = run("add", "b", "SELECT * FROM quotes WHERE volume > 1", "--schema", wider)
    assert result.exit_code == Exit.FAILURE and "declared with other columns" in result.stderr
    result = run("add", "b", "SELECT * FROM quotes WHERE volume > 1", "--schema", wider, "--redeclare")
    assert result.exit_code == 0 and "volume" in registry.streams()[0].schema.names
    told = "stream quotes was redeclared: column volume none -> bigint"
    assert told in result.stdout.splitlines()
    result = run(
        "add", "c", "SELECT * FROM quotes", "--schema", "quotes=symbol STRING, volume BIGINT", "--redeclare"
    )
    assert result.exit_code == Exit.FINDINGS and 'has no column "price"' in result.stdout


def test_list(registry: Registry) -> None:
    assert run("list").stdout.splitlines() == [
        "id     state    revision  tags   owner  text",
        "cheap  enabled         1  fx     ann    SELECT * FROM quotes WHERE price < 10",
        "dear   shadow          1  eu fx         SELECT * FROM quotes WHERE price > 90",
        "eddyline.db, version 2: 2 queries",
    ]
    for words, ids in (
        (["--tag", "eu"], ["dear"]),
        (["--owner", "ann"], ["cheap"]),
        (["--state", "shadow"], ["dear"]),
        (["--search", "< 10"], ["cheap"]),
        (["--version", "1"], ["cheap"]),
        (["--tag", "no"], []),
    ):
        assert [query["id"] for query in read("list", *words)["queries"]] == ids
    assert "2 queries, 1 shown" in run("list", "--limit", "1").stdout
    assert run("list", "--version", "9").exit_code == Exit.FAILURE


def test_show(registry: Registry) -> None:
    registry.add_counters({"cheap": {"matches": 1234}})
    run("shadow", "cheap", "--reason", "too loud")
    shown = run("show", "cheap").stdout
    for part in ('query "cheap", version 3', CHEAP, "state enabled -> shadow", "too loud", "1,234"):
        assert part in shown
    found = read("show", "cheap")
    assert [step["what"] for step in found["history"]] == ["added", "changed"]
    assert (found["state"], found["counters"]) == ("shadow", {"matches": 1234})
    assert read("show", "cheap", "--version", "2")["state"] == "enabled"
    failed = json.loads(run("show", "cheep", "--json").stdout)
    assert failed == {"error": 'there is no query "cheep" in version 3', "hint": 'did you mean "cheap"?'}
    result = run("show", "cheep")
    assert result.exit_code == Exit.FAILURE and 'did you mean "cheap"?' in result.stderr


@pytest.mark.parametrize(("word", "state"), [("disable", State.DISABLED), ("shadow", State.SHADOW)])
def test_states(registry: Registry, word: str, state: State) -> None:
    found = read(word, "--tag", "fx")
    assert {entry.state for entry in registry.entries()} == {state} and found["version"] == 3
    assert run("enable", "cheap", "dear").exit_code == 0
    assert {entry.state for entry in registry.entries()} == {State.ENABLED}
    assert read("enable", "cheap")["unchanged"] == 1 and registry.version == 4


def test_remove_all_or_none(registry: Registry) -> None:
    result = run("remove", "cheap", "nope")
    assert result.exit_code == Exit.FINDINGS and 'query "nope": it is not registered' in result.stdout
    assert registry.version == 2
    assert read("remove", "cheap")["removed"] == 1
    assert run("show", "cheap").exit_code == Exit.FAILURE
    assert [step["what"] for step in read("history", "cheap")["history"]] == ["added", "removed"]


def test_base(registry: Registry) -> None:
    result = run("remove", "cheap", "--base", "1")
    assert result.exit_code == Exit.FAILURE and "the registry is at version 2" in result.stderr
    assert run("remove", "cheap", "--base", "2").exit_code == 0


def test_history_diff_and_rollback(registry: Registry) -> None:
    run("add", "cheap", DEAR, "--replace", "--reason", "r3")
    run("remove", "dear")
    assert [version["version"] for version in read("history")["versions"]] == [1, 2, 3, 4]
    assert run("history", "never").exit_code == Exit.FAILURE
    assert "r3" in run("history").stdout and "text, revision 2" in run("history", "cheap").stdout
    found = read("diff", "2")
    assert [q["id"] for q in found["removed"]] == ["dear"] and found["changed"][0]["new"]["sql"] == DEAR
    assert run("diff", "2", "4").stdout.splitlines() == [
        "- dear",
        f"    - {DEAR}",
        "~ cheap: text, revision 2",
        f"    - {CHEAP}",
        f"    + {DEAR}",
        "version 2 to 4: 0 added, 1 changed, 1 removed",
    ]
    assert "+ stream quotes (symbol, price)" in run("diff", "0", "1").stdout
    assert read("rollback", "2", "--reason", "back")["version"] == 5
    assert read("diff", "2", "5")["changed"][0]["id"] == "cheap"  # the same text, and another revision
    assert run("rollback", "99").exit_code == Exit.FAILURE


RULES = f"""
-- name: a
-- tags: x, y
-- owner: bob
{CHEAP};
-- name: bad
SELECT * FROM quotes
WHERE prise < 10
-- name: cheap
-- state: disabled

{CHEAP}
-- name: a
{DEAR}
-- name: odd
-- state: sleepy
{CHEAP}
"""


def test_import_takes_what_is_fine(registry: Registry, here: Path) -> None:
    (here / "rules.sql").write_text(RULES)
    result = run("import", "rules.sql", "--reason", "set")
    assert result.exit_code == Exit.FINDINGS
    for line in (
        "rules.sql:8:7: error",
        "rules.sql:13: error",
        "rules.sql:15: error",
        '  query "odd": "sleepy" is no state of a query',
    ):
        assert line in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1] == "eddyline.db, version 3: 1 added, 1 changed, 3 refused"
    entry = registry.entry("a")
    assert entry is not None and (entry.tags, entry.owner, entry.sql) == (("x", "y"), "bob", CHEAP + ";")
    cheap = registry.entry("cheap")
    assert cheap is not None and (cheap.state, cheap.tags, cheap.revision) == (State.DISABLED, ("fx",), 1)


def test_import_all_or_nothing(registry: Registry, here: Path) -> None:
    (here / "rules.sql").write_text(RULES)
    found = read("import", "rules.sql", "--all-or-nothing")
    assert (found["version"], found["added"], found["refused"]) == (2, 0, 3)
    assert sorted(finding["line"] for finding in found["findings"]) == [8, 13, 15]
    (here / "two.jsonl").write_text(
        json.dumps({"id": "ok", "sql": CHEAP}) + "\n" + json.dumps({"id": "no", "sql": "SELECT"}) + "\n"
    )
    result = run("import", "two.jsonl", "--all-or-nothing")
    assert result.exit_code == Exit.FINDINGS and registry.version == 2
    assert run("import", "two.jsonl").exit_code == Exit.FINDINGS and registry.entry("ok") is not None


def test_import_of_files_that_cannot_be_read(registry: Registry, here: Path) -> None:
    (here / "ok.jsonl").write_text(json.dumps({"id": "ok", "sql": CHEAP, "team": "sales"}))
    result = run("import", "missing.sql", "ok.jsonl")
    assert result.exit_code == Exit.FAILURE and 'there is no file "missing.sql"' in result.stdout
    entry = registry.entry("ok")
    assert entry is not None and entry.metadata == {"team": "sales"}
    assert run("import", "missing.sql", "ok.jsonl", "--all-or-nothing").exit_code == Exit.FAILURE


@pytest.mark.parametrize(
    "record",
    [
        {"tags": [1]},
        {"tags": ["a b"]},
        {"owner": 3},
        {"metadata": "{"},
        {"metadata": [1]},
        {"metadata": {"team": 1}, "team": 2},
        {"id": "a\nb"},
        {"state": "ENABLEDD"},
    ],
)
def test_import_of_odd_records(registry: Registry, record: dict[str, Any]) -> None:
    result = run("import", "-", text=json.dumps({"id": "x", "sql": CHEAP} | record))
    assert result.exit_code == Exit.FINDINGS and "standard input:1: error" in result.stdout
    assert registry.version == 2


@pytest.mark.parametrize("name", ["out.sql", "out.jsonl", "out.csv", "out.json"])
def test_export_and_import(registry: Registry, here: Path, name: str) -> None:
    words = ("--metadata", '{"k": [1, "é"]}', "--destination", "x y")
    text = f"-- owner: me\n{CHEAP}\n  AND symbol = 'a,\"b\"'"
    assert run("add", "odd „id“", "-", *words, text=text).exit_code == 0
    assert run("export", name).stdout == f"{name}: 3 queries\n"
    found = read("import", name, "--registry", "copy.db", "--schema", SCHEMA)
    assert (found["added"], found["refused"]) == (3, 0)
    with Registry.open("copy.db") as copy:
        assert copy.entries() == registry.entries()
    assert read("import", name)["unchanged"] == 3


def test_export_to_a_pipe_and_of_a_version(registry: Registry) -> None:
    lines = run("export", "--tag", "eu").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["dear"]
    assert read("export", "x.csv", "--version", "1") == {"file": "x.csv", "queries": 1}
    assert run("export", "--format", "sql").stdout.startswith(
        "-- name: cheap\n-- tags: fx\n-- owner: ann\n\nSELECT"
    )


def test_export_that_cannot_be_written(registry: Registry, here: Path) -> None:
    registry.change([_put("trap", "SELECT 1 -- a\n-- name: other\n")])
    (here / "out.sql").write_text("before")
    result = run("export", "out.sql")
    assert result.exit_code == Exit.FAILURE and "export to .jsonl" in result.stderr
    assert (here / "out.sql").read_text() == "before" and not list(here.glob(".out*"))
    assert run("export", "no/out.sql").exit_code == Exit.FAILURE
    assert run("export", "out.txt").exit_code == Exit.FAILURE


def _put(id: str, sql: str) -> Any:
    from eddyline.registry import Put

    return Put(id, sql)


@pytest.mark.parametrize(
    "command",
    "add remove list show enable disable shadow import export history diff rollback".split(),
)
def test_help_has_examples(command: str) -> None:
    shown = run(command, "--help").stdout
    assert "Examples:" in shown and f"eddyline query {command}" in shown and "--json" in shown


def test_entries_that_have_no_id_count_as_refused(here: Path) -> None:
    (here / "rules.jsonl").write_text(
        f'{{"id": "a", "sql": "{CHEAP}"}}\n{{"sql": "x"}}\nno JSON\n{{"id": "b", "sql": "x"}}\n'
    )
    found = read("import", "rules.jsonl", "--schema", SCHEMA)
    assert (found["added"], found["refused"], len(found["findings"])) == (1, 3, 3)


def test_texts_that_are_not_kept_are_wrong_usage(registry: Registry) -> None:
    for words in (
        ("add", "a\x1b[2Jb", CHEAP),
        ("add", "half \udcff", CHEAP),
        ("add", "q", f"{CHEAP} -- \udcff"),
        ("add", "q", CHEAP, "--tag", "a b"),
        ("add", "q", CHEAP, "--owner", "x" * 501),
        ("add", "q", CHEAP, "--author", "\x1b[31mred"),
        ("add", "q", CHEAP, "--author", "x" * 501),
        ("add", "q", CHEAP, "--author", " "),
        ("add", "q", CHEAP, "--reason", "bell \x07"),
        ("add", "q", CHEAP, "--reason", "x" * 100_000),
        ("disable", "cheap", "--reason", "\x9b2J"),
        ("rollback", "1", "--reason", "half \udcff"),
        ("show", "half \udcff"),
        ("list", "--search", "half \udcff"),
        ("budget", "set", "--owner", "\x07", "--bytes", "1"),
    ):
        result = run(*words)
        assert (result.exit_code, result.exception.__class__) == (Exit.USAGE, SystemExit), words
        assert result.stderr.startswith("error: "), words
        assert len(result.stderr) < 300 and result.stderr.replace("\n", "").isprintable(), words
    assert registry.version == 2
    assert run("add", "q", CHEAP, "--reason", "first\n\tsecond " + "x" * 9_000).exit_code == 0


def test_ids_of_files_that_are_not_kept_are_findings(here: Path, registry: Registry) -> None:
    (here / "q.jsonl").write_text('{"id": "half \\ud800", "sql": "SELECT * FROM quotes"}\n')
    for words in (["check", "q.jsonl", "--schema", SCHEMA], ["import", "q.jsonl"]):
        assert run(*words).exit_code == Exit.FINDINGS
    matched = CliRunner().invoke(
        app, ["match", "-", "--queries", "q.jsonl", "--schema", SCHEMA], input='{"symbol": "a"}\n'
    )
    assert matched.exit_code == Exit.FINDINGS and "is not accepted" in matched.output


def test_nothing_that_a_registry_holds_reaches_a_terminal_raw(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of registries that somebody else has written, and on terminals, where texts are laid out in another way."""
    evil = "\x1b]0;title\x07\x9b2J\u202e\x08"
    with registry._database.writing() as connection:
        for table, columns in (
            ("versions", ("author", "reason")),
            ("queries", ("id", "sql", "owner", "destination")),
            ("budgets", ("name",)),
        ):
            for column in columns:
                connection.exec_driver_sql(f"UPDATE eddyline_{table} SET {column} = {column} || ?", (evil,))
        connection.exec_driver_sql("UPDATE eddyline_queries SET tags = ?", (json.dumps([evil]),))
    id = "cheap" + evil
    for terminal in (False, True):
        if terminal:
            monkeypatch.setenv("FORCE_COLOR", "1")
            monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        for words in (
            ["list"],
            ["show", id],
            ["show", "nobody"],
            ["history"],
            ["history", id],
            ["diff", "0", "2"],
            ["diff", "2", "0"],
            ["cost"],
            ["budget", "list"],
            ["export", "-", "--format", "sql"] if terminal else ["export", "-"],
            ["explain", id],
            ["disable", id],
        ):
            result = run(*words)
            seen = re.sub(r"\x1b\[[0-9;]*m", "", result.output)  # our own colours
            raw = {c for c in seen if not c.isprintable() and c != "\n"}
            assert not raw, (words, raw)


TIMED = "quotes=symbol STRING, price DOUBLE, ts TIMESTAMP, day DATE"


def test_event_times(here: Path) -> None:
    said = ("--event-time", "TS", "--lateness", "10 s", "--ahead", "2 days", "--idle", "quotes=30 seconds")
    assert run("add", "cheap", CHEAP, "--schema", TIMED, *said).exit_code == 0
    with Registry.open(here / "eddyline.db") as opened:
        stream = opened.streams()[0]
    assert (stream.event_time, stream.lateness, stream.ahead, stream.idle) == (
        "ts",
        "10 seconds",
        "2 days",
        "30 seconds",
    )
    told = "event time ts, lateness 10 seconds, ahead 2 days, idle 30 seconds"
    assert f"stream quotes  {told}" in run("show", "cheap").stdout
    assert read("show", "cheap")["event_times"] == {
        "quotes": {"event_time": "ts", "lateness": "10 seconds", "ahead": "2 days", "idle": "30 seconds"}
    }
    assert f"+ stream quotes (symbol, price, ts, day), {told}" in run("diff", "0").stdout
    new = read("diff", "0")["streams"][0]["new"]
    assert new["lateness"] == "10 seconds" and new["columns"]["price"] == "double"
    assert run("add", "dear", DEAR).exit_code == 0


def test_event_times_that_are_declared_otherwise(here: Path) -> None:
    said = ("--schema", TIMED, "--event-time", "ts", "--lateness")
    assert run("add", "cheap", CHEAP, *said, "10 seconds").exit_code == 0
    assert run("add", "dear", DEAR, *said, "10000 ms").exit_code == 0
    result = run("add", "new", DEAR, *said, "1 minute")
    assert result.exit_code == Exit.FAILURE
    assert 'the stream "quotes" is declared with other lengths for lateness' in result.stderr
    result = run("add", "new", DEAR, "--schema", TIMED)
    assert result.exit_code == Exit.FAILURE and "is declared with another event time" in result.stderr
    result = run("add", "new", DEAR, *said, "1 minute", "--redeclare")
    told = "stream quotes was redeclared: lateness 10 seconds -> 1 minute"
    assert result.exit_code == 0 and told in result.stdout.splitlines()
    assert (
        "~ stream quotes (symbol, price, ts, day), event time ts, lateness 1 minute"
        in run("diff", "2").stdout
    )


def test_going_back_tells_which_streams_are_declared_otherwise(here: Path) -> None:
    trades = TIMED.replace("quotes", "trades")
    assert run("add", "cheap", CHEAP, "--schema", TIMED).exit_code == 0
    added = run("add", "traded", "SELECT * FROM trades", "--schema", trades)
    assert added.stdout.splitlines() == ["eddyline.db, version 2: 1 added"], (
        "a new stream is nothing to warn of"
    )
    said = ("--schema", TIMED, "--event-time", "ts", "--lateness", "1 minute", "--redeclare")
    assert run("add", "new", DEAR, *said).exit_code == 0
    assert run("rollback", "1").stdout.splitlines() == [
        "stream trades is no longer declared",
        "stream quotes was redeclared: event time ts -> none, lateness 1 minute -> none",
        "eddyline.db, version 4: 2 removed, 1 unchanged",
    ]
    assert [each["new"]["name"] for each in read("rollback", "2")["streams"]] == ["trades"]


def test_event_times_of_several_streams(here: Path) -> None:
    (here / "rules.sql").write_text("-- name: a\nSELECT * FROM quotes;\n-- name: b\nSELECT * FROM trades;\n")
    schemas = ("--schema", TIMED, "--schema", TIMED.replace("quotes", "trades"))
    times = ("--event-time", "ts", "--event-time", "trades=day", "--lateness", "2 days")
    assert run("import", "rules.sql", *schemas, *times).exit_code == 0
    with Registry.open(here / "eddyline.db") as opened:
        assert [(s.name, s.event_time, s.lateness) for s in opened.streams()] == [
            ("quotes", "ts", "2 days"),
            ("trades", "day", "2 days"),
        ]


@pytest.mark.parametrize(
    ("words", "exit_code", "message"),
    [
        (("--event-time", "ts", "--lateness", "soon"), Exit.FAILURE, "lateness 'soon' is no length of time"),
        (("--event-time", "ts", "--lateness", "2 months"), Exit.FAILURE, "months and years differ in length"),
        (("--event-time", "ts", "--lateness=-5 seconds"), Exit.FAILURE, "lateness '-5 seconds' is no length"),
        (("--event-time", "when"), Exit.FAILURE, 'stream "quotes" has no column "when" to be its event time'),
        (("--event-time", "day", "--lateness", "5 hours"), Exit.FAILURE, "dates count whole days"),
        (("--event-time", "symbol", "--idle", "1 s"), Exit.FAILURE, "has the type string"),
        (("--lateness", "5 hours"), Exit.USAGE, "--event-time"),
        (("--event-time", "trades=ts"), Exit.USAGE, "trades"),
    ],
)
def test_event_times_that_make_no_sense(
    here: Path, words: tuple[str, ...], exit_code: Exit, message: str
) -> None:
    result = run("add", "cheap", CHEAP, "--schema", TIMED, *words)
    assert result.exit_code == exit_code and message in result.stderr
    with Registry.open(here / "eddyline.db") as opened:
        assert opened.version == 0
    result = run("check", "-", "--schema", TIMED, *words, text="")
    assert result.exit_code == exit_code and message in result.stderr


def test_event_times_need_a_schema(registry: Registry) -> None:
    result = run("add", "a", CHEAP, "--event-time", "ts")
    assert result.exit_code == Exit.USAGE and "--schema" in result.stderr

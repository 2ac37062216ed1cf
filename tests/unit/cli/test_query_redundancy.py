"""Queries that are the same as others or covered by others, as commands tell of them: add, import, check, show, list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddyline.cli import app
from eddyline.registry import Put, Registry
from eddyline.service import compiled_sets

SCHEMA = "quotes=symbol STRING, price DOUBLE"
CHEAP = "SELECT symbol FROM quotes WHERE price < 10"
RULES = """\
-- name: also
SELECT symbol FROM quotes WHERE NOT price >= 10;
-- name: rows
SELECT * FROM quotes WHERE price < 10;
-- name: narrow
SELECT * FROM quotes WHERE price < 5;
-- name: narrower
SELECT * FROM quotes WHERE price < 2 OR (price < 3 AND symbol = 'A');
-- name: odd
SELECT * FROM quotes WHERE price < 1 AND price > 3;
-- name: fine
SELECT * FROM quotes WHERE price > 90;
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDDYLINE_REGISTRY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run("add", "cheap", CHEAP, "--schema", SCHEMA).exit_code == 0
    (tmp_path / "rules.sql").write_text(RULES)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["query", *words], catch_exceptions=False)


def read(*words: str) -> Any:
    return json.loads(run(*words, "--json").stdout)


def found(result: Any) -> dict[str, tuple[str, str]]:
    return {each["query"]: (each["severity"], each["message"]) for each in result["findings"]}


def test_add_warns() -> None:
    result = run("add", "also", "SELECT symbol FROM quotes WHERE NOT price >= 10", "--destination", "desk")
    assert result.exit_code == 0
    assert '  query "also": it is the same query as "cheap"' in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1] == "eddyline.db, version 2: 1 added, 1 note"


def test_add_refuses_aliases_and_shadows() -> None:
    result = run("add", "also", CHEAP, "--if-same", "refuse")
    assert result.exit_code == 1 and "--if-same warn (in Python" in result.stdout
    assert run("add", "low", f"{CHEAP} AND symbol = 'A'", "--if-implied", "refuse").exit_code == 1
    assert run("add", "also", CHEAP, "--if-same", "alias").exit_code == 0
    assert run("add", "low", f"{CHEAP} AND symbol = 'A'", "--if-implied", "shadow").exit_code == 0
    assert run("add", "x", CHEAP, "--if-same", "loud").exit_code == 2
    listed = {each["id"]: (each["state"], each["same_as"]) for each in read("list")["queries"]}
    assert listed == {"cheap": ("enabled", None), "also": ("enabled", "cheap"), "low": ("shadow", None)}


def test_import_compares_all() -> None:
    same = 'it is the same query as "cheap", for the same destination'
    covered = 'every row it matches is also matched by "{}" and {}'.format
    assert found(read("import", "rules.sql")) == {
        "also": ("note", same),
        "rows": ("note", 'it matches the same rows as "cheap"'),
        "narrow": ("note", covered("cheap", "2 others")),
        "narrower": ("note", covered("narrow", "3 others")),
        "odd": ("note", "no tuple can ever match"),
    }
    assert run("import", "rules.sql", "--if-same", "refuse", "--if-implied", "refuse").exit_code == 0, (
        "as they stand"
    )


def test_many_notes_are_not_all_shown() -> None:
    texts = [f"-- name: q{n}\nSELECT * FROM quotes WHERE price < {n} AND symbol = 'A';" for n in range(1, 31)]
    Path("many.sql").write_text("\n".join(texts))
    result = run("import", "many.sql")
    assert result.stdout.count(": note") == 20 and "9 more notes: --json has all of them" in result.stdout
    assert result.stdout.splitlines()[-1] == "eddyline.db, version 2: 30 added, 29 notes"


def test_check_against_a_registry() -> None:
    result = run("check", "rules.sql", "--against", "eddyline.db")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 file: 6 queries read, 6 accepted, 5 warnings"
    told = found(read("check", "rules.sql", "--against", "eddyline.db"))
    assert told["also"] == ("warning", 'it is the same query as "cheap", for the same destination')
    assert told["narrow"][1].startswith('every row it matches is also matched by "cheap"')
    assert told["narrower"][1].startswith('every row it matches is also matched by "narrow"')
    assert told["odd"] == ("warning", "no tuple can ever match")
    assert "fine" not in told and read("list")["version"] == 1, "nothing is entered"


def test_check_of_what_is_registered_as_it_is() -> None:
    Path("same.sql").write_text(
        f"-- name: cheap\n{CHEAP};\n-- name: dear\nSELECT * FROM quotes WHERE price > 90;\n"
    )
    assert run("check", "same.sql", "--against", "eddyline.db").exit_code == 0
    Path("same.sql").write_text("-- name: cheap\nSELECT symbol FROM quotes WHERE NOT price >= 10;\n")
    assert run("check", "same.sql", "--against", "eddyline.db").exit_code == 0, "it would take its own place"


def test_check_with_mistakes_and_another_stream() -> None:
    Path("odd.sql").write_text(
        f"-- name: a\n{CHEAP};\n-- name: typo\nSELECT prise FROM quotes;\n-- name: a\nSELECT 1;\n"
        "-- name: n\nSELECT * FROM news WHERE urgency > 3;\n-- name: m\nSELECT * FROM news WHERE urgency > 4;\n"
    )
    told = found(read("check", "odd.sql", "--against", "eddyline.db", "--schema", "news=urgency INT"))
    assert told["m"] == ("warning", 'every row it matches is also matched by "n"')
    assert told["typo"][0] == "error"
    assert run("check", "odd.sql").exit_code == 2
    assert run("check", "odd.sql", "--against", "none.db").exit_code != 0 and not Path("none.db").exists()


def test_show() -> None:
    assert run("import", "rules.sql", "--if-same", "alias").exit_code == 0
    shown = run("show", "also").stdout
    for line in ("alias of       cheap", "same query as  cheap", "same rows as   rows"):
        assert line in shown
    related = read("show", "narrower")["relations"]
    assert related["covered_by"][0] == "narrow" and set(related["covered_by"]) == {
        "narrow",
        "cheap",
        "also",
        "rows",
    }
    assert "covered by  narrow, " in run("show", "narrower").stdout
    assert "and 1 more" in run("show", "narrower").stdout
    assert "no tuple can ever match" in run("show", "odd").stdout
    nothing = {"never_true": False, "same": [], "covered_by": [], "more": 0, "alias_note": None}
    assert read("show", "fine")["relations"] == nothing
    assert run("disable", "cheap").exit_code == 0
    assert "alias of      cheap\n" in run("show", "also").stdout, "it still has the same rows"
    assert run("add", "cheap", "SELECT * FROM quotes WHERE price < 7", "--replace").exit_code == 0
    assert "alias of      cheap, which no longer matches the same rows" in run("show", "also").stdout
    assert "alias of  " in run("show", "also", "--version", "2").stdout
    assert "no longer" not in run("show", "also", "--version", "2").stdout, "nobody has looked"
    assert run("remove", "cheap").exit_code == 0
    assert "cheap, which was removed" in run("show", "also").stdout


def test_what_an_older_release_has_registered(here: Path) -> None:
    """It has no digests: they are found out, and entered with the next change."""
    with Registry.open(here / "eddyline.db") as registry:
        registry.change([Put("old", CHEAP)])
    assert read("show", "cheap")["relations"]["same"] == [{"query": "old", "likeness": "everything"}]
    assert run("add", "new", "SELECT * FROM quotes WHERE price > 90").exit_code == 0
    with Registry.open(here / "eddyline.db") as registry:
        assert len({entry.digest for entry in registry.entries()}) == 2


def test_commands_with_a_kept_set(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_sets, "LEAST_KEPT", 1)
    assert run("add", "a", "SELECT * FROM quotes WHERE price < 5").exit_code == 0
    assert len(list((here / "eddyline.db.compiled").iterdir())) == 1
    result = run("add", "b", "SELECT * FROM quotes WHERE price < 3")
    assert 'query "b": every row it matches is also matched by "a" and 1 other' in result.stdout
    assert read("show", "b")["relations"]["covered_by"] == ["a", "cheap"]
    assert found(read("check", "rules.sql", "--against", "eddyline.db"))["narrow"][1].startswith(
        "it is the same query as"
    )

"""The command as a whole: version, help, and what becomes of errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.cli.failures import Command
from eddyline.service.jobs import check
from tests.missing import missing

RUN = CliRunner()


def command(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "eddyline_command", *arguments], capture_output=True, text=True, **options
    )  # type: ignore[call-overload,no-any-return]


def test_version() -> None:
    assert RUN.invoke(app, ["--version"]).stdout.startswith("eddyline 0.")


@pytest.mark.parametrize(
    "words", [[], ["query"], ["query", "check"], ["query", "explain"], ["demo"], ["doctor"]]
)
def test_help(words: list[str]) -> None:
    result = RUN.invoke(app, [*words, "--help"], env={"COLUMNS": "120"})
    assert result.exit_code == 0 and "Usage" in result.stdout


def test_examples_in_help_keep_their_lines() -> None:
    shown = RUN.invoke(app, ["query", "check", "--help"], env={"COLUMNS": "120"}).stdout
    assert "eddyline query check rules.sql --schema quotes.parquet" in shown
    assert any(line.strip(" │") == "-- name: cheap" for line in shown.splitlines())


def test_wrong_usage() -> None:
    assert RUN.invoke(app, ["nonsense"]).exit_code == 2
    assert RUN.invoke(app, ["demo", "--seconds", "0"]).exit_code == 2


def test_a_bug_becomes_a_message_and_the_rest_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rules.sql"
    path.write_text("-- name: a\nSELECT * FROM q WHERE x = 1\n-- name: b\nSELECT * FROM q WHERE y = 1")
    real = check.Compiler._compile

    def sometimes(self: check.Compiler, query: check.Query) -> object:
        assert query.id != "a", "this cannot be"
        return real(self, query)

    monkeypatch.setattr(check.Compiler, "_compile", sometimes)
    result = RUN.invoke(app, ["query", "check", str(path), "--schema", "x INT"])
    assert result.exit_code == 3
    assert "internal error: AssertionError: this cannot be" in result.stdout
    assert 'stream "q" has no column "y"' in result.stdout


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "rules.jsonl"
    path.write_text('{"id": "a", "sql": "SELECT"}\n' * 5_000)
    arguments = [sys.executable, "-m", "eddyline_command", "query", "check", str(path), "--schema", "x INT"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_full_disk_is_a_failure() -> None:
    if not Path("/dev/full").exists():
        missing("a device that is always full: this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "eddyline_command", "doctor"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert run.returncode == 3
    assert "Traceback" not in run.stderr and "No space left" in run.stderr


def test_a_pipe_without_unicode() -> None:
    run = command(
        "query",
        "explain",
        "SELECT 'é' AS x FROM q WHERE a > 1 AND b > 1",
        "--schema",
        "a INT, b INT",
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert run.returncode == 0, run.stderr
    assert "\\xe9" in run.stdout


def leaves(command: object) -> Iterator[object]:
    """The commands of a tree that do something."""
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            yield from leaves(below)
    else:
        yield command


def test_every_command_makes_wrong_usage_of_usage_errors() -> None:
    found = list(leaves(get_command(app)))
    assert len(found) > 20 and all(isinstance(command, Command) for command in found)
    wrong = RUN.invoke(app, ["match", "rows.csv", "--time-zone", "Mars"])
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("Usage: eddyline match [OPTIONS]")
    assert '"Mars" is not a time zone; write it as Europe/Vienna or +02:00' in wrong.stderr

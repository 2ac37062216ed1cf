"""Runs every `console` block of README.md and docs/ in a folder of its own, and compares what the commands print.

A line that starts with `$ ` is a command, lines that start with `>` go on with it, the rest is what it prints. A page's
commands run in their order, in one folder. Output is compared exactly, except that `<time>`, filled up with blanks to the
length of what is printed there, stands for a moment such as `2026-01-05 14:30:00 UTC`.

README.md has the command as it is installed; on the other pages a process that is warm already forks for every command.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
LONG = 5  # commands from which on a page is a slow test
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
PLACEHOLDER = re.compile(r"<time *>")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """What is typed, what is printed, and where the page says so."""

    text: str
    output: str
    line: int


def commands(page: str) -> Iterator[Command]:
    for block in BLOCK.finditer(page):
        first = page.count("\n", 0, block.start(1)) + 1
        typed: list[str] = []
        printed: list[str] = []
        start = first
        for number, line in enumerate(block[1].splitlines(), first):
            if line.startswith("$ "):
                if typed:
                    yield Command("\n".join(typed), "\n".join(printed), start)
                typed, printed, start = [line[2:]], [], number
            elif (line.startswith("> ") or line == ">") and typed and not printed:
                typed.append(line[2:])
            else:
                printed.append(line)
        if typed:
            yield Command("\n".join(typed), "\n".join(printed), start)


def same(printed: str, expected: str) -> bool:
    """Whether a line is what the page says."""
    if not PLACEHOLDER.search(expected):
        return printed == expected
    masked = MOMENT.sub(lambda moment: f"<time{' ' * (len(moment[0]) - len('<time>'))}>", printed)
    return masked == expected


def run(page: Path, text: str, folder: Path, *programs: Path) -> None:
    path = ":".join(map(str, (*programs, Path(sys.executable).parent, os.environ["PATH"])))
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    environment.pop("EDDYLINE_REGISTRY", None)
    for command in commands(text):
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )
        printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
        expected = [line.rstrip() for line in command.output.rstrip().splitlines()]
        agree = len(printed) == len(expected) and all(map(same, printed, expected))
        assert agree or printed == expected, f"{page.name}, line {command.line}: {command.text}"


def pages() -> Iterator[object]:
    for page in PAGES:
        count = sum(1 for _ in commands(page.read_text()))
        if count:
            marks = [pytest.mark.slow] if count >= LONG else []
            yield pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


@pytest.mark.parametrize("page", list(pages()))
def test_commands(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    programs = [] if page.name == "README.md" else [request.getfixturevalue("warm_programs")]
    run(page, page.read_text(), tmp_path, *programs)


def test_commands_are_found_and_compared(tmp_path: Path) -> None:
    text = "```console\n$ cat > a <<'E'\n> one\n> E\n$ cat a\none\n```\n\nText\n\n```console\n$ wc -l < a\n1\n```\n"
    assert [(command.line, command.output) for command in commands(text)] == [(2, ""), (5, "one"), (12, "1")]
    run(Path("page.md"), text, tmp_path)
    with pytest.raises(AssertionError, match=r"page.md, line 5"):
        run(Path("page.md"), text.replace("a\none", "a\ntwo"), tmp_path)


def test_only_moments_may_differ(tmp_path: Path) -> None:
    text = "```console\n$ echo at 2026-01-05 14:30:00 UTC, 3\nat <time                 >, 3\n```\n"
    run(Path("page.md"), text, tmp_path)
    for wrong in (
        text.replace("3\n```", "4\n```"),
        text.replace("<time  ", "<time "),
        text.replace("UTC, 3", "UT, 3"),
    ):
        with pytest.raises(AssertionError, match=r"page.md, line 2"):
            run(Path("page.md"), wrong, tmp_path)

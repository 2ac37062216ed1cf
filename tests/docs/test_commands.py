"""Runs every `console` block of README.md and docs/ in a folder of its own, and compares what the commands print.

A line that starts with `$ ` is a command, lines that start with `> ` go on with it, the rest is what it prints.
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
            elif line.startswith("> ") and typed and not printed:
                typed.append(line[2:])
            else:
                printed.append(line)
        if typed:
            yield Command("\n".join(typed), "\n".join(printed), start)


def run(page: Path, text: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command in commands(text):
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=folder,
            env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )
        printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
        expected = [line.rstrip() for line in command.output.rstrip().splitlines()]
        assert printed == expected, f"{page.name}, line {command.line}: {command.text}"


PAGES_WITH_COMMANDS = [page for page in PAGES if any(True for _ in commands(page.read_text()))]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands(page: Path, tmp_path: Path) -> None:
    run(page, page.read_text(), tmp_path)


def test_commands_are_found_and_compared(tmp_path: Path) -> None:
    text = "```console\n$ cat > a <<'E'\n> one\n> E\n$ cat a\none\n```\n\nText\n\n```console\n$ wc -l < a\n1\n```\n"
    assert [(command.line, command.output) for command in commands(text)] == [(2, ""), (5, "one"), (12, "1")]
    run(Path("page.md"), text, tmp_path)
    with pytest.raises(AssertionError, match=r"page.md, line 5"):
        run(Path("page.md"), text.replace("a\none", "a\ntwo"), tmp_path)

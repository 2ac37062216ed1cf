"""Golden files of cases: the text that is given, a line `----`, and what is expected of it; blank lines part cases.

Lines that start with `#` are comments: they stay in the file, and are not part of what is given.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Outcome = Callable[[str], str]  # of what a case gives


def cases(path: Path) -> list[str]:
    """What the cases of a file give."""
    return [_given(block) for block in _blocks(path) if _is_case(block)]


def check_golden(path: Path, outcome: Outcome, *, rewrite: bool) -> None:
    """Compare a file with what its cases come to now; with `rewrite` the file is written anew."""
    found = "\n\n".join(
        [_with_outcome(block, outcome) if _is_case(block) else block for block in _blocks(path)]
    )
    if rewrite:
        path.write_text(found + "\n", encoding="utf-8")
    else:
        assert found + "\n" == path.read_text(encoding="utf-8")


def _blocks(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").strip().split("\n\n")


def _is_case(block: str) -> bool:
    return "----" in block.split("\n")


def _head(block: str) -> list[str]:
    lines = block.split("\n")
    return lines[: lines.index("----")]


def _given(block: str) -> str:
    return "\n".join(line for line in _head(block) if not line.startswith("#"))


def _with_outcome(block: str, outcome: Outcome) -> str:
    return "\n".join([*_head(block), "----", outcome(_given(block))])

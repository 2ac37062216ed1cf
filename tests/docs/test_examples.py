"""Runs every `python` block of README.md and docs/, and compares what it prints with the `output` block after it.

The blocks of one page run in order and share their names, as a reader would type them in. A page with a block
that imports `eddyline.spark` counts as a Spark test.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*^```output\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A piece of code in a page: `line` is where it starts, `output` what it should print, if the page says."""

    code: str
    line: int
    output: str | None


def blocks(text: str) -> Iterator[Block]:
    for match in BLOCK.finditer(text):
        yield Block(match["code"], text.count("\n", 0, match.start("code")), match["output"])


def run(page: Path, text: str) -> None:
    names: dict[str, object] = {"__name__": page.stem}
    for block in blocks(text):
        printed = io.StringIO()
        # so that a traceback shows the line
        code = compile("\n" * block.line + block.code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if block.output is not None:
            assert printed.getvalue().rstrip() == block.output.rstrip(), f"{page.name}, line {block.line + 1}"


def pages() -> Iterator[object]:
    for page in PAGES:
        text = page.read_text()
        if any(True for _ in blocks(text)):
            marks = [pytest.mark.spark] if "eddyline.spark" in text else []
            yield pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


@pytest.mark.parametrize("page", list(pages()))
def test_examples(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = page.read_text()
    if any("session()" in block.code for block in blocks(text)):
        request.getfixturevalue("spark")  # what `session()` gives then
    monkeypatch.chdir(tmp_path)
    run(page, text)


def test_blocks_are_found_and_compared() -> None:
    text = "Text\n\n```python\nx = 1\n```\n\nMore\n\n```python\nprint(x)\n```\n\n```output\n1\n```\n```sql\nSELECT\n```\n"
    assert list(blocks(text)) == [Block("x = 1\n", 3, None), Block("print(x)\n", 9, "1\n")]
    run(Path("page.md"), text)
    with pytest.raises(AssertionError, match=r"page.md, line 10"):
        run(Path("page.md"), text.replace("x = 1", "x = 2"))


def test_readme_has_an_example() -> None:
    assert any(True for _ in blocks((ROOT / "README.md").read_text()))

"""The pages as files: generated ones are up to date, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import docs

ROOT = Path(__file__).parents[2]
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md")


def anchors(text: str) -> set[str]:
    """The names under which a page's headings can be linked to."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_generated_pages_are_up_to_date() -> None:
    assert docs.main(["--check"]) == 0


def test_a_stale_page_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(docs.PAGES, "sql.md", lambda: "something else\n")
    assert docs.main(["--check"]) == 1
    assert "docs/sql.md is out of date: run make docs" in capsys.readouterr().err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        place = (page.parent / name) if name else page
        assert place.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(place.read_text()), f"{page.name}: {target}"

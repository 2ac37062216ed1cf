"""Two trees beside each other: which are taken, what counts, what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from bench.compare import compare as comparing
from bench.compare.compare import CompareError, Outcome, compare, names

ROOT = Path(__file__).parents[3]


class _Fake:
    """A worker that takes a fixed time and finds a fixed number."""

    def __init__(self, value: float, found: int = 7) -> None:
        self.skipped: str | None = None
        self._answer = {"value": value, "found": found}

    def turn(self) -> dict[str, float]:
        return self._answer

    def __enter__(self) -> _Fake:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


@pytest.fixture
def trees(tmp_path: Path) -> dict[str, Path]:
    """Two folders that look like the project."""
    found = {name: tmp_path / name for name in ("old", "new")}
    for folder in found.values():
        (folder / "src" / "eddyline").mkdir(parents=True)
    return found


@pytest.fixture
def verdict(
    trees: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, list[dict[str, object]]]]:
    """The exit code and the written lines, where workers of the two trees are made up."""

    def run(**sides: _Fake) -> tuple[int, list[dict[str, object]]]:
        monkeypatch.setattr(comparing, "_Side", lambda tree, line: sides[tree.name])
        places, results = [str(trees[name]) for name in ("old", "new")], tmp_path / "results.json"
        code = compare(*places, ["a line"], Console(quiet=True), results)
        return code, json.loads(results.read_text())

    return run


def test_as_quick_as_before_is_fine(verdict: Callable[..., tuple[int, list[dict[str, object]]]]) -> None:
    code, lines = verdict(old=_Fake(1.0), new=_Fake(1.0))
    assert code == 0
    assert lines[0]["ratio"] == 1.0


def test_a_slow_line_is_started_again_and_fails(
    verdict: Callable[..., tuple[int, list[dict[str, object]]]],
) -> None:
    code, lines = verdict(old=_Fake(1.0), new=_Fake(1.25))
    assert code == 1
    assert lines[0]["ratio"] == 0.8
    assert len(lines[0]["starts"]) == comparing.STARTS * (1 + comparing.AGAIN)  # type: ignore[arg-type]


def test_other_results_fail_however_quick(
    verdict: Callable[..., tuple[int, list[dict[str, object]]]],
) -> None:
    code, lines = verdict(old=_Fake(1.0, found=7), new=_Fake(0.1, found=8))
    assert code == 1
    assert lines[0]["equal"] is False


def test_a_line_without_its_data_is_skipped(
    verdict: Callable[..., tuple[int, list[dict[str, object]]]],
) -> None:
    missing = _Fake(1.0)
    missing.skipped = "its data is not here"
    code, lines = verdict(old=missing, new=missing)
    assert code == 1, "nothing was compared"
    assert lines == [{"line": "a line", "skipped": "its data is not here"}]


def test_a_tree_is_a_folder_or_a_revision() -> None:
    with pytest.raises(CompareError, match="neither a folder with the project nor a revision"):
        compare("no-such-thing", str(ROOT), ["a line"], Console(quiet=True), ROOT / "never-written")


def test_lines_have_names_of_their_own() -> None:
    found = names(embedded=True, spark=True)
    assert len(set(found)) == len(found)
    assert Outcome(found[0], ratios=[0.5, 2.0, 1.0]).ratio == 1.0

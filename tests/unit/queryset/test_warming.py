"""Compiling before anybody waits: what is on the disk afterwards, and that one process does it for all."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from eddyline.queryset import warming


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that compiled code would lie in."""
    monkeypatch.setattr(warming, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_warm_folder_is_known(folder: Path) -> None:
    assert not warming.is_warm()
    warming.warm()
    assert warming.is_warm()


def test_every_executor_is_used(folder: Path) -> None:
    keyed, sliced = (
        warming._set_of(texts) for texts in (warming._keyed_queries(), warming._sliced_queries())
    )
    assert "keyed: 599 entries" in keyed.explain()
    assert "keyed: 599" not in sliced.explain() and "sliced" in sliced.explain()


def test_a_holder_that_takes_too_long_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "LONGEST_WAIT", 0.2)
    folder.mkdir()
    with (folder / "warming.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        warming.warm()
    assert warming.is_warm()


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    folder.write_text("a file")
    warming.warm()
    assert not warming.is_warm()

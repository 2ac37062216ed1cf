"""Files of a folder: whole or not there, and on the disk when it is said that they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eddyline.storage.local import LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "made" / "when needed")


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all files and folders that are flushed, in order; those of drafts are told as such."""
    found: list[str] = []

    def fsync(handle: int) -> None:
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        found.append("draft" if name.endswith(".draft") else name)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_files_and_folders_are_told_apart(storage: LocalStorage) -> None:
    assert storage.list("") == storage.folders("") == []
    storage.put("b", b"")
    storage.put("a/x", b"")
    storage.put("c/d/y", b"")
    assert (storage.list(""), storage.folders("")) == (["b"], ["a", "c"])
    assert (storage.list("c"), storage.folders("c"), storage.list("c/d")) == ([], ["d"], ["y"])
    with pytest.raises(NotADirectoryError):
        storage.list("b")


def test_pieces_are_put_whole(storage: LocalStorage) -> None:
    def broken() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("no more pieces")

    storage.put("a", (piece for piece in (b"one", b"two")))
    with pytest.raises(ValueError, match="no more pieces"):
        storage.put("a", broken())
    assert storage.read("a") == b"onetwo" and storage.list("") == ["a"]


def test_a_half_written_file_is_out_of_sight_of_readers(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(storage.list("")))
    storage.put_if_absent("a", b"1")
    (draft,) = next(names for names in seen if names)
    assert draft.startswith(".a.") and draft.endswith(".draft") and storage.list("") == ["a"]


def test_what_is_put_or_deleted_lasts(storage: LocalStorage, flushed: list[str]) -> None:
    storage.put("a/x", b"")
    flushed.clear()
    storage.put("a/x", b"1")
    assert flushed == ["draft", "a"], "the content before it has the name"
    flushed.clear()
    storage.delete("a/x")
    storage.delete("a/x")
    storage.delete("nowhere/x")
    assert flushed == ["a"] and not storage.exists("a/x")


def test_a_group_is_flushed_once(storage: LocalStorage, flushed: list[str]) -> None:
    storage.put("a/x", b"")
    flushed.clear()
    with storage.group():
        storage.delete("a/x")
        storage.put("a/y", b"")
        storage.put_part("a/z", b"")
        assert flushed == ["draft", "z"]
    assert flushed == ["draft", "z", "a"] and storage.list("a") == ["y", "z"]


def test_a_folder_is_deleted_with_all_that_is_in_it(storage: LocalStorage) -> None:
    storage.put("a/b/x", b"")
    storage.put("a/y", b"")
    storage.put("z", b"")
    storage.delete_folder("a")
    storage.delete_folder("a")
    assert (storage.list(""), storage.folders("")) == (["z"], [])

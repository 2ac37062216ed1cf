"""Files of Spark's file systems, without Spark: what a failing write leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eddyline.runtime.spark.base import hadoop_storage
from eddyline.runtime.spark.base.hadoop_storage import SMALL, HadoopStorage


class Stream:
    """What a file is written to: it comes to its place when it is closed, whatever has been written by then."""

    def __init__(self, store: Store, name: str, overwrite: bool) -> None:
        self.store, self.name, self.overwrite, self.content = store, name, overwrite, b""

    def write(self, content: bytes) -> None:
        self.content += bytes(content[: self.store.room])
        if len(content) > self.store.room:
            raise OSError("no more")

    def close(self) -> None:
        if self.name in self.store.files and not self.overwrite:
            raise OSError("the name is taken")
        self.store.files[self.name] = self.content

    def abort(self) -> None:
        if not self.store.aborts:
            raise RuntimeError("UnsupportedOperationException")


class Store(HadoopStorage):
    """A store in memory; `room` bytes can be written, and some stores can give up a file."""

    def __init__(self, *, aborts: bool, room: int = 10 * SMALL) -> None:
        super().__init__("gs://bucket/state")
        self.files: dict[str, bytes] = {}
        self.created: list[str] = []
        self.aborts, self.room = aborts, room
        self.__dict__["_files"] = self

    def delete(self, name: str, recursive: bool = False) -> None:  # that of Hadoop
        self.files.pop(name, None)

    def _created(self, name: str, overwrite: bool) -> Any:
        self.created.append(name)
        return Stream(self, name, overwrite)

    def _path(self, name: str) -> Any:
        return name


@pytest.mark.parametrize("aborts", [True, False])
def test_a_write_that_fails_leaves_nothing(aborts: bool) -> None:
    store = Store(aborts=aborts, room=3)
    with pytest.raises(OSError, match="no more"):
        store.put("segment", b"12345")
    assert store.files == {}


@pytest.mark.parametrize("aborts", [True, False])
def test_a_file_of_somebody_else_stays(aborts: bool) -> None:
    store = Store(aborts=aborts, room=3)
    store.files["pin"] = b"theirs"
    with pytest.raises(OSError, match="no more"):
        store.put_if_absent("pin", b"12345")
    assert store.files == {"pin": b"theirs"}


def test_a_content_that_does_not_come_begins_no_file() -> None:
    """Neither where pieces fail to come, nor where there is no room to gather them."""
    store = Store(aborts=False)

    def pieces() -> Iterator[bytes]:
        yield b"1"
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        store.put("documents", pieces())
    assert store.created == []


def test_large_contents_go_by_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(path: str, stream: Any) -> None:
        stream.write(Path(path).read_bytes())

    monkeypatch.setattr(hadoop_storage, "_copy_file", copy)
    store = Store(aborts=False)
    store.put("large", b"x" * (SMALL + 1))
    store.put("pieces", [b"1", b"2"])
    assert store.files == {"large": b"x" * (SMALL + 1), "pieces": b"12"}


def test_folders_share_their_file_system() -> None:
    store = Store(aborts=False)
    inner = store.within("spark/quotes")
    assert inner.address == "gs://bucket/state/spark/quotes" and inner._files is store
    assert store.address == "gs://bucket/state"

"""Logs where nothing can be appended: every line once, in one order, whoever writes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from eddyline.errors import FileError
from eddyline.storage.local import LocalStorage
from eddyline.storage.object_log import BLOCK, KEPT, ObjectLineLog


class LateListing(LocalStorage):
    """A store whose listings do not show the newest files."""

    def list(self, folder: str) -> list[str]:
        return super().list(folder)[:-1]


def test_one_writer_asks_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ObjectLineLog(files := LocalStorage(tmp_path), "log")
    assert list(log.read()) == [] and log.append(b"a")
    monkeypatch.setattr(files, "list", None)
    monkeypatch.setattr(files, "read", None)
    assert log.append(b"b") and log.append(b"") and log.append(b"c") and list(log.read()) == []
    assert len([path for path in (tmp_path / "log").iterdir() if path.stat().st_size]) == KEPT
    assert list(ObjectLineLog(LocalStorage(tmp_path), "log").read()) == [b"a", b"b", b"", b"c"]


@pytest.mark.parametrize("kind", [LocalStorage, LateListing])
def test_many_writers(tmp_path: Path, kind: type[LocalStorage]) -> None:
    def write(name: int) -> None:
        log = ObjectLineLog(kind(tmp_path), "log")
        for number in range(10):
            while not log.append(f"{name} {number}".encode()):
                list(log.read())

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [line.decode().split() for line in ObjectLineLog(kind(tmp_path), "log").read()]
    assert len(found) == 40
    for name in range(4):
        assert [int(number) for who, number in found if int(who) == name] == list(range(10))


def test_a_line_that_its_taker_could_not_read_comes_again(tmp_path: Path) -> None:
    ObjectLineLog(LocalStorage(tmp_path), "log").append(b"a")
    log = ObjectLineLog(LocalStorage(tmp_path), "log")
    for _ in log.read():
        break
    assert not log.append(b"b") and list(log.read()) == [b"a"] and log.append(b"b")


@pytest.mark.parametrize("count", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_blocks(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found again by whoever knows nothing, or some lines; no file has more than a block."""
    lines = [str(number).encode() for number in range(count)]
    files = LocalStorage(tmp_path)
    log, behind = ObjectLineLog(files, "log"), ObjectLineLog(files, "log")
    for number, line in enumerate(lines):
        assert log.append(line)
        if number == BLOCK // 2:
            assert len(list(behind.read())) == number + 1
    assert list(behind.read()) == lines[BLOCK // 2 + 1 :]
    read: list[str] = []
    real = files.read
    monkeypatch.setattr(files, "read", lambda name: read.append(name) or real(name))  # type: ignore[func-returns-value]
    again = ObjectLineLog(files, "log")
    assert list(again.read()) == lines and again.append(b"more") and list(log.read()) == []
    assert len(read) <= 3 + count // BLOCK
    assert list(behind.read()) == [b"more"]
    assert max(path.stat().st_size for path in (tmp_path / "log").iterdir()) <= BLOCK * 4


@pytest.mark.parametrize("content", [b"", b"a\n", b"a\nb\nc\nd\n", b"a\nb"])
def test_damaged(tmp_path: Path, content: bytes) -> None:
    """Not all lines of a file are there, or none: it is told, however often it is read."""
    log = ObjectLineLog(LocalStorage(tmp_path), "log")
    for line in (b"a", b"b", b"c"):
        log.append(line)
    LocalStorage(tmp_path).put("log/000000000002", content)
    again = ObjectLineLog(LocalStorage(tmp_path), "log")
    for _ in range(2):
        with pytest.raises(FileError, match=r"log/000000000002 is damaged: it has \d lines, not 3"):
            list(again.read())


def test_an_old_block_that_is_damaged(tmp_path: Path) -> None:
    log = ObjectLineLog(LocalStorage(tmp_path), "log")
    for number in range(BLOCK + 2):
        log.append(str(number).encode())
    LocalStorage(tmp_path).delete(f"log/{BLOCK - 1:012d}")
    with pytest.raises(FileError, match="it has 0 lines, not 500"):
        list(ObjectLineLog(LocalStorage(tmp_path), "log").read())


def test_one_that_slept_finds_its_name_taken(tmp_path: Path) -> None:
    """However much the others have written since."""
    sleeper, other = (ObjectLineLog(LocalStorage(tmp_path), "log") for _ in range(2))
    assert sleeper.append(b"0") and list(other.read()) == [b"0"]
    lines = [str(number).encode() for number in range(1, 9)]
    assert all(other.append(line) for line in lines)
    assert not sleeper.append(b"mine") and list(sleeper.read()) == lines

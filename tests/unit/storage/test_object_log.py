"""Logs where nothing can be appended: every line once, in one order, whoever writes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from eddyline.storage.local import LocalStorage
from eddyline.storage.object_log import KEPT, ObjectLineLog


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


def test_one_that_slept_finds_its_name_taken(tmp_path: Path) -> None:
    """However much the others have written since."""
    sleeper, other = (ObjectLineLog(LocalStorage(tmp_path), "log") for _ in range(2))
    assert sleeper.append(b"0") and list(other.read()) == [b"0"]
    lines = [str(number).encode() for number in range(1, 9)]
    assert all(other.append(line) for line in lines)
    assert not sleeper.append(b"mine") and list(sleeper.read()) == lines

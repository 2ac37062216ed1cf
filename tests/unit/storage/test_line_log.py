"""Lines that are appended: none is lost, none is seen that may go away again, and nobody appends without having read."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from eddyline.storage.local import LocalStorage


def append(storage: LocalStorage, own: int) -> None:
    log, said = storage.line_log("log"), 0
    while said < 25:
        count = sum(1 for _ in log.read())
        said += log.append(f"{own} {said} {count}".encode())


def test_several_writers(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    threads = [Thread(target=append, args=(storage, own)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line.split() for line in storage.line_log("log").read()]
    for own in range(4):
        assert [int(said) for who, said, _ in lines if int(who) == own] == list(range(25))


def test_a_line_whose_taker_failed_comes_again(tmp_path: Path) -> None:
    log = LocalStorage(tmp_path).line_log("folder/log")
    other = LocalStorage(tmp_path).line_log("folder/log")
    assert list(log.read()) == []
    assert all(log.append(line) for line in (b"1", b"x", b"3"))
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            [int(line) for line in other.read()]
        assert not other.append(b"4"), "there is something that was not read"
    assert list(other.read()) == [b"x", b"3"] and list(other.read()) == []


@pytest.mark.parametrize("rest", [b"", b"half", bytes(40)])
def test_what_a_crash_left_of_a_line(tmp_path: Path, rest: bytes) -> None:
    (tmp_path / "log").write_bytes(b"whole\n" + rest)
    log = LocalStorage(tmp_path).line_log("log")
    assert list(log.read()) == [b"whole"]
    assert log.append(b"next") and (tmp_path / "log").read_bytes() == b"whole\nnext\n"


def test_a_line_that_may_not_be_on_disk_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LocalStorage(tmp_path).line_log("log")
    log.append(b"first")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            log.append(b"second")
    assert list(log.read()) == [] and log.append(b"third")
    assert (tmp_path / "log").read_bytes() == b"first\nthird\n"


def test_a_line_is_one_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(os, "fsync", flushes.append)
    log = LocalStorage(tmp_path).line_log("log")
    log.append(b"first")
    assert len(flushes) == 2, "the folder first, so that the file is found"
    log.append(b"second")
    assert len(flushes) == 3

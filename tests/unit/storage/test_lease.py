"""A lease: one owner at a time, taken over from the dead, and an owner that was not heard from finds out."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from eddyline.errors import FileError, OwnershipError, SetupError
from eddyline.storage import lease as lease_module
from eddyline.storage.lease import FOLDER, Lease, leaseholder_of
from eddyline.storage.local import LocalStorage

LASTS = 30.0  # too long for a busy machine to miss a renewal
SOON = 0.4  # for an owner that does not renew at all
HOLD = """
import sys
from pathlib import Path
from eddyline.storage.lease import Lease
from eddyline.storage.local import LocalStorage
lease = Lease(LocalStorage(Path(sys.argv[1])), "it", hint="", renewed=0.05)
print("held", flush=True)
sys.stdin.read()
"""


def lease(path: Path, *, renewed: float = 0.05, lasts: float = LASTS) -> Lease:
    return Lease(LocalStorage(path), "the state", hint="stop it", lasts=lasts, renewed=renewed)


def as_elsewhere(path: Path) -> None:
    """Have the last owner look as if it ran on another machine."""
    (file,) = (path / FOLDER).glob("*.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "kernel": "another"}))


def test_one_owner_after_the_other(tmp_path: Path) -> None:
    assert leaseholder_of(LocalStorage(tmp_path)) is None
    with lease(tmp_path) as first:
        first.check()
        assert leaseholder_of(LocalStorage(tmp_path)) is not None
        with pytest.raises(FileError, match=r"the state is used by process \d+ on ") as caught:
            lease(tmp_path)
        assert caught.value.hint == "stop it"
    assert leaseholder_of(LocalStorage(tmp_path)) is None
    with lease(tmp_path) as second:
        assert second.number > first.number


def test_of_many_one_wins(tmp_path: Path) -> None:
    won: list[Lease] = []

    def attempt() -> None:
        with suppress(FileError):
            won.append(lease(tmp_path))

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    won[0].close()


def test_a_dead_process_of_this_machine_is_not_waited_for(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(FileError, match=f"used by process {other.pid}"):
            Lease(LocalStorage(tmp_path), "it", hint="", lasts=30)
        other.kill()
        other.wait()
        lease(tmp_path, lasts=1e6).close()


def test_taken_over_from_one_that_is_not_heard_from(tmp_path: Path) -> None:
    silent = lease(tmp_path, renewed=1e6)
    as_elsewhere(tmp_path)
    with lease(tmp_path, renewed=1e6, lasts=SOON) as heir:
        silent.check()  # by its clock it has renewed a moment ago
        with pytest.raises(
            OwnershipError, match="was taken over by another process because this one did not"
        ):
            silent.ask_store()
        with pytest.raises(OwnershipError):  # from now on it knows, whenever it was that it renewed
            silent.check()
        heir.check()
        silent.close()  # lets go of nothing
        assert leaseholder_of(LocalStorage(tmp_path)) is not None


def test_one_that_was_not_heard_from_asks_before_it_goes_on(tmp_path: Path) -> None:
    now = [0.0]
    files = LocalStorage(tmp_path)
    owner = Lease(files, "it", hint="", renewed=1e6, clock=lambda: now[0])
    owner.check()
    files.put(f"{FOLDER}/{owner.number + 1:012d}.json", b"{}")
    owner.check()  # heard from a moment ago: nothing is asked
    now[0] = 16.0
    with pytest.raises(OwnershipError):
        owner.check()


def test_a_renewal_counts_from_its_begin(tmp_path: Path) -> None:
    """A store may change the file at once and answer late: others count from the change."""
    now = [0.0]

    class Slow(LocalStorage):
        def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
            super().put(name, content)
            now[0] += 20

    files = Slow(tmp_path)
    with Lease(files, "it", hint="", renewed=1e6, clock=lambda: now[0]) as owner:
        owner.ask_store()
        LocalStorage(tmp_path).put(f"{FOLDER}/{owner.number + 1:012d}.json", b"{}")
        with pytest.raises(OwnershipError):
            owner.check()


def test_time_goes_on_while_the_machine_is_suspended() -> None:
    assert abs(lease_module._seconds() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 10


def test_a_process_that_cannot_be_seen_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with processes of other users where /proc is mounted with hidepid."""
    with lease(tmp_path):
        monkeypatch.setattr(lease_module, "_begun", lambda pid: "")
        with pytest.raises(FileError, match="the state is used by process"):
            lease(tmp_path)


def test_another_process_of_the_same_id_is_not_the_owner(tmp_path: Path) -> None:
    lease(tmp_path, renewed=1e6)
    (file,) = (tmp_path / FOLDER).glob("*.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "begun": "17"}))
    lease(tmp_path, lasts=1e6).close()


@pytest.mark.parametrize("error", [OSError("away"), SetupError("no driver"), RuntimeError("Java is gone")])
def test_letting_go_fails_quietly(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Why an owner ends is what counts, not that its store has ended before it."""
    owner = lease(tmp_path, renewed=1e6)

    def fail(storage: object) -> list[int]:
        raise error

    monkeypatch.setattr(lease_module, "_numbers", fail)
    owner.close()
    assert str(error) in caplog.text


def test_a_lease_that_is_not_there_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a renewal takes two steps, its file is listed and cannot be read between them: somebody owns the folder still."""
    with lease(tmp_path), reads_that_find_nothing(monkeypatch, times=3) as away:
        with pytest.raises(FileError, match="is used by"):
            lease(tmp_path)
        assert not away


@contextmanager
def reads_that_find_nothing(monkeypatch: pytest.MonkeyPatch, *, times: int) -> Iterator[list[None]]:
    """The next reads find no file."""
    away, read = [None] * times, LocalStorage.read

    def missing(self: LocalStorage, name: str) -> bytes:
        if away and name.startswith(FOLDER):
            away.pop()
            raise FileNotFoundError(name)
        return read(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "read", missing)
        yield away


GOOD = {"number": 1, "pid": 7, "host": "h", "kernel": "", "begun": "", "since": "s", "token": "t"}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[" * 100_000,
        json.dumps({**GOOD, "pid": "x"}),
        json.dumps({**GOOD, "pid": None}),
        json.dumps({**GOOD, "number": 3}),
        json.dumps({**GOOD, "more": 1}),
    ],
    ids=["half", "deep", "text", "nothing", "another number", "more"],
)
def test_damaged(tmp_path: Path, content: str) -> None:
    LocalStorage(tmp_path).put(f"{FOLDER}/000000000001.json", content.encode())
    with pytest.raises(FileError, match="is damaged"):
        lease(tmp_path)

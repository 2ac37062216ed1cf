"""A pipeline's folder: its own and nobody else's, held by one process at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eddyline.errors import FileError, RegistryError
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.runtime.spark.versions import state as state_module

HOLD = """
import sys
from eddyline.runtime.spark.versions import StateFolder
lock = StateFolder.open(sys.argv[1], name="market", sources=["quotes"]).lock()
print("held", flush=True)
sys.stdin.read()
"""


def open_folder(path: Path, name: str = "market", sources: tuple[str, ...] = ("quotes",)) -> StateFolder:
    return StateFolder.open(path, name=name, sources=sources)


def test_the_same_pipeline_finds_itself_again(tmp_path: Path) -> None:
    first = open_folder(tmp_path / "a" / "state")
    again = open_folder(tmp_path / "a" / "state", sources=("quotes", "trades"))
    assert first.id == again.id and again.sources == ("quotes", "trades")
    assert open_folder(tmp_path / "a" / "state").sources == ("quotes",), "who only opens it changes nothing"
    again.remember(None)
    assert open_folder(tmp_path / "a" / "state").sources == ("quotes", "trades")
    assert StateFolder.find(first.address) == again
    assert first.checkpoint("quotes").address == str(tmp_path / "a" / "state" / "spark" / "quotes")
    assert open_folder(tmp_path / "b").id != first.id


def test_two_that_begin_at_the_same_time_are_one_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, found = state_module._refuse_strangers, []

    def while_another_begins(storage: Any) -> None:
        monkeypatch.setattr(state_module, "_refuse_strangers", real)
        found.append(open_folder(tmp_path))

    monkeypatch.setattr(state_module, "_refuse_strangers", while_another_begins)
    second = open_folder(tmp_path)
    assert [second.id] == [one.id for one in found] == [open_folder(tmp_path).id]


def test_what_is_refused(tmp_path: Path) -> None:
    state = open_folder(tmp_path / "state")
    with pytest.raises(FileError, match='is that of pipeline "market", not of "other"'):
        open_folder(Path(state.address), name="other")
    identity = Path(state.address, "eddyline.json")
    said = json.loads(identity.read_text())
    for content, message in (
        ({**said, "format": 99}, "has format 99, not 1"),
        ({**said, "format": "x"}, "does not say its format"),
        ([], "does not say its format"),
        ({**said, "pipeline": None}, '"pipeline" is missing'),
        ({**said, "sources": "quotes"}, '"sources" is missing'),
    ):
        identity.write_text(json.dumps(content))
        with pytest.raises(FileError, match=message):
            open_folder(Path(state.address))
    identity.write_text(json.dumps(said)[:-5])
    with pytest.raises(FileError, match=r"eddyline\.json is damaged"):
        open_folder(Path(state.address))
    with pytest.raises(FileError, match="is not the state of a pipeline"):
        StateFolder.find(tmp_path)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match=r'not the state of a pipeline: there is "notes\.txt"'):
        open_folder(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot hold the state"):
        open_folder(tmp_path / "file")


@pytest.mark.parametrize("scheme", ["s3", "s3n", "oss"])
def test_a_store_in_which_two_could_own_it(scheme: str) -> None:
    """It is not even asked."""
    with pytest.raises(FileError, match="cannot put a file only if there is none") as caught:
        StateFolder.open(f"{scheme}://bucket/state", name="market", sources=["quotes"])
    assert "s3a:" in (caught.value.hint or "")
    with pytest.raises(FileError, match="cannot put a file only if there is none"):
        StateFolder.exists(f"{scheme}://bucket/state")


def test_what_a_crash_left_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / ".eddyline.json.0f.draft").write_text("{")
    (tmp_path / "lock").touch()
    assert open_folder(tmp_path).name == "market"


def test_a_checkpoint_of_spark_that_is_gone(tmp_path: Path) -> None:
    state = open_folder(tmp_path)
    state.refuse_lost_checkpoints()
    VersionLog(state.batches).pin("quotes", 0, lambda: 1)
    with pytest.raises(
        FileError, match=r'source "quotes": 1 batch was served, and its checkpoint /.* is missing'
    ):
        state.refuse_lost_checkpoints()
    (offsets := Path(state.checkpoint("quotes").address, "offsets")).mkdir(parents=True)
    VersionLog(state.batches).pin("quotes", 1, lambda: 1)
    with pytest.raises(FileError, match="2 batches were served"):
        state.refuse_lost_checkpoints()
    (offsets / "0").touch()
    state.refuse_lost_checkpoints()


def test_one_at_a_time(tmp_path: Path) -> None:
    state = open_folder(tmp_path)
    assert StateFolder.is_running(tmp_path) is None
    with state.lock():
        running = StateFolder.is_running(tmp_path)
        assert running is not None and running.pid == os.getpid()
        with pytest.raises(FileError, match=f"used by process {os.getpid()} on "):
            state.lock()
    assert StateFolder.is_running(tmp_path) is None
    state.lock().close()


def test_every_owner_has_a_higher_number(tmp_path: Path) -> None:
    """Also after one that was killed, and where the file is that of an older release, or damaged."""
    state = open_folder(tmp_path)
    numbers = []
    for _ in range(3):
        with state.lock() as lock:
            numbers.append(lock.number)
    assert numbers == [1, 2, 3]
    for said, number in (
        (b'{"pid": 3, "number": 9}', 10),
        (b'{"pid": 3}', 1),
        (b"", 1),
        (b"{", 1),
        (b"[]", 1),
    ):
        (tmp_path / "lock").write_bytes(said)
        with state.lock() as lock:
            assert lock.number == number


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        running = StateFolder.is_running(tmp_path)
        assert running is not None and running.pid == other.pid and running.host
        with pytest.raises(FileError, match=f"used by process {other.pid} on ") as caught:
            open_folder(tmp_path).lock()
        assert "checkpoint of its own" in (caught.value.hint or "")
        other.kill()
    assert StateFolder.is_running(tmp_path) is None
    open_folder(tmp_path).lock().close()


def test_a_pipeline_belongs_to_one_registry(tmp_path: Path) -> None:
    state = open_folder(tmp_path / "state")
    state.refuse_other_registry("one")
    state.remember(None)  # of an older form, and read-only
    state.remember("one")
    state.remember("one")
    again = open_folder(tmp_path / "state", sources=("quotes", "trades"))
    assert again.id == state.id
    again.refuse_other_registry("one")
    again.refuse_other_registry(None)
    for refused in (again.refuse_other_registry, again.remember):
        with pytest.raises(RegistryError, match="belongs to another registry"):
            refused("other")

"""Outputs behind fsspec: a record says which batches are whole."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eddyline.errors import SinkError
from eddyline.runtime.spark.sinks.storage import LocalOutput, RemoteOutput, storage_of


class Folder:
    """As much of a file system of fsspec as we use, in a folder of this machine; `left` moves until it fails."""

    left = 99

    def invalidate_cache(self) -> None:
        pass

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def isdir(self, path: str) -> bool:
        return Path(path).is_dir()

    def ls(self, path: str, detail: bool) -> list[str]:
        return [str(one) for one in Path(path).iterdir()]

    def cat_file(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def pipe_file(self, path: str, content: bytes) -> None:
        Path(path).write_bytes(content)

    def makedirs(self, path: str, exist_ok: bool) -> None:
        Path(path).mkdir(parents=True, exist_ok=exist_ok)

    def find(self, path: str, detail: bool = False) -> Any:
        files = [one for one in Path(path).rglob("*") if one.is_file()]
        return (
            {str(one): {"size": one.stat().st_size} for one in files}
            if detail
            else [str(one) for one in files]
        )

    def mv(self, path: str, target: str) -> None:
        if self.left == 0:
            raise OSError("gone")
        self.left -= 1
        shutil.move(path, target)

    def rm(self, path: str, recursive: bool) -> None:
        shutil.rmtree(path)


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """No driver of Spark in this process, as with Spark Connect, whatever other tests have started."""
    monkeypatch.setattr("eddyline.runtime.spark.sinks.storage.reaches_hadoop", lambda: False)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder()
    core = ModuleType("fsspec.core")
    core.url_to_fs = lambda url: (made, f"{tmp_path}/{url.partition('://')[2]}")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fsspec", ModuleType("fsspec"))
    monkeypatch.setitem(sys.modules, "fsspec.core", core)
    return made


def stage(storage: RemoteOutput) -> None:
    for name in ("part-0", "part-1", "_SUCCESS"):
        storage.put_if_absent(f"_staging/source=s/7/{name}", name.encode())


def commit(storage: RemoteOutput) -> None:
    files = [name for name, _ in storage.files("_staging/source=s/7") or ()]
    storage.commit("_staging/source=s/7", "source=s/batch=7", files)


def test_a_batch_and_its_record(files: Folder, tmp_path: Path) -> None:
    storage = storage_of("s3://bucket/out/", Path())
    assert isinstance(storage, RemoteOutput) and storage.address == "s3://bucket/out"
    assert storage.names() == [] and not storage.is_committed("source=s/batch=7")
    stage(storage)
    assert sorted(size for _, size in storage.files("_staging/source=s/7")) == [6, 6]
    commit(storage)
    assert storage.is_committed("source=s/batch=7")
    record = json.loads((tmp_path / "bucket/out/_commits/source=s/batch=7.json").read_bytes())
    assert record["files"] == [f"source=s/batch=7/{name}" for name in ("part-0", "part-1")]


@pytest.mark.parametrize("moves", [0, 1])
def test_what_a_failed_move_left_is_removed(files: Folder, tmp_path: Path, moves: int) -> None:
    storage = RemoteOutput("s3://bucket/out")
    stage(storage)
    files.left = moves
    with pytest.raises(OSError, match="gone"):
        commit(storage)
    assert not storage.is_committed("source=s/batch=7")
    files.left = 99
    storage.remove("_staging/source=s")
    stage(storage)
    storage.put_if_absent("_staging/source=s/7/part-2", b"")
    storage.remove("_staging/source=s/7/nothing")
    commit(storage)
    assert storage.is_committed("source=s/batch=7")
    assert len(list((tmp_path / "bucket/out/source=s/batch=7").iterdir())) == 3
    assert storage.folders("source=s") == ["batch=7"] and storage.folders("nothing") == []


def test_a_file_is_made_once(files: Folder, tmp_path: Path) -> None:
    for storage in (RemoteOutput("s3://bucket"), LocalOutput(tmp_path / "here")):
        assert storage.read("mark") is None
        assert storage.put_if_absent("mark", b"1")
        assert not storage.put_if_absent("mark", b"2")
        assert storage.read("mark") == b"1" and storage.names() == ["mark"]


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(SinkError, match="needs fsspec, which is not installed"):
        storage_of("s3://bucket/out", Path())


@pytest.mark.parametrize("address", ["s3a://bucket/out", "nowhere://bucket/out"])
def test_without_the_package_for_an_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(SinkError, match=rf"the output {address} cannot be opened: ") as found:
        storage_of(address, Path())
    assert "s3fs" in str(found.value.hint)

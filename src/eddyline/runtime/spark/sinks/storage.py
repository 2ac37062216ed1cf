"""Files of outputs: on this machine, on the file systems that Spark reaches, and, with Spark Connect, on whatever fsspec opens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage, reaches_hadoop
from eddyline.runtime.spark.base.remote_folders import local_path, open_address
from eddyline.storage.durable import move_folder
from eddyline.storage.local import LocalStorage

COMMITS: Final = "_commits"


class OutputFolder(Protocol):
    """A folder of an output; names are relative to it, with slashes.

    Its own few files are read and put as in any storage. Batches are not: Spark's workers write their files, which may be
    many and large, so that they can only be moved where they belong, all of a batch together.
    """

    address: str
    """What Spark calls the folder."""

    write_options: Mapping[str, str]
    """Options with which Spark writes a batch into it."""

    def names(self) -> list[str]:
        """What is in the folder itself; nothing where it does not exist."""

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none."""

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Put a file in its place unless there is one already; gives whether it was put."""

    def is_committed(self, name: str) -> bool:
        """Whether a folder was put in its place as a whole."""

    def commit(self, staged: str, name: str) -> None:
        """Put a staged folder in its place as a whole, so that it stays there even if the machine fails."""

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, with their sizes; None where there is no such folder."""


def storage_of(path: str, folder: Path) -> OutputFolder:
    """The storage of a path, relative to `folder`; of a file: URL; or of another address.

    Such an address is reached through Spark's driver, or by fsspec where another process has that.
    """
    here = local_path(path)
    if here is not None:
        return LocalOutput((folder / here).absolute())
    return SparkOutput(path) if reaches_hadoop() else RemoteOutput(path)


def spark_address(path: Path) -> str:
    """What Spark calls a path: a plain one would lead to another system where Spark has one by default.

    Unlike in other URLs nothing is escaped: Hadoop takes the text as it is.

    >>> spark_address(Path("/shared/my results"))
    'file:///shared/my results'
    """
    return f"file://{path}"


class LocalOutput:
    """A folder that the operating system reaches: a rename puts a batch in its place, whole or not at all.

    Here, and only here, results rely on renaming: readers who know nothing of us need no record to tell what is whole.
    """

    write_options: Mapping[str, str] = {}

    def __init__(self, root: Path) -> None:
        self.root = root
        self._storage = LocalStorage(root)
        self.address = spark_address(root)

    def names(self) -> list[str]:
        """What is in the folder itself."""
        try:
            return sorted(path.name for path in self.root.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SinkError(f"the folder {self.root} cannot be read: {error.strerror}") from None

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none."""
        try:
            return self._storage.read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SinkError(f"the file {self.root / name} cannot be read: {error.strerror}") from None

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Put a file in its place unless there is one already; gives whether it was put."""
        return self._storage.put_if_absent(name, content)

    def is_committed(self, name: str) -> bool:
        """Whether a folder is there: it comes by one rename, so it is whole."""
        return (self.root / name).is_dir()

    def commit(self, staged: str, name: str) -> None:
        """Flush all files, then rename the folder."""
        self.adopt(self.root / staged, name)

    def adopt(self, folder: Path, name: str) -> None:
        """The same with a folder anywhere on this file system."""
        move_folder(folder, self.root / name)

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""
        self._storage.delete_folder(name)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, with their sizes; None where there is no such folder."""
        if not (self.root / name).is_dir():
            return None
        found = []
        for folder, _, files in os.walk(self.root / name):
            visible = [Path(folder, file) for file in files if not file.startswith(("_", "."))]
            found += [(str(path), path.stat().st_size) for path in visible]
        return found


def _record(files: list[str]) -> bytes:
    """What a record says: the files of a batch, all of them."""
    return json.dumps({"format": 1, "files": files}).encode()


def _record_name(folder: str) -> str:
    return f"{COMMITS}/{folder}.json"


class SparkOutput:
    """A folder on a file system of Spark's: a record says which batches are whole, as renaming many files may not be one step.

    `_commits/<folder>.json` is written last, if it is not there, and names the files; readers go by the records. Where renaming
    is one step, as on HDFS, a reader that knows nothing of records is right, too.
    """

    # Spark moves what a task has written into place when the task ends, and not all of it once more when the job does: in an
    # object store each move is a copy. What a job that fails leaves behind is deleted, and in no record.
    write_options: Mapping[str, str] = {
        "mapreduce.fileoutputcommitter.algorithm.version": "2",
        "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    }

    def __init__(self, address: str) -> None:
        self._storage = HadoopStorage(address)
        self.address = self._storage.address

    def names(self) -> list[str]:
        """What is in the folder itself."""
        with self._refusing("listed"):
            return sorted([*self._storage.list(""), *self._storage.folders("")])

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none."""
        try:
            with self._refusing("read"):
                return self._storage.read(name)
        except FileNotFoundError:
            return None

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Put a file in its place unless there is one already; gives whether it was put."""
        return self._storage.put_if_absent(name, content)

    def is_committed(self, name: str) -> bool:
        """Whether the record of a folder is there."""
        return self._storage.exists(_record_name(name))

    def commit(self, staged: str, name: str) -> None:
        """Move the files of a folder, then write the record that names them."""
        self.remove(name)  # what a failed attempt left
        self._storage.move_folder(staged, name)
        files = [f"{name}/{file}" for file, _ in self._storage.walk(name) or ()]
        self._storage.put_if_absent(_record_name(name), _record(files))

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""
        self._storage.delete_folder(name)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, with their sizes; None where there is no such folder."""
        found = self._storage.walk(name)
        if found is None:
            return None
        visible = [(file, size) for file, size in found if not file.rpartition("/")[2].startswith(("_", "."))]
        return [(f"{self.address}/{name}/{file}", size) for file, size in visible]

    @contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        """What the store refuses while an output is opened."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SinkError(f"the folder {self.address} cannot be {what}: {error}") from None


class RemoteOutput:
    """A folder behind fsspec, where moving many files is not one step: a record says which batches are whole.

    `_commits/<folder>.json` is written last and names the files; readers go by the records.
    """

    write_options: Mapping[str, str] = {}

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._files: Any
        self._files, self._root = open_address(self.address, f"the output {address}", SinkError)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def names(self) -> list[str]:
        """What is in the folder itself."""
        self._files.invalidate_cache()
        if not self._files.exists(self._root):
            return []
        return sorted(
            str(path).rstrip("/").rpartition("/")[2] for path in self._files.ls(self._root, detail=False)
        )

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none."""
        try:
            return bytes(self._files.cat_file(self._at(name)))
        except FileNotFoundError:
            return None

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Put a file; whether there was one is asked before, which two at the same moment can get past."""
        if self._files.exists(self._at(name)):
            return False
        self._put(name, content)
        return True

    def _put(self, name: str, content: bytes) -> None:
        self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(self._at(name), content)

    def is_committed(self, name: str) -> bool:
        """Whether the record of a folder is there."""
        return bool(self._files.exists(self._at(_record_name(name))))

    def commit(self, staged: str, name: str) -> None:
        """Move the files of a folder, then write the record that names them."""
        self.remove(name)  # what a failed attempt left
        moved = []
        self._files.invalidate_cache()
        for path in sorted(self._files.find(self._at(staged))):
            relative = str(path).removeprefix(self._at(staged)).lstrip("/")
            target = self._at(f"{name}/{relative}")
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.mv(path, target)
            moved.append(f"{name}/{relative}")
        self._put(_record_name(name), _record(moved))

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""
        self._files.invalidate_cache()
        if self._files.exists(self._at(name)):
            self._files.rm(self._at(name), recursive=True)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, with their sizes; None where there is no such folder."""
        self._files.invalidate_cache()
        if not self._files.exists(self._at(name)):
            return None
        found = self._files.find(self._at(name), detail=True)
        return [
            (path, int(about.get("size") or 0))
            for path, about in found.items()
            if not str(path).rpartition("/")[2].startswith(("_", "."))
        ]

"""Files of outputs: on this machine, on the file systems that Spark reaches, and, with Spark Connect, on whatever fsspec opens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage, reaches_hadoop
from eddyline.runtime.spark.base.remote_folders import local_path, open_address
from eddyline.storage.durable import move_folder
from eddyline.storage.local import LocalStorage

COMMITS: Final = "_commits"


MOVED_ONCE: Final[Mapping[str, str]] = {
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
"""Options with which Spark moves what a task has written into place when the task ends, and not once more when the job does.

For folders where nobody looks: what a job that fails has moved is left behind."""


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

    def folders(self, name: str) -> list[str]:
        """The names of the folders in a folder, without it; nothing where it does not exist."""

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none."""

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Put a file in its place unless there is one already; gives whether it was put."""

    def is_committed(self, name: str) -> bool:
        """Whether a folder was put in its place as a whole."""

    def commit(self, staged: str, name: str, files: Sequence[str]) -> None:
        """Put a staged folder in its place as a whole, so that it stays there even if the machine fails.

        `files` are those that are visible in it, as `files` has named them.
        """

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, named from it, with their sizes; None where there is no such folder."""


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

    def folders(self, name: str) -> list[str]:
        """The names of the folders in a folder, without it."""
        return self._storage.folders(name)

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

    def commit(self, staged: str, name: str, files: Sequence[str]) -> None:
        """Flush all files, then rename the folder."""
        self.adopt(self.root / staged, name)

    def adopt(self, folder: Path, name: str) -> None:
        """The same with a folder anywhere on this file system."""
        move_folder(folder, self.root / name)

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one.

        It is renamed first: another owner, who may put it in its place at this moment, does so with all of it or finds nothing.
        """
        folder, _, last = name.rpartition("/")
        gone = f"{folder}/.{last}.{uuid4().hex}"
        with suppress(FileNotFoundError):
            (self.root / name).rename(self.root / gone)
            self._storage.delete_folder(gone)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, named from it, with their sizes; None where there is no such folder."""
        root = self.root / name
        if not root.is_dir():
            return None
        found = [Path(folder, file) for folder, _, files in os.walk(root) for file in files]
        return [
            (str(path.relative_to(root)), path.stat().st_size) for path in found if _is_visible(path.name)
        ]


def _is_visible(file: str) -> bool:
    return not file.rpartition("/")[2].startswith(("_", "."))


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

    # In an object store each move is a copy. What a job that fails leaves behind is deleted, and in no record.
    write_options: Mapping[str, str] = MOVED_ONCE

    def __init__(self, address: str) -> None:
        self._storage = HadoopStorage(address)
        self.address = self._storage.address

    def names(self) -> list[str]:
        """What is in the folder itself."""
        with self._refusing("listed"):
            return sorted([*self._storage.list(""), *self._storage.folders("")])

    def folders(self, name: str) -> list[str]:
        """The names of the folders in a folder, without it."""
        return self._storage.folders(name)

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
        """Whether the record of a folder is there, and all that it names."""
        return self._storage.exists(_record_name(name)) and self._is_whole(name)

    def _is_whole(self, name: str) -> bool:
        """Whether all files are there that the record of a folder names; an owner that stood still may have removed some."""
        named = json.loads(self._storage.read(_record_name(name)))["files"]
        return {*named} <= {f"{name}/{file}" for file, _ in self._storage.walk(name) or ()}

    def commit(self, staged: str, name: str, files: Sequence[str]) -> None:
        """Move the files of a folder, then write the record that names them.

        Two owners may come here with the same batch, if one of them has stood still for longer than its lease lasts. So the order
        must stay. The record is looked for before anything is removed: what it names is what readers read. It names the files
        that were staged, no others that lie there: those of the other owner are the same rows again. And it is put only when
        all of them are in their place: the other owner may have removed some before they were moved.

        A record of the other owner that was put meanwhile stays if it is whole: readers may have it. Else what it names was removed
        for the files of this batch, which are the same rows.
        """
        assert files, "somebody has written rows"
        if self.is_committed(name):
            return
        self.remove(name)  # what a failed attempt left
        self._storage.move_folder(staged, name)
        missing = {*files} - {file for file, _ in self._storage.walk(name) or ()}
        if missing:
            raise FileNotFoundError(f"{self.address}/{name}: {min(missing)} is missing, which was written")
        record, content = _record_name(name), _record([f"{name}/{file}" for file in files])
        if not self._storage.put_if_absent(record, content) and not self._is_whole(name):
            self._storage.put(record, content)

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""
        self._storage.delete_folder(name)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, named from it, with their sizes; None where there is no such folder."""
        found = self._storage.walk(name)
        return None if found is None else [(file, size) for file, size in found if _is_visible(file)]

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

    def folders(self, name: str) -> list[str]:
        """The names of the folders in a folder, without it."""
        self._files.invalidate_cache()
        if not self._files.exists(self._at(name)):
            return []
        paths = [str(path).rstrip("/") for path in self._files.ls(self._at(name), detail=False)]
        return sorted(path.rpartition("/")[2] for path in paths if self._files.isdir(path))

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

    def commit(self, staged: str, name: str, files: Sequence[str]) -> None:
        """Move the files of a folder, then write the record that names them."""
        self.remove(name)  # what a failed attempt left
        self._files.invalidate_cache()
        for file in files:
            target = self._at(f"{name}/{file}")
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.mv(self._at(f"{staged}/{file}"), target)
        self._put(_record_name(name), _record([f"{name}/{file}" for file in files]))

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if there is one."""
        self._files.invalidate_cache()
        if self._files.exists(self._at(name)):
            self._files.rm(self._at(name), recursive=True)

    def files(self, name: str) -> list[tuple[str, int]] | None:
        """The visible files below a folder, named from it, with their sizes; None where there is no such folder."""
        self._files.invalidate_cache()
        if not self._files.exists(self._at(name)):
            return None
        found = self._files.find(self._at(name), detail=True)
        return sorted(
            (str(path).removeprefix(self._at(name)).lstrip("/"), int(about.get("size") or 0))
            for path, about in found.items()
            if _is_visible(str(path))
        )

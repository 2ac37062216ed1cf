"""Files of a folder of this machine."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import numpy as np

from eddyline.storage.durable import flush, write_new
from eddyline.storage.line_log import LocalLineLog
from eddyline.storage.storage import Bytes


class _Group(threading.local):
    """The folders that are to be flushed when the group of a thread ends; None where there is no group."""

    folders: set[str] | None = None


class LocalStorage:
    """A folder; it is made when the first file is put into it.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> files = LocalStorage(Path(place.name))
    >>> (
    ...     files.put("notes/a", b"one"),
    ...     files.put_if_absent("notes/a", b"two"),
    ...     files.read("notes/a"),
    ...     files.list("notes"),
    ... )
    (None, False, b'one', ['a'])
    >>> files.delete("notes/a"), files.list("notes"), files.list("nothing")
    (None, [], [])
    >>> place.cleanup()
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.address = str(root)
        self._group = _Group()

    def __str__(self) -> str:
        return self.address

    def within(self, name: str) -> LocalStorage:
        """The files of a folder in it."""
        return LocalStorage(self.root / name)

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, without it; none if there is no such folder."""
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir())

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it; none if there is no such folder."""
        return sorted(entry.name for entry in self._entries(folder) if entry.is_file())

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        with suppress(FileNotFoundError), os.scandir(self.root / folder) as found:
            yield from found

    def exists(self, name: str) -> bool:
        """Whether there is a file of a name."""
        return (self.root / name).is_file()

    def read(self, name: str) -> bytes:
        """The content of a file; a `FileNotFoundError` if there is none."""
        return (self.root / name).read_bytes()

    def map(self, name: str) -> Bytes:
        """The content of a file, read when it is looked at; what is written into the array stays in this process."""
        path = self.root / name
        if not path.stat().st_size:  # nothing that could be mapped
            return np.empty(0, np.uint8)
        # Copy-on-write, not read-only: kernels are compiled for writable arrays.
        return np.asarray(np.memmap(path, np.uint8, "c"))

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file; a `FileNotFoundError` if there is none."""
        shutil.copyfile(self.root / name, target)

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Put a file in its place, or into that of another one; it lasts once this returns, or the group ends."""
        with self._written(name, content) as (draft, path):
            draft.replace(path)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """The same unless there is one already; gives whether it was put."""
        if self.exists(name):
            return False
        with self._written(name, content) as (draft, path):
            try:
                os.link(draft, path)  # unlike a renaming, it fails where somebody else was first
                return True
            except FileExistsError:
                return False
            finally:
                draft.unlink()

    def put_part(self, name: str, content: bytes) -> None:
        """Put a file that nobody looks for before another one names it: under its own name at once."""
        write_new(self.root / name, content)
        self._flush_names(name)

    @contextmanager
    def _written(self, name: str, content: bytes | Iterable[bytes]) -> Iterator[tuple[Path, Path]]:
        """A content under another name, and its own; who gives it that has it flushed."""
        path = self.root / name
        # One of its own for every call: two writers of one name must not write into the same file. Its name begins with a dot:
        # whoever reads a folder of results leaves out such files.
        draft = path.with_name(f".{path.name}.{uuid4().hex}.draft")
        try:
            write_new(draft, content)
            yield draft, path
        except BaseException:
            draft.unlink(missing_ok=True)  # on a full disk every byte counts
            raise
        self._flush_names(name)

    def _flush_names(self, name: str) -> None:
        """Have the names in a file's folder on the disk, now or when the group ends."""
        folder = name.rpartition("/")[0]
        if self._group.folders is None:
            flush(self.root / folder)
        else:
            self._group.folders.add(folder)

    def delete(self, name: str) -> None:
        """Delete a file, if it is there; it is gone for good once this returns, or the group ends."""
        with suppress(FileNotFoundError):
            (self.root / name).unlink()
            self._flush_names(name)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with all that is in it, if it is there."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.root / folder)

    def line_log(self, name: str) -> LocalLineLog:
        """The lines of a file."""
        return LocalLineLog(self.root / name)

    @contextmanager
    def group(self) -> Iterator[None]:
        """What is put and deleted in here lasts when it ends: each folder is flushed once."""
        folders = self._group.folders = set()
        try:
            yield
        finally:
            self._group.folders = None
        for folder in folders:
            flush(self.root / folder)

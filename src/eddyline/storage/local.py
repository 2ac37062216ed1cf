"""Files of a folder of this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np

from eddyline.storage.durable import flush, make_folder, write_new
from eddyline.storage.storage import Bytes


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
        self._grouped = threading.local()

    def __str__(self) -> str:
        return str(self.root)

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it; none if there is no such folder."""
        try:
            with os.scandir(self.root / folder) as found:
                return sorted(entry.name for entry in found if entry.is_file())
        except FileNotFoundError:
            return []

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

    def put(self, name: str, content: bytes) -> None:
        """Put a file in its place, or into that of another one; it lasts once this returns, or the group ends."""
        with self._written(name, content) as draft:
            draft.replace(self.root / name)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """The same unless there is one already; gives whether it was put."""
        if self.exists(name):
            return False
        with self._written(name, content) as draft:
            try:
                os.link(draft, self.root / name)  # unlike a renaming, it fails where somebody else was first
                return True
            except FileExistsError:
                return False
            finally:
                draft.unlink()

    @contextmanager
    def _written(self, name: str, content: bytes) -> Iterator[Path]:
        """A content under another name; who gives it its own has it flushed."""
        path = self.root / name
        make_folder(path.parent)
        # One of its own for every call: two writers of one name must not write into the same file.
        draft = path.with_name(f"{path.name}.{uuid4().hex}.draft")
        try:
            write_new(draft, content)
            yield draft
        except BaseException:
            draft.unlink(missing_ok=True)  # on a full disk every byte counts
            raise
        folders: set[Path] | None = getattr(self._grouped, "folders", None)
        if folders is None:
            flush(path.parent)
        else:
            folders.add(path.parent)

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.root / name).unlink(missing_ok=True)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Files that are put in here last when it ends: each folder is flushed once."""
        folders: set[Path] = set()
        self._grouped.folders = folders
        try:
            yield
        finally:
            del self._grouped.folders
        for folder in folders:
            flush(folder)

"""The folder of this machine in which a pipeline works: that of its state, or, where that lies elsewhere, one for a while.

Compiled versions are mapped into memory and metrics are appended to, which takes files of this machine. Where the state lies on
another file system, versions are brought here when they are needed, and each new one is put there before it is used.
"""

from __future__ import annotations

import fcntl
import shutil
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from eddyline.errors import FileError
from eddyline.runtime.spark.transport.own_folder import own_folder
from eddyline.runtime.spark.versions.state import StateFolder
from eddyline.storage.folder_lock import FolderLock, holder_of
from eddyline.storage.storage import Storage

FOLDER: Final = "state"  # in this user's folder of temporary files
_SWEEPING: Final = "sweeping"  # a file that is locked while folders are made and swept


class WorkingFolder:
    """Where a process works; `kept` is the storage of the state where that is another place, else None."""

    def __init__(self, path: Path, kept: Storage | None = None) -> None:
        self.path = path
        self.kept = kept

    @staticmethod
    def of(state: StateFolder) -> WorkingFolder:
        """The working folder of a pipeline's state.

        One of its own lasts as long as the value is used: reports are read after a pipeline has ended, too.
        """
        if state.path is not None:
            return WorkingFolder(state.path)
        path, lock = _new_folder()
        made = WorkingFolder(path, state.storage)
        weakref.finalize(made, _remove, path, lock)
        return made

    @property
    def sets(self) -> Path:
        """Where compiled versions lie."""
        return self.path / "sets"

    @property
    def metrics(self) -> Path:
        """Where measurements are appended."""
        return self.path / "metrics.jsonl"


def _new_folder() -> tuple[Path, FolderLock]:
    """A folder that this process holds; those of processes that were killed, which nobody holds, are removed."""
    root = own_folder(FOLDER)
    with (root / _SWEEPING).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # a folder that was just made is not held for a moment
        for left in root.iterdir():
            with suppress(FileError):
                if left.is_dir() and holder_of(left) is None:
                    shutil.rmtree(left, ignore_errors=True)
        folder = root / uuid4().hex
        folder.mkdir()
        return folder, FolderLock(folder, f"the folder {folder}", hint="set TMPDIR to another folder")


def _remove(folder: Path, lock: FolderLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()

"""The folder of this machine in which a pipeline works: that of its state, or, where that lies elsewhere, one for a while.

Compiled versions are mapped into memory and metrics are appended to, which takes files of this machine. Where the state lies on
another file system, versions are brought here when a pipeline starts, and each new one is put there before it is used.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from eddyline.runtime.spark.versions.state import StateFolder
from eddyline.storage.storage import Storage


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
        made = WorkingFolder(Path(tempfile.mkdtemp(prefix="eddyline-state-")), state.storage)
        weakref.finalize(made, shutil.rmtree, made.path, ignore_errors=True)
        return made

    @property
    def sets(self) -> Path:
        """Where compiled versions lie."""
        return self.path / "sets"

    @property
    def metrics(self) -> Path:
        """Where measurements are appended."""
        return self.path / "metrics.jsonl"

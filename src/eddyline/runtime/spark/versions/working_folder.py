"""The folder of this machine in which a pipeline works: that of its state, or, where that lies elsewhere, one for a while.

Compiled versions are mapped into memory and metrics are appended to, which takes files of this machine. Where the state lies on
another file system, versions are brought here when a pipeline starts, and each new one is put there before it is used.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eddyline.runtime.spark.versions.state import StateFolder
from eddyline.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """Where a process works; `kept` is the storage of the state where that is another place, else None."""

    path: Path
    kept: Storage | None = None

    @property
    def sets(self) -> Path:
        """Where compiled versions lie."""
        return self.path / "sets"

    @property
    def metrics(self) -> Path:
        """Where measurements are appended."""
        return self.path / "metrics.jsonl"


@contextmanager
def working_folder(state: StateFolder) -> Iterator[WorkingFolder]:
    """The working folder of a pipeline's state, for as long as it is used."""
    if state.path is not None:
        yield WorkingFolder(state.path)
        return
    with tempfile.TemporaryDirectory(prefix="eddyline-state-") as folder:
        yield WorkingFolder(Path(folder), state.storage)

"""Metrics of a pipeline whose state lies on another file system: a copy of the file is put there now and then."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from eddyline.runtime.spark.watching.metrics import Metrics
from eddyline.runtime.spark.watching.values import BatchReport
from eddyline.storage.ownership import UNOWNED, Ownership
from eddyline.storage.storage import Storage

NAME: Final = "metrics.jsonl"
MOST_BYTES: Final = 1024 * 1024  # it is put as a whole
EVERY: Final = 10.0  # seconds between two copies

_log = logging.getLogger(__name__)


class KeptMetrics(Metrics):
    """The file as it was left, and from then on kept: the reports of the last seconds may be lost with the machine."""

    def __init__(
        self,
        path: Path,
        storage: Storage,
        owner: Ownership = UNOWNED,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`owner` is asked before a copy is put: that of the next owner must not be overwritten."""
        super().__init__(path, most_bytes=MOST_BYTES)
        self._storage = storage
        self._owner = owner
        self._clock = clock
        self._kept_at = clock()
        self._is_kept = True
        with suppress(FileNotFoundError):  # its first run
            path.write_bytes(storage.read(NAME))

    def batch(self, report: BatchReport) -> None:
        """Keep a report."""
        super().batch(report)
        self._is_kept = False
        if self._clock() - self._kept_at >= EVERY:
            self._keep()

    def close(self) -> None:
        """Put the last copy, if a batch has come since."""
        if not self._is_kept:
            self._keep()

    def _keep(self) -> None:
        self._kept_at = self._clock()
        try:
            self._owner.check()
            self._storage.put(NAME, self.path.read_bytes())
            self._is_kept = True
        except (
            Exception
        ) as error:  # as with a full disk: no reason to stop a pipeline, or to say why it has stopped
            _log.warning("the metrics are not kept in %s: %s", self._storage, error)


def metrics_in(path: Path, kept: Storage | None) -> Metrics:
    """The metrics of a file of this machine, or those that are kept elsewhere, brought there, for somebody who reads them."""
    return Metrics(path) if kept is None else KeptMetrics(path, kept)

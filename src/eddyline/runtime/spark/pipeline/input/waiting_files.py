"""How many files of a local folder wait to be read: those that are there less those that Spark's log of the source has."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.pipeline.input.inputs import FILES

# More are not counted: listing them would cost more than knowing their number is worth.
MOST_FILES: Final = 100_000
MOST_BYTES: Final = 32 * 1024 * 1024  # of Spark's log
AGAIN: Final = 5.0  # seconds between two counts
_CHOOSING: Final = frozenset(
    {"pathglobfilter", "modifiedbefore", "modifiedafter", "maxfileage", "filenameonly"}
)

_log = logging.getLogger("eddyline.pipeline")


class WaitingFiles:
    """Counts on demand; threads may share it."""

    def __init__(
        self, folder: Path, checkpoint: Path, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`checkpoint` is Spark's of the source."""
        self._folder = folder
        self._entries = checkpoint / "sources" / "0"
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._read = -1  # the last number of the log that was read
        self._counted: tuple[float, int | None] | None = None
        self._told = False
        self._has_given_up = False

    def count(self) -> int | None:
        """The number, at most a few seconds old; None where there are too many to count."""
        with self._lock:
            now = self._clock()
            if self._counted is None or now - self._counted[0] >= AGAIN:
                self._counted = now, self._count()
            return self._counted[1]

    def _count(self) -> int | None:
        if self._has_given_up:
            return None
        try:
            there = _visible_files(self._folder)
            if there is not None and self._read_on():
                return len(there - self._seen)
        except (OSError, ValueError, KeyError):
            return None  # Spark is writing its log, or the folder is away: the next count knows more
        if not self._told:
            self._told = True
            _log.info("files that wait in %s are not counted: there are too many", self._folder)
        return None

    def _read_on(self) -> bool:
        """Take in what Spark has written since the last time; whether that is little enough."""
        paths = self._entries.iterdir() if self._entries.exists() else iter(())
        stems = {path.name: path.name.removesuffix(".compact") for path in paths}
        numbers = {int(stem): name for name, stem in stems.items() if stem.isdecimal()}
        fresh = sorted(number for number in numbers if number > self._read)
        # A compact file has everything up to its number: what came before it may be gone already.
        compact = [number for number in fresh if numbers[number].endswith(".compact")]
        for number in [one for one in fresh if not compact or one >= compact[-1]]:
            path = self._entries / numbers[number]
            if path.stat().st_size > MOST_BYTES:
                self._has_given_up = True  # Spark's log only grows
                self._seen.clear()
                return False
            for line in path.read_text(encoding="utf-8").splitlines()[1:]:
                self._seen.add(str(local_path(json.loads(line)["path"])))
            self._read = number
        return True


def waiting_files(settings: SourceSettings, checkpoint: Path) -> WaitingFiles | None:
    """For a source of all files in a local folder; None for any other: only Spark knows what it would read."""
    path = settings.path
    if settings.format not in FILES or path is None or any(mark in path for mark in "*?[{"):
        return None
    folder = local_path(path)
    if folder is None or any(name.lower() in _CHOOSING for name in settings.options):
        return None
    return WaitingFiles(folder, checkpoint)


def _visible_files(folder: Path) -> set[str] | None:
    """The files that Spark would see; None if they are too many."""
    if folder.is_file():
        return {str(folder)}
    found: set[str] = set()
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        found |= {f"{place}/{name}" for name in files if not name.startswith(("_", "."))}
        if len(found) > MOST_FILES:
            return None
    return found


def _refuse(error: OSError) -> None:
    raise error

"""Which version serves which batch: written down before the batch runs, so that it runs with the same one again.

    batches/<source>/000000000.jsonl        batches 0 to 999
    batches/<source>/000001000.jsonl        batches 1000 to 1999 ...

A file holds a thousand batches, so that looking at the newest ones costs the same after a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Final
from urllib.parse import quote, unquote

from eddyline.errors import FileError
from eddyline.runtime.spark.versions.orders import Orders
from eddyline.runtime.spark.versions.pin_file import Pin, PinFile, Served
from eddyline.storage.ownership import UNOWNED, Ownership
from eddyline.storage.storage import Storage

BATCHES: Final = 1000  # in one file
OPEN_FILES: Final = 2  # whose content is remembered for each source

Line = Mapping[str, Any]


class VersionLog:
    """The pins of all sources of a pipeline. Threads and processes may share it: a batch is pinned once.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from eddyline.storage.local import LocalStorage
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = VersionLog(LocalStorage(Path(folder.name)))
    >>> log.pin("quotes", 0, lambda: 7).version, log.pin("quotes", 0, lambda: 8).version
    (7, 7)
    >>> log.commit("quotes", 0, {"rows": 100}), log.committed("quotes", 0)
    (None, True)
    >>> folder.cleanup()
    """

    def __init__(self, storage: Storage, owner: Ownership = UNOWNED) -> None:
        """`owner` is asked before anything is written."""
        self._storage = storage
        self._owner = owner
        self._files: dict[tuple[str, int], PinFile] = {}
        self._lock = RLock()

    def pin(
        self,
        source: str,
        batch_id: int,
        choose: Callable[[], int],
        orders: Callable[[int], Orders] = lambda version: (),
    ) -> Pin:
        """The pin of a batch: the one that it has, else a new one, on disk by now.

        `choose` gives its version, `orders` those of a version.
        """
        found = self.find(source, batch_id)
        if found is not None:
            return found
        version = choose()
        fresh = Pin(source, batch_id, version, datetime.now(UTC), orders=orders(version))

        def line(file: PinFile) -> Line | None:
            return None if batch_id in file.batches else file.line(fresh)

        return self._append(source, batch_id, line).pin

    def update(self, pin: Pin) -> None:
        """Write down more about a batch that is pinned."""

        def line(file: PinFile) -> Line:
            _pinned(file, pin.source, pin.batch_id)
            return file.line(pin)

        self._append(pin.source, pin.batch_id, line)

    def commit(self, source: str, batch_id: int, account: Mapping[str, Any]) -> None:
        """A batch is done; said once more it stays as it was said first. Keep the account small: totals."""

        def line(file: PinFile) -> Line | None:
            if _pinned(file, source, batch_id).committed is not None:
                return None
            at = datetime.now(UTC).isoformat()
            return {"batch": batch_id, "account": dict(account), "committed": at}

        self._append(source, batch_id, line)

    def find(self, source: str, batch_id: int) -> Pin | None:
        """The pin of a batch, None if it has none."""
        served = self.served(source, batch_id)
        return None if served is None else served.pin

    def served(self, source: str, batch_id: int) -> Served | None:
        """A batch that is pinned, None if it is not."""
        with self._lock:
            file = self._file(source, batch_id // BATCHES)
            file.read()
            return file.batches.get(batch_id)

    def committed(self, source: str, batch_id: int) -> bool:
        """Whether a batch is done."""
        served = self.served(source, batch_id)
        return served is not None and served.committed is not None

    def sources(self) -> list[str]:
        """The sources that have pins."""
        return sorted(unquote(name) for name in self._storage.folders(""))

    def pins(self, source: str, first: int = 0, last: int | None = None) -> list[Pin]:
        """The pins of a range of batches, `last` included, in order."""
        return [served.pin for served in self.batches(source, first, last)]

    def batches(self, source: str, first: int = 0, last: int | None = None) -> Iterator[Served]:
        """The pinned batches of a range, `last` included, in order; only the files of the range are read."""
        for number in sorted(self._numbers(source)):
            if number < first // BATCHES or (last is not None and number > last // BATCHES):
                continue
            with self._lock:
                file = self._file(source, number)
                file.read()
                found = sorted(file.batches.items())
            for batch_id, served in found:
                if batch_id >= first and (last is None or batch_id <= last):
                    yield served

    def last(self, source: str) -> Pin | None:
        """The pin of the newest batch."""
        served = self.last_served(source)
        return None if served is None else served.pin

    def last_served(self, source: str) -> Served | None:
        """The newest batch."""
        for number in sorted(self._numbers(source), reverse=True):
            found = list(self.batches(source, number * BATCHES, (number + 1) * BATCHES - 1))
            if found:
                return found[-1]
        return None

    def uncommitted(self) -> list[Pin]:
        """The pinned batches that are not done, of all sources: those that may run again.

        Spark does not begin a batch before the one before it is done, so only the newest ones are looked at.
        """
        found: list[Pin] = []
        for source in self.sources():
            newest = self.last(source)
            if newest is not None:
                first = (newest.batch_id // BATCHES - 1) * BATCHES
                recent = self.batches(source, max(0, first))
                found += [served.pin for served in recent if served.committed is None]
        return found

    def forget(self, source: str, before: datetime) -> int:
        """Delete what is kept of batches that were pinned before a moment, whole logs of a thousand; gives how many logs.

        The newest two stay, and with them every batch that may run again.
        """
        gone = 0
        for number in sorted(self._numbers(source))[:-2]:
            newest = [
                served.pin.at for served in self.batches(source, number * BATCHES, (number + 1) * BATCHES - 1)
            ]
            if newest and max(newest) >= before:
                break
            self._owner.check()
            name = _log_name(source, number)
            if self._storage.exists(name):
                self._storage.delete(name)
            else:
                self._storage.delete_folder(name)
            gone += 1
        return gone

    def _numbers(self, source: str) -> list[int]:
        """The numbers of a source's logs, which are files or, where nothing can be appended to those, folders."""
        names = [*self._storage.list(_name(source)), *self._storage.folders(_name(source))]
        stems = [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]
        return [int(stem) // BATCHES for stem in stems if stem.isdigit()]

    def _append(self, source: str, batch_id: int, line_of: Callable[[PinFile], Line | None]) -> Served:
        """The batch, after a line was appended, if one is needed: `line_of` says it from what was read."""
        assert batch_id >= 0, "Spark counts batches from zero"
        self._owner.check()
        with self._lock:
            file = self._file(source, batch_id // BATCHES)
            try:
                while True:
                    file.read()
                    line = line_of(file)
                    # Where another process was first, what it wrote decides anew: it may have pinned the same batch.
                    if line is None or file.append(line):
                        return file.batches[batch_id]
                    self._owner.ask_store()
            except OSError as error:
                raise FileError(
                    f'batch {batch_id} of source "{source}" cannot be written down in {self._storage}: {error}',
                    hint="the batch runs again when that is mended",
                ) from error

    def _file(self, source: str, number: int) -> PinFile:
        key = (source, number)
        file = self._files.pop(key, None)
        if file is None:
            file = PinFile(self._storage, _log_name(source, number), source)
        self._files[key] = file
        others = [known for known in self._files if known[0] == source]
        for known in others[:-OPEN_FILES]:
            del self._files[known]
        return file


def _pinned(file: PinFile, source: str, batch_id: int) -> Served:
    if batch_id not in file.batches:
        raise FileError(f'batch {batch_id} of source "{source}" is not pinned')
    return file.batches[batch_id]


def _log_name(source: str, number: int) -> str:
    return f"{_name(source)}/{number * BATCHES:09d}.jsonl"


def _name(source: str) -> str:
    """A source's name as that of a folder."""
    return quote(source, safe=" ").replace(".", "%2E")

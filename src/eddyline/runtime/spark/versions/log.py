"""Which version serves which batch: written down before the batch runs, so that it runs with the same one again.

    batches/<source>/000000000.jsonl        batches 0 to 999
    batches/<source>/000001000.jsonl        batches 1000 to 1999 ...

    {"batch": 17, "version": 4, "at": "..."}                        pinned
    {"batch": 17, "version": 4, "at": "...", "nulled": ["..."]}     updated: the last line of a batch holds
    {"batch": 17, "account": {...}, "committed": "..."}             done

A line counts once it ends; what a crash left of one is cut off before the next is written. A file holds a thousand
batches, so that looking at the newest ones costs the same after a million.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final
from urllib.parse import quote, unquote

from eddyline.errors import FileError
from eddyline.queryset.durable import flush_folder, make_folder

BATCHES: Final = 1000  # in one file
OPEN_FILES: Final = 2  # whose content is remembered for each source


@dataclass(frozen=True, slots=True)
class Pin:
    """Which version serves a batch; `nulled` is the SQL of calls that only Spark has and that count as NULL in it."""

    source: str
    batch_id: int
    version: int
    at: datetime
    nulled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Served:
    """A batch: its pin, and once it is done when that was and the account of it."""

    pin: Pin
    committed: datetime | None = None
    account: Mapping[str, Any] = field(default_factory=dict)


class VersionLog:
    """The pins of all sources of a pipeline. Threads and processes may share it: a batch is pinned once.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = VersionLog(folder.name)
    >>> log.pin("quotes", 0, lambda: 7).version, log.pin("quotes", 0, lambda: 8).version
    (7, 7)
    >>> log.commit("quotes", 0, {"rows": 100}), log.committed("quotes", 0)
    (None, True)
    >>> folder.cleanup()
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder).absolute()
        self._files: dict[tuple[str, int], _File] = {}
        self._lock = RLock()

    def pin(self, source: str, batch_id: int, choose: Callable[[], int]) -> Pin:
        """The pin of a batch: the one that it has, else a new one of the version that `choose` gives, on disk by now."""
        found = self.find(source, batch_id)
        if found is not None:
            return found
        version = choose()
        with self._writing(source, batch_id) as file:
            served = file.batches.get(batch_id)
            if served is None:
                file.append({"batch": batch_id, "version": version, "at": datetime.now(UTC).isoformat()})
                served = file.batches[batch_id]
            return served.pin

    def update(self, pin: Pin) -> None:
        """Write down more about a batch that is pinned."""
        with self._writing(pin.source, pin.batch_id) as file:
            if pin.batch_id not in file.batches:
                raise FileError(f'batch {pin.batch_id} of source "{pin.source}" is not pinned')
            line = {"batch": pin.batch_id, "version": pin.version, "at": pin.at.isoformat()}
            file.append({**line, "nulled": list(pin.nulled)})

    def commit(self, source: str, batch_id: int, account: Mapping[str, Any]) -> None:
        """A batch is done; said once more it stays as it was said first. Keep the account small: totals."""
        with self._writing(source, batch_id) as file:
            if batch_id not in file.batches:
                raise FileError(f'batch {batch_id} of source "{source}" is not pinned')
            if file.batches[batch_id].committed is None:
                at = datetime.now(UTC).isoformat()
                file.append({"batch": batch_id, "account": dict(account), "committed": at})

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
        if not self._folder.is_dir():
            return []
        return sorted(unquote(path.name) for path in self._folder.iterdir() if path.is_dir())

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

    def _numbers(self, source: str) -> list[int]:
        """The numbers of a source's files."""
        try:
            names = [path.name for path in (self._folder / _name(source)).iterdir()]
        except FileNotFoundError:
            return []
        stems = [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]
        return [int(stem) // BATCHES for stem in stems if stem.isdigit()]

    @contextmanager
    def _writing(self, source: str, batch_id: int) -> Iterator[_File]:
        assert batch_id >= 0, "Spark counts batches from zero"
        with self._lock:
            file = self._file(source, batch_id // BATCHES)
            try:
                with file.writing():
                    yield file
            except OSError as error:
                raise FileError(
                    f'batch {batch_id} of source "{source}" cannot be written down in {self._folder}: {error}',
                    hint="the batch runs again when that is mended",
                ) from error

    def _file(self, source: str, number: int) -> _File:
        key = (source, number)
        file = self._files.pop(key, None)
        if file is None:
            file = _File(self._folder / _name(source) / f"{number * BATCHES:09d}.jsonl", source)
        self._files[key] = file
        others = [known for known in self._files if known[0] == source]
        for known in others[:-OPEN_FILES]:
            del self._files[known]
        return file


class _File:
    """A thousand batches of a source: the content of a file, read on as it grows."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self._end = 0  # bytes of whole lines that were read
        self._handle: int | None = None
        self.batches: dict[int, Served] = {}

    def read(self) -> None:
        """Read what was written since."""
        try:
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            self._read_on(handle)
        finally:
            os.close(handle)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Nobody else writes meanwhile, and everything is read."""
        make_folder(self._path.parent)
        fresh = not self._path.exists()
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if fresh:
                flush_folder(self._path.parent)
            fcntl.flock(handle, fcntl.LOCK_EX)
            self._read_on(handle)
            self._handle = handle
            yield
        finally:
            self._handle = None
            os.close(handle)

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one more line, on disk when this returns."""
        assert self._handle is not None, "lines are appended while writing"
        content = json.dumps(line).encode() + b"\n"
        os.ftruncate(self._handle, self._end)  # what a crash left of a line
        try:
            self._write(self._handle, content)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._handle, self._end)  # it may not be on disk, so nobody shall see it
            raise
        self._end += len(content)
        self._take(line)

    def _write(self, handle: int, content: bytes) -> None:
        view, written = memoryview(content), 0
        while written < len(content):
            written += os.pwrite(handle, view[written:], self._end + written)
        os.fsync(handle)

    def _read_on(self, handle: int) -> None:
        size = os.fstat(handle).st_size
        if size <= self._end:
            return
        content = os.pread(handle, size - self._end, self._end)
        whole = content[: content.rfind(b"\n") + 1]
        for line in whole.splitlines():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise FileError(
                    f"{self._path} is damaged: {error!r}", hint="restore the checkpoint from a copy"
                ) from error
        self._end += len(whole)

    def _take(self, line: Mapping[str, Any]) -> None:
        batch_id = int(line["batch"])
        if "version" in line:
            at, nulled = datetime.fromisoformat(line["at"]), tuple(line.get("nulled", ()))
            pin = Pin(self._source, batch_id, int(line["version"]), at, nulled)
            served = self.batches.get(batch_id)
            self.batches[batch_id] = Served(pin) if served is None else replace(served, pin=pin)
        else:
            done = datetime.fromisoformat(line["committed"])
            self.batches[batch_id] = replace(self.batches[batch_id], committed=done, account=line["account"])


def _name(source: str) -> str:
    """A source's name as that of a folder."""
    return quote(source, safe=" ").replace(".", "%2E")

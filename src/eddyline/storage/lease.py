"""Who owns a folder where there are no locks: a lease with a number that grows with every owner.

    owner/000000000007.json     {"number": 7, "holder": {...}, "renewals": 12, "released": false}

The highest number owns the folder. The next one is put only if its name is not taken, so two never have the same. An owner renews
its lease by putting the file again. Somebody else takes over when the file has not changed for `LASTS` seconds, by a clock of
its own: clocks of several machines are not compared. Where it can be seen that the owner is dead, a process of this machine
that is not there any more, nobody waits.

An owner that was cut off or stopped for that long finds out when it checks, before anything that it writes down, and ends. Until
it does, what it puts only if absent (pins, records of results) stays right: the other owner has put it, or will find it.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final
from uuid import uuid4

from eddyline.errors import FileError, OwnershipError
from eddyline.storage.folder_lock import Holder
from eddyline.storage.storage import Storage

FOLDER: Final = "owner"
LASTS: Final = 30.0  # seconds without a renewal after which an owner counts as dead
RENEWED: Final = 5.0  # seconds between two renewals
LOOK: Final = 0.5  # seconds between two looks at somebody else's lease
PATIENCE: Final = 10.0  # seconds that letting go may take


@dataclass(frozen=True, slots=True)
class _Record:
    """What the file of a lease says; `kernel` and `begun` tell a process from others of the same id."""

    number: int
    pid: int
    host: str
    kernel: str
    begun: str
    since: str
    token: str
    renewals: int = 0
    released: bool = False

    @property
    def holder(self) -> Holder:
        return Holder(self.pid, self.host, self.since)

    @property
    def is_dead(self) -> bool:
        """Whether its process can be seen not to be there: it ran on this machine and does not any more.

        Another machine may have the same name, and another container the same kernel: of these nothing can be seen.
        """
        return bool(self.kernel) and self.kernel == _kernel() and self.begun != _begun(self.pid)


class Lease:
    """A folder that this process owns until it is closed, or until somebody takes over because it was not heard of."""

    def __init__(
        self,
        storage: Storage,
        what: str,
        *,
        hint: str,
        lasts: float = LASTS,
        renewed: float = RENEWED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Own the folder, or raise a `FileError` that says who has `what`, and what to do about it (`hint`)."""
        self._storage, self._what, self._lasts, self._clock = storage, what, lasts, clock
        self._changing = threading.Lock()
        self._record = self._taken(hint)
        self._heard = clock()
        self._closed = threading.Event()
        self._renewing = threading.Thread(
            target=self._renew_on, args=(renewed,), name="eddyline-lease", daemon=True
        )
        self._renewing.start()

    @property
    def number(self) -> int:
        """The fencing number: an owner after this one has a higher one."""
        return self._record.number

    def check(self, *, ask: bool = False) -> None:
        """Refuse to go on where another process has taken over: the store is asked if it was not heard of for a while.

        With `ask` it is asked in any case: something has happened that an owner does not expect.
        """
        if ask or self._clock() - self._heard > self._lasts / 2:
            self._renew()

    def close(self) -> None:
        """Let go, so that the next owner need not wait."""
        if self._closed.is_set():
            return
        self._closed.set()
        if not self._changing.acquire(timeout=PATIENCE):
            return  # a renewal waits for a store that is away, and so would this: the next owner waits for the lease to end
        with suppress(OSError, FileError):
            if self._newest() == self.number:
                _write(self._storage, replace(self._record, released=True))
        self._changing.release()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self, hint: str) -> _Record:
        """A lease of our own, after the last one has ended."""
        token = uuid4().hex
        while True:
            last = _last(self._storage)
            if last is not None and last.token == token:
                return last  # it was put, and the answer was lost
            if last is not None and not self._has_ended(last):
                raise FileError(f"{self._what} is used by {last.holder}", hint=hint)
            record = _own(1 + (0 if last is None else last.number), token)
            if self._storage.put_if_absent(_name(record.number), _content(record)):
                if last is not None:
                    self._storage.delete(_name(last.number))
                return record

    def _has_ended(self, last: _Record) -> bool:
        """Whether an owner has let go, is dead, or is not heard of for as long as a lease lasts."""
        if last.released or last.is_dead:
            return True
        begin = self._clock()
        while self._clock() - begin < self._lasts:
            time.sleep(min(LOOK, self._lasts / 10))
            found = _last(self._storage)
            if found is not None and found != last:
                return found.released
        return True

    def _renew_on(self, every: float) -> None:
        while not self._closed.wait(every):
            try:
                self._renew()
            except OwnershipError:
                return  # the next check says so
            except Exception:  # the store is away: the next renewal, or the next check, tries again
                continue

    def _renew(self) -> None:
        with self._changing:
            if self._closed.is_set():
                return
            if self._newest() != self.number:
                raise OwnershipError(
                    f"{self._what} was taken over by another process, because this one was not heard of for "
                    f"{self._lasts:.0f} seconds",
                    hint="one process at a time runs a pipeline: what this one had not finished, the other one does",
                )
            self._record = replace(self._record, renewals=self._record.renewals + 1)
            _write(self._storage, self._record)
            self._heard = self._clock()

    def _newest(self) -> int:
        return max(_numbers(self._storage), default=-1)


def leaseholder_of(storage: Storage) -> Holder | None:
    """Who owns a folder, as far as its file tells: an owner that died a moment ago, elsewhere, counts; None if nobody does."""
    last = _last(storage)
    return None if last is None or last.released or last.is_dead else last.holder


def _own(number: int, token: str) -> _Record:
    since = datetime.now(UTC).isoformat()
    return _Record(number, os.getpid(), socket.gethostname(), _kernel(), _begun(os.getpid()), since, token)


def _last(storage: Storage) -> _Record | None:
    for number in reversed(_numbers(storage)):
        with suppress(FileNotFoundError):  # taken over since
            return _record(storage.read(_name(number)), f"{storage}/{_name(number)}")
    return None


def _record(content: bytes, where: str) -> _Record:
    try:
        found: dict[str, Any] = json.loads(content)
        return _Record(**found)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"{where} is damaged: {error}", hint="delete it if no process runs the pipeline"
        ) from None


def _write(storage: Storage, record: _Record) -> None:
    storage.put(_name(record.number), _content(record))


def _content(record: _Record) -> bytes:
    return json.dumps(asdict(record)).encode()


def _numbers(storage: Storage) -> list[int]:
    stems = [name.removesuffix(".json") for name in storage.list(FOLDER) if name.endswith(".json")]
    return sorted(int(stem) for stem in stems if stem.isdecimal())


def _name(number: int) -> str:
    return f"{FOLDER}/{number:012d}.json"


def _kernel() -> str:
    """What tells this start of this machine, and the processes that can be seen here, from others; empty where it is not told."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return ""


def _begun(pid: int) -> str:
    """When a process of this machine began, as the kernel counts; empty where there is none."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""

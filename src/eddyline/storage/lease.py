"""Who owns a folder where there are no locks: a lease with a number that grows with every owner.

    owner/000000000007.json     {"number": 7, "holder": {...}, "renewals": 12, "released": false}

The highest number owns the folder. The next one is put only if its name is not taken, so two never have the same. An owner renews
its lease by putting the file again. Somebody else takes over when the file has not changed for `LASTS` seconds, by a clock of
its own: clocks of several machines are not compared. Where it can be seen that the owner is dead, a process of this machine
that is not there any more, nobody waits.

An owner that was cut off or stopped for that long finds out when it checks, before anything that it writes down, and ends. Until
it does, what it puts only if absent (pins, records of results) stays right: the other owner has put it, or will find it.

Two clocks keep both sides careful. An owner counts the time that its machine was suspended, in which others may have taken over.
Whoever waits for an owner to end does not: that owner was not watched meanwhile.
"""

from __future__ import annotations

import json
import logging
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
from typing import Final
from uuid import uuid4

from eddyline.errors import FileError, OwnershipError
from eddyline.storage.folder_lock import Holder
from eddyline.storage.storage import Storage

FOLDER: Final = "owner"
LASTS: Final = 30.0  # seconds without a renewal after which an owner counts as dead
RENEWED: Final = 5.0  # seconds between two renewals
LOOK: Final = 0.5  # seconds between two looks at somebody else's lease
LOOKS: Final = 50  # at leases that are listed and not there
PATIENCE: Final = 10.0  # seconds that letting go may take

_log = logging.getLogger(__name__)


def _seconds() -> float:
    """A clock that goes on while the machine is suspended, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


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
        if not self.kernel or self.kernel != _kernel():
            return False
        begun = _begun(self.pid)
        return not _lives(self.pid) or ("" not in (begun, self.begun) and begun != self.begun)


class Lease:
    """A folder that this process owns until it is closed, or until somebody takes over because it was not heard from."""

    def __init__(
        self,
        storage: Storage,
        what: str,
        *,
        hint: str,
        lasts: float = LASTS,
        renewed: float = RENEWED,
        clock: Callable[[], float] = _seconds,
    ) -> None:
        """Own the folder, or raise a `FileError` that says who has `what`, and what to do about it (`hint`)."""
        self._storage, self._what, self._lasts, self._clock = storage, what, lasts, clock
        self._changing = threading.Lock()
        self._lost = False
        self._heard = clock()
        self._record = self._taken(hint)
        self._closed = threading.Event()
        self._renewing = threading.Thread(
            target=self._renew_on, args=(renewed,), name="eddyline-lease", daemon=True
        )
        self._renewing.start()

    @property
    def number(self) -> int:
        """The fencing number: an owner after this one has a higher one."""
        return self._record.number

    def check(self) -> None:
        """Refuse to go on where another process has taken over: the store is asked if it was not heard from for a while."""
        if self._lost or self._clock() - self._heard > self._lasts / 2:
            self._renew()

    def ask_store(self) -> None:
        """The same, but the store is asked in any case: something has happened that an owner does not expect."""
        self._renew()

    def close(self) -> None:
        """Let go, so that the next owner need not wait."""
        if self._closed.is_set():
            return
        self._closed.set()
        if not self._changing.acquire(timeout=PATIENCE):
            return  # a renewal waits for a store that is away, and so would this: the next owner waits for the lease to end
        try:
            if not self._lost and self._newest() == self.number:
                _write(self._storage, replace(self._record, released=True))
        except Exception as error:  # whatever is wrong with the store, why the owner ends is what counts
            _log.warning("%s is not let go of, the next owner has to wait: %s", self._what, error)
        finally:
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
            self._heard = self._clock()  # before it is put: others count from when the file comes
            if self._storage.put_if_absent(_name(record.number), _content(record)):
                if last is not None:
                    self._storage.delete(_name(last.number))
                return record

    def _has_ended(self, last: _Record) -> bool:
        """Whether an owner has let go, is dead, or is not heard from for as long as a lease lasts."""
        if last.released or last.is_dead:
            return True
        until = time.monotonic() + self._lasts
        while True:
            time.sleep(min(LOOK, self._lasts / 10))
            is_last_look = time.monotonic() >= until  # asked before the look, so that it sees all of the time
            found = _last(self._storage)
            if found is not None and found != last:
                return found.released
            if is_last_look:
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
            # Before the store is asked: it may do so at once and answer late, and others count from when the file changes.
            begin = self._clock()
            if self._lost or self._newest() != self.number:
                self._lost = True  # for good: nobody gives a number back
                raise OwnershipError(
                    f"{self._what} was taken over by another process because this one did not renew its lease for "
                    f"{self._lasts:.0f} seconds",
                    hint="one process at a time runs a pipeline: what this one had not finished, the other one does",
                )
            self._record = replace(self._record, renewals=self._record.renewals + 1)
            _write(self._storage, self._record)
            self._heard = begin

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
    """The newest lease; None where there is none.

    A file that is listed and not there was taken over since, or is just being replaced by a renewal on a file system that takes
    two steps for it. Either way somebody owns the folder, so it is looked for again.
    """
    for _ in range(LOOKS):
        numbers = _numbers(storage)
        if not numbers:
            return None
        for number in reversed(numbers):
            with suppress(FileNotFoundError):
                return _record(storage.read(_name(number)), _name(number), f"{storage}/{_name(number)}")
        time.sleep(RENEWED / LOOKS)
    raise FileError(f"{storage}/{FOLDER} changes while it is read", hint="try again")


def _record(content: bytes, name: str, where: str) -> _Record:
    try:
        record = _Record(**json.loads(content))
        if any(type(getattr(record, name)) is not int for name in ("number", "pid", "renewals")):
            raise ValueError("a number is none")
        if _name(record.number) != name:
            raise ValueError(f"it says that its number is {record.number}")
        return record
    except (ValueError, TypeError, RecursionError) as error:
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


def _lives(pid: int) -> bool:
    """Whether there is a process of this machine; one of another user that cannot be seen is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _begun(pid: int) -> str:
    """When a process of this machine began, as the kernel counts; empty where it does not say."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""

"""A lock on a folder: one holder at a time, over all processes of a machine, and its name for those who are refused."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from eddyline.errors import FileError

LOCK: Final = "lock"  # the file that is locked; it stays when the lock is let go


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a folder, as far as it is known."""

    pid: int | None = None
    host: str | None = None
    since: str | None = None

    def __str__(self) -> str:
        if self.pid is None:
            return "another process"
        return f"process {self.pid} on {self.host}"


class FolderLock:
    """A folder held by this process until the lock is closed or forgotten, or the process ends, however that is.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> with FolderLock(place.name, "the market", hint="use another folder"):
    ...     try:
    ...         FolderLock(place.name, "the market", hint="use another folder")
    ...     except FileError as error:
    ...         print(error.message.partition(" by ")[0], "| held:", holder_of(place.name) is not None)
    the market is used | held: True
    >>> holder_of(place.name) is None
    True
    >>> place.cleanup()
    """

    def __init__(self, folder: str | Path, what: str, *, hint: str) -> None:
        """Take the lock, or raise a `FileError` that says who has `what`, and what to do about it (`hint`)."""
        self._handle: int | None = None
        self._pid = os.getpid()
        self._what = what
        try:
            handle = os.open(Path(folder) / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise FileError(f"{what} cannot be locked: {error}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._number = _sign(handle)
        except BlockingIOError:
            holder = _read_holder(handle)
            os.close(handle)
            raise FileError(f"{what} is used by {holder}", hint=hint) from None
        except OSError as error:  # a file system that knows no locks
            os.close(handle)
            raise FileError(f"{what} cannot be locked: {error}") from error
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    @property
    def number(self) -> int:
        """A number that grows with every holder; the file keeps the last one."""
        return self._number

    def check(self) -> None:
        """Refuse a process that was forked from the holder: it has the lock's file open, and so does the holder."""
        if os.getpid() != self._pid:
            raise FileError(
                f"{self._what} is used by process {self._pid}, from which this one was forked",
                hint="open it after the fork, in one process",
            )

    def ask_store(self) -> None:
        """The same: nobody takes over a lock from a process that lives."""
        self.check()

    def close(self) -> None:
        """Let go."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                if os.getpid() == self._pid:
                    _write(handle, {"number": self._number})
            finally:
                os.close(handle)

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def holder_of(folder: str | Path) -> Holder | None:
    """Who holds a folder; None if nobody does."""
    try:
        handle = os.open(Path(folder) / LOCK, os.O_RDWR)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{folder} cannot be looked at: {error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _read_holder(handle)
    finally:
        os.close(handle)


def _sign(handle: int) -> int:
    """Say who holds the lock, and give it the next number; that it is held does not depend on it."""
    last = _read(handle).get("number")
    number = last + 1 if isinstance(last, int) else 1
    since = datetime.now(UTC).isoformat()
    _write(handle, {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "number": number})
    return number


def _write(handle: int, said: Mapping[str, Any]) -> None:
    with suppress(OSError):
        os.truncate(handle, 0)
        os.pwrite(handle, json.dumps(said).encode(), 0)


def _read(handle: int) -> dict[str, Any]:
    """What the file says; nothing where it was never written, or not as a whole."""
    with suppress(OSError, ValueError):
        found = json.loads(os.pread(handle, 4096, 0))
        return found if isinstance(found, dict) else {}
    return {}


def _read_holder(handle: int) -> Holder:
    with suppress(ValueError, KeyError, TypeError):
        found = _read(handle)
        return Holder(int(found["pid"]), str(found["host"]), str(found["since"]))
    return Holder()

"""Lines that are appended to a file of this machine, each whole or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from eddyline.storage.durable import flush, make_folder


class LocalLineLog:
    """A file of lines. A line counts once it ends; what a crash left of one is cut off before the next is written.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> one, other = (LocalLineLog(Path(place.name) / "log") for _ in range(2))
    >>> one.append(b"first"), other.append(b"second"), list(other.read()), other.append(b"second")
    (True, False, [b'first'], True)
    >>> list(one.read())
    [b'second']
    >>> place.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = 0  # bytes of whole lines that were taken

    def read(self) -> Iterator[bytes]:
        """The lines since the last one that was taken."""
        try:
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            # Together with other readers, but not while a line is written, which may be taken back.
            fcntl.flock(handle, fcntl.LOCK_SH)
            lines = self._unread(handle)
        finally:
            os.close(handle)
        for line in lines:
            yield line
            self._end += len(line) + 1  # not before: what its taker could not read has to come again

    def append(self, line: bytes) -> bool:
        """Append a line, on the disk when this returns, unless there are some that were not read."""
        assert b"\n" not in line, "it would be read as several lines"
        make_folder(self._path.parent)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not os.fstat(handle).st_size:
                flush(self._path.parent)  # before the first line: one that lasts has to be found
            fcntl.flock(handle, fcntl.LOCK_EX)
            if self._unread(handle):
                return False
            self._write(handle, line + b"\n")
            return True
        finally:
            os.close(handle)

    def _unread(self, handle: int) -> list[bytes]:
        size = os.fstat(handle).st_size
        content = os.pread(handle, max(0, size - self._end), self._end)
        return content.split(b"\n")[:-1]  # behind the last end is what a crash left

    def _write(self, handle: int, content: bytes) -> None:
        os.ftruncate(handle, self._end)  # what a crash left of a line
        try:
            view, written = memoryview(content), 0
            while written < len(content):
                written += os.pwrite(handle, view[written:], self._end + written)
            os.fsync(handle)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(handle, self._end)  # it may not be on the disk, so nobody shall see it
            raise
        self._end += len(content)

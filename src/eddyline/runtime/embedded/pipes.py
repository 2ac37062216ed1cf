"""Pipes: standard input, named pipes, and what a shell puts in place of <(...). Each is opened once and read once.

What was looked at, to see the format or to guess a schema, is read again by whoever reads the rows.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import IO, Final

from eddyline.errors import FileError

STANDARD_INPUT: Final = "-"
_OPENED: Final = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # by the shell, from whatever it was told to
HEAD: Final = 1 << 20  # bytes from the start of a file that its format and types are guessed from


class Pipe(io.RawIOBase):
    """A pipe that can be looked at before it is read."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        self.raw = raw
        self._name = name
        self._seen = b""
        self._taken = False

    def head(self) -> bytes:
        """The first bytes, at most `HEAD`; they are read again afterwards."""
        self._refuse_if_taken()
        while len(self._seen) < HEAD:
            more = self.raw.read(HEAD - len(self._seen))
            if not more:
                break
            self._seen += more
        return self._seen

    def take(self) -> io.BufferedReader:
        """All that comes through the pipe, from its start."""
        self._refuse_if_taken()
        self._taken = True
        return io.BufferedReader(self, 1 << 16)

    def _refuse_if_taken(self) -> None:
        """Say so where a pipe is wanted twice: nothing would come any more, or it would be waited for forever."""
        if self._taken:
            raise FileError(
                f'"{self._name}" is a pipe, which can be read only once',
                hint="write its rows to a file first",
            )

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def close(self) -> None:
        """Let go of the pipe; standard input is not ours to close."""
        super().close()
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def readinto(self, buffer: object) -> int:
        """Fill a buffer, with what was looked at first."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._seen[: len(view)] or self.raw.read1(len(view))  # type: ignore[attr-defined]
        self._seen = self._seen[len(data) :]
        view[: len(data)] = data
        return len(data)


_pipes: dict[tuple[object, ...], Pipe] = {}


def is_pipe(name: str) -> bool:
    """Whether a name stands for something that is read from its start to its end, once.

    >>> is_pipe("-"), is_pipe("/dev/null"), is_pipe("/"), is_pipe("there is no such file")
    (True, True, False, False)
    """
    if name == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116  a name may be too long, or hold a NUL byte
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode) or name.startswith(_OPENED)


def pipe_of(name: str) -> Pipe:
    """The pipe of a name, opened when it is first asked for; that waits for somebody who writes."""
    if name == STANDARD_INPUT:
        raw = sys.stdin.buffer
        found = _pipes.get((name,))
        if found is None or found.raw is not raw:
            found = _pipes[(name,)] = Pipe(raw, "standard input")
        return found
    status = os.stat(name)  # noqa: PTH116
    key = (name, status.st_dev, status.st_ino)
    if key not in _pipes:
        _pipes[key] = Pipe(open(name, "rb"), name)  # noqa: SIM115, PTH123  open for as long as the process runs
    return _pipes[key]

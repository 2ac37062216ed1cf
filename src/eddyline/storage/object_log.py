"""Lines that are appended where nothing can be appended to: every line is put as a file that has all lines of its block so far.

    log/000000000499        lines 0 to 499: the last of a block, which stays
    log/000000000515        nothing any more
    log/000000000516        lines 500 to 516
    log/000000000517        lines 500 to 517: the newest one counts

A file is put only if its name is not taken, so of two that append at the same time one is told to read first. Older ones are
emptied and not deleted: somebody who slept since line 514 must find its name taken. Reading takes one listing and a file for
every block; as files of their own a thousand lines would be a thousand requests. Without blocks, the 3,000 lines of a thousand
batches would be 590 MB to send, and 390 kB with the last one; so they are 98 MB, and 65 kB at the most.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eddyline.errors import FileError
from eddyline.storage.storage import Storage

BLOCK: Final = 500  # lines
KEPT: Final = 2  # files: somebody who has listed the folder may be about to read the one before the newest


class ObjectLineLog:
    """The lines of a folder of a storage.

    Whoever has appended a line takes itself for the only writer and does not look for other lines, until a name that it wants
    is taken: a pipeline then asks nothing of the store between two lines of its own.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from eddyline.storage.local import LocalStorage
    >>> place = tempfile.TemporaryDirectory()
    >>> one, other = (ObjectLineLog(LocalStorage(Path(place.name)), "log") for _ in range(2))
    >>> one.append(b"first"), other.append(b"second"), list(other.read()), other.append(b"second")
    (True, False, [b'first'], True)
    >>> one.append(b"third"), list(one.read())
    (False, [b'second'])
    >>> place.cleanup()
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = folder
        self._taken: list[bytes] = []  # lines that were read or appended
        self._alone = False

    def read(self) -> Iterator[bytes]:
        """The lines since the last one that was taken."""
        if self._alone:
            return
        for line in self._lines()[len(self._taken) :]:
            yield line
            self._taken.append(line)  # not before: what its taker could not read has to come again

    def append(self, line: bytes) -> bool:
        """Append a line, which lasts once this returns, unless there are some that were not read."""
        assert b"\n" not in line, "it would be read as several lines"
        if not self._alone and self._numbers()[-1:] > [len(self._taken) - 1]:
            return False
        number = len(self._taken)
        content = b"".join(each + b"\n" for each in (*self._taken[_first_of_block(number) :], line))
        self._alone = self._storage.put_if_absent(self._name(number), content)
        if self._alone:
            self._taken.append(line)
            old = number - KEPT
            if old >= 0 and (old + 1) % BLOCK:
                self._storage.put(self._name(old), b"")
        return self._alone

    def _lines(self) -> list[bytes]:
        """All lines: those that were taken, then those of the blocks since, the last one as the newest file has it."""
        number, content = self._newest()
        if content is None:
            return self._taken
        lines = self._taken[: _first_of_block(len(self._taken))]
        while len(lines) + BLOCK <= number:
            end = len(lines) + BLOCK - 1
            lines = [*lines, *self._block(end, self._content(end))]
        return [*lines, *self._block(number, content)]

    def _newest(self) -> tuple[int, bytes | None]:
        """The number and the content of the newest file; no content where nothing has come since the last line that was taken."""
        for _ in range(2):
            number = max([len(self._taken) - 1, *self._numbers()])
            content = self._content(number) if number >= len(self._taken) else None
            while (found := self._content(number + 1)) is not None:  # a listing may not show it yet
                number, content = number + 1, found
            if content is None or content:
                break
            # emptied since: others have followed, which the next listing shows
        return number, content

    def _block(self, number: int, content: bytes | None) -> list[bytes]:
        """The lines of a block up to a number, as the file of this number has them."""
        lines = (content or b"").split(b"\n")[:-1]
        if _first_of_block(number) + len(lines) != number + 1:
            where = f"{self._storage.address}/{self._name(number)}"
            raise FileError(
                f"{where} is damaged: it has {len(lines)} lines, not {number + 1 - _first_of_block(number)}",
                hint="restore the checkpoint from a copy",
            )
        return lines

    def _content(self, number: int) -> bytes | None:
        try:
            return self._storage.read(self._name(number))
        except FileNotFoundError:
            return None

    def _numbers(self) -> list[int]:
        names = self._storage.list(self._folder)
        return sorted(int(name) for name in names if name.isdecimal())

    def _name(self, number: int) -> str:
        return f"{self._folder}/{number:012d}"


def _first_of_block(number: int) -> int:
    return number - number % BLOCK

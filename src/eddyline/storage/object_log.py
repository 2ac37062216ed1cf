"""Lines that are appended where nothing can be appended to: every line is put as a file that has all lines so far.

    log/000000000015        nothing any more
    log/000000000016        lines 0 to 16
    log/000000000017        lines 0 to 17: the newest one counts

A file is put only if its name is not taken, so of two that append at the same time one is told to read first. Older ones are
emptied and not deleted: somebody who slept since line 14 must find its name taken. Reading takes one listing and one file,
however many lines there are; as files of their own a thousand lines would be a thousand requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eddyline.storage.storage import Storage

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
        for line in self._newest()[len(self._taken) :]:
            yield line
            self._taken.append(line)  # not before: what its taker could not read has to come again

    def append(self, line: bytes) -> bool:
        """Append a line, which lasts once this returns, unless there are some that were not read."""
        assert b"\n" not in line, "it would be read as several lines"
        if not self._alone and self._numbers()[-1:] > [len(self._taken) - 1]:
            return False
        number = len(self._taken)
        content = b"".join(each + b"\n" for each in (*self._taken, line))
        self._alone = self._storage.put_if_absent(self._name(number), content)
        if self._alone:
            self._taken.append(line)
            if number >= KEPT:
                self._storage.put(self._name(number - KEPT), b"")
        return self._alone

    def _newest(self) -> list[bytes]:
        """All lines, as the newest file has them; one that the listing does not show yet is asked for by its name."""
        number = max([len(self._taken) - 1, *self._numbers()])
        content = self._content(number) if number >= len(self._taken) else None
        while (found := self._content(number + 1)) is not None:
            number, content = number + 1, found
        if content is None:
            return self._taken
        if not content:  # emptied since: others have followed
            return self._newest()
        return content.split(b"\n")[:-1]

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

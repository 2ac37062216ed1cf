"""Where files are kept that have to last: each is put in its place whole, read, and deleted, and never changed.

Names are relative, with slashes: `segments/7f3a`. A name is put once, or put again as a whole, so that a reader finds the
old content or the new one, at every moment and after every crash. There are two exceptions: logs, which grow line by line,
and parts, which count only once another file names them.

There is nothing here that an object store could not do: no renaming, no locks, no folders without a file in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class LineLog(Protocol):
    """Lines that are appended one by one, by several processes, each of which knows how far it has read.

    A line is one flush of the disk. As files of their own, lines would cost two, and a thousand files to be read. A store that
    cannot append can still keep one file for each line: the next one is put if it is absent.
    """

    def read(self) -> Iterator[bytes]:
        """The lines since the last one that was taken; one that was not, because its taker failed, comes again."""

    def append(self, line: bytes) -> bool:
        """Append a line, which lasts once this returns, and count it as read.

        Where there are lines that were not read, nothing is done, and False is given: what they say may change what is to be
        appended.
        """


class Storage(Protocol):
    """A place for files; threads and processes may share it."""

    address: str
    """What others call it: a path, or the address of a file system."""

    def within(self, name: str) -> Storage:
        """The files of a folder in it."""

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, without it; none if there is no such folder."""

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it; none if there is no such folder.

        What a crash has left half-written is among them, under a name that ends in `.draft`.
        """

    def exists(self, name: str) -> bool:
        """Whether there is a file of a name."""

    def read(self, name: str) -> bytes:
        """The content of a file; a `FileNotFoundError` if there is none."""

    def map(self, name: str) -> Bytes:
        """The content of a file, read when it is looked at; what is written into the array stays in this process."""

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file of any size to this machine, under a name that nobody knows of yet; a `FileNotFoundError` if there is none."""

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Put a file in its place, or into that of another one; it lasts once this returns, or the group ends.

        A content in pieces is written as they come: it may be larger than the memory. If one fails to come, nothing is put.
        """

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """The same unless there is one already; gives whether it was put."""

    def put_part(self, name: str, content: bytes) -> None:
        """Put a file that nobody looks for before another one, which is put later, names it.

        Unlike any other it may be left half-written by a crash, under its own name. That is quicker on disks: a file that gets
        its name after it was flushed costs one more commit of the file system's journal for its folder.
        """

    def delete(self, name: str) -> None:
        """Delete a file, if it is there; it is gone for good once this returns, or the group ends."""

    def delete_folder(self, folder: str) -> None:
        """Delete all files below a folder, in any order; after a crash some of them may be there again."""

    def line_log(self, name: str) -> LineLog:
        """The lines of a name, from the first one; there is nothing until one is appended."""

    def group(self) -> AbstractContextManager[Any]:
        """What is put and deleted in here lasts when it ends, all together, which is quicker than one after the other."""


def content_name(content: bytes | memoryview) -> str:
    """A name for a content, so that the same content is kept once, and a damaged one does not fit its name.

    >>> content_name(b"eddyline")
    '563a134ad5b970b9cec437cfaebfb3b6'
    """
    return hashlib.sha256(content).hexdigest()[:32]

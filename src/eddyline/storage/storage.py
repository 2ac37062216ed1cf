"""Where files are kept that have to last: each is put in its place whole, read, and deleted, and never changed.

Names are relative, with slashes: `segments/7f3a`. A name is put once, or put again as a whole, so that a reader finds the
old content or the new one, at every moment and after every crash.
"""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class Storage(Protocol):
    """A place for files; threads and processes may share it."""

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

    def put(self, name: str, content: bytes) -> None:
        """Put a file in its place, or into that of another one; it lasts once this returns, or the group ends."""

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """The same unless there is one already; gives whether it was put."""

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""

    def group(self) -> AbstractContextManager[Any]:
        """Files that are put in here last when it ends, all together, which is quicker than one after the other."""


def content_name(content: bytes | memoryview) -> str:
    """A name for a content, so that the same content is kept once, and a damaged one does not fit its name.

    >>> content_name(b"eddyline")
    '563a134ad5b970b9cec437cfaebfb3b6'
    """
    return hashlib.sha256(content).hexdigest()[:32]

"""Result buffers that are used again: the first touch of fresh memory costs several times what writing to it does."""

from __future__ import annotations

import threading
import weakref
from typing import Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
KEPT: Final = 2


class BufferPool:
    """Hands out arrays of words, and takes each back by itself when nobody refers to it any more.

    Only the array handed out keeps its memory: slices of it must not outlive it.

    >>> pool = BufferPool()
    >>> first = pool.take(10)
    >>> place = first.ctypes.data
    >>> del first
    >>> pool.take(8).ctypes.data == place
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Words] = []

    def take(self, size: int) -> Words:
        """An array of `size` words with arbitrary content."""
        with self._lock:
            fitting = [buffer for buffer in self._free if len(buffer) >= size]
            if fitting:
                buffer = min(fitting, key=len)
                self._free = [other for other in self._free if other is not buffer]
            else:
                buffer = np.empty(size, np.uint64)
        handed = buffer[:size]
        weakref.finalize(handed, self._give_back, buffer)
        return handed

    def _give_back(self, buffer: Words) -> None:
        with self._lock:
            self._free = sorted([*self._free, buffer], key=len)[-KEPT:]

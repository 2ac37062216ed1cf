"""Result buffers that are used again: the first touch of fresh memory costs several times what writing to it does."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Final

import numpy as np
import numpy.typing as npt

LINE: Final = 64  # bytes of a cache line, where every buffer starts
KEPT: Final = 8
SMALL: Final = 1 << 14  # bytes below which the system's own allocator is quicker
IDLE: Final = 64  # a buffer that was not wanted for so many takings is let go
_Bytes = npt.NDArray[np.uint8]


class _Lease:
    """Memory that is lent; every array made from it, and every slice of these, keeps it."""

    def __init__(self, buffer: _Bytes, shape: int, kind: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": (shape,),
            "typestr": kind.str,
            "data": (buffer.ctypes.data, False),
        }


class BufferPool:
    """Hands out arrays, and takes the memory of each back by itself when nothing refers to it any more.

    >>> pool = BufferPool()
    >>> first = pool.take(10_000, np.uint64)
    >>> part, place = first[:2], first.ctypes.data
    >>> del first
    >>> pool.take(9_000, np.uint64).ctypes.data == place  # a part is still there
    False
    >>> del part
    >>> pool.take(18_100, np.int32).ctypes.data == place
    True
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # memory may come back, by garbage collection, while some is taken
        self._free: list[tuple[int, _Bytes]] = []
        self._takings = 0

    def take(self, size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of `size` places with arbitrary content."""
        dtype = np.dtype(kind)
        wanted = size * dtype.itemsize
        if wanted < SMALL:
            return np.empty(size, dtype)
        with self._lock:
            self._takings += 1
            self._free = [(since, b) for since, b in self._free if self._takings - since <= IDLE]
            fitting = [i for i, (_, b) in enumerate(self._free) if wanted <= len(b) <= 2 * wanted + LINE]
            if fitting:
                best = min(fitting, key=lambda i: len(self._free[i][1]))
                _, buffer = self._free.pop(best)
            else:
                buffer = aligned(wanted)
        lease = _Lease(buffer, size, dtype)
        weakref.finalize(lease, self._give_back, buffer).atexit = False
        return np.asarray(lease)

    def _give_back(self, buffer: _Bytes) -> None:
        with self._lock:
            self._free = [*self._free[1 - KEPT :], (self._takings, buffer)]


def aligned(size: int) -> _Bytes:
    """Fresh bytes that start at a cache line."""
    raw = np.empty(size + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size]


POOL: Final = BufferPool()

"""Compiling that lets pushes go on: it begins between two of them, and pauses while one is under way.

Python lets a thread that computes go on for 5 ms when another one waits. A push gives way some hundred times, to kernels
and to Arrow, and would wait that long each time: a push of 2.7 ms took up to 60 ms. So compiling looks every 200 us, between
two queries, whether a push is under way, and waits for its end. Then it may go on for a while whatever happens, or it
would never get done beside pushes that follow one another: a quarter of the time that it has waited.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Final

from eddyline.model.pacing import giving_way

SLICE: Final = 2e-4  # seconds between two looks
LONGEST: Final = 1e-3  # seconds for which compiling goes on at most without a look
PATIENCE: Final = 0.02  # seconds that compiling waits for a push to end


class Gate:
    """Knows whether a push is under way; compiling waits for its end, a push waits for nothing.

    For one push at a time: an engine evaluates them one after the other.
    """

    def __init__(self) -> None:
        self._idle = threading.Event()
        self._idle.set()
        self._next = 0.0  # when compiling looks again

    def __enter__(self) -> None:
        self._idle.clear()

    def __exit__(self, *exception: object) -> None:
        self._idle.set()

    def wait(self) -> None:
        """Wait until no push is under way, but not for long."""
        self._idle.wait(PATIENCE)

    def compiling(self) -> AbstractContextManager[None]:
        """A stretch of compiling in this thread that pauses for pushes."""
        return giving_way(self._pause)

    def _pause(self) -> None:
        now = perf_counter()
        if now < self._next:
            return
        if self._idle.is_set():
            self._next = now + SLICE
            return
        self.wait()
        after = perf_counter()
        self._next = after + min(LONGEST, max(SLICE, (after - now) / 4))

"""A lock that is taken in turns.

Python's locks are not: a thread that lets go and takes the lock again in a loop, as somebody does who adds queries one by
one, has it back before another one wakes up. A merge that waited for it took half a minute.
"""

from __future__ import annotations

import threading


class TurnLock:
    """Held by one thread at a time, as often inside of itself as it likes; who waits is next.

        turn    held by the one who is next, while it waits        whoever comes back has to wait behind it
        lock    held by the one whose turn it is

    >>> lock = TurnLock()
    >>> with lock, lock:
    ...     lock.is_held
    True
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._depth = 0

    @property
    def is_held(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == threading.get_ident()

    def __enter__(self) -> None:
        if not self.is_held:
            with self._turn:
                self._lock.acquire()
            self._holder = threading.get_ident()
        self._depth += 1

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._holder = None
            self._lock.release()

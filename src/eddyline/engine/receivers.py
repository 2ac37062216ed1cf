"""Who gets deliveries besides the caller of push: callbacks, a blocking iterator, an asynchronous one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

import pyarrow as pa

from eddyline.errors import EddylineError

Callback = Callable[[pa.Table], object]
WAITING: Final = 1_024  # deliveries that may wait in a queue before a push waits for their reader
LOOK: Final = 0.1  # seconds after which a push that waits looks whether the reader is still there
PATIENCE: Final = 1.0  # seconds that a push waits without a word
log = logging.getLogger("eddyline.engine")


class Subscription:
    """A callback's registration; `close` ends it."""

    def __init__(self, id: str | None, callback: Callback, leave: Callable[[Subscription], None]) -> None:
        self.id = id
        self.callback = callback
        self._leave = leave

    def close(self) -> None:
        """Call it no more; closing again does nothing."""
        self._leave(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Queue:
    """Tables on their way to one reader, who holds it; the engine does not, so that a reader who forgets it is gone.

    A push waits while it is full: nothing is thrown away.
    """

    _CALL: str  # what a user calls to get one

    def __init__(self, waiting: int, leave: Callable[[Queue], None]) -> None:
        if waiting < 1:
            raise EddylineError(f"a queue of {waiting} deliveries takes none", hint="waiting is at least 1")
        self._tables: deque[pa.Table] = deque()
        self._most = waiting
        self._changed = threading.Condition()
        self._leave = leave
        self._made_at = _place_of_caller()
        self.closed = False

    def offer(self, table: pa.Table) -> bool:
        """Hand a table over; False if there was no room for a moment. One that is closed takes it and lets it go."""
        with self._changed:
            if len(self._tables) >= self._most and not self.closed and self._may_wait():
                self._changed.wait(LOOK)
            if self.closed:
                return True
            if len(self._tables) >= self._most and self._may_wait():
                return False
            self._tables.append(table)
            self._changed.notify_all()
            return True

    def _may_wait(self) -> bool:
        return True

    def close(self) -> None:
        """Take no more; what waits can still be read."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
        self._leave(self)

    def __str__(self) -> str:
        return f"the reader of engine.{self._CALL}() made at {self._made_at}"


def hand_over(reader: weakref.ref[Queue], table: pa.Table) -> None:
    """Give a table to a reader; waits as long as there is no room and the reader is there."""
    begun, told = time.monotonic(), False
    # The queue is held for a moment at a time: whoever waits for a reader must not be the one who keeps it alive.
    while not _offered(reader, table):
        if not told and time.monotonic() - begun >= PATIENCE:
            told = True
            log.warning(
                "a push waits for %s, which has not taken the deliveries that it was given; it goes on when they "
                "are read or the reader is closed",
                reader(),
            )


def _offered(reader: weakref.ref[Queue], table: pa.Table) -> bool:
    queue = reader()
    return queue is None or queue.offer(table)


def _place_of_caller() -> str:
    """Where the code stands that asked the engine for a queue."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("eddyline.engine."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class DeliveryIterator(Queue, Iterator[pa.Table]):
    """Deliveries of all pushes from now on, one by one; waits for the next, ends when it or the engine is closed.

    It is closed when it is forgotten, too: after a `for` loop over it that was left, unless somebody else holds it.
    """

    _CALL = "deliveries"

    def __next__(self) -> pa.Table:
        with self._changed:
            while not self._tables and not self.closed:
                self._changed.wait()
            if not self._tables:
                raise StopIteration
            self._changed.notify_all()
            return self._tables.popleft()

    def __enter__(self) -> DeliveryIterator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class DeliveryStream(Queue, AsyncIterator[pa.Table]):
    """The same for `async for`; belongs to the event loop that it was made in.

    A push in the thread of that loop does not wait for room, since the reader could then never make any. When the loop
    is closed, nobody can read any more, and the stream is closed, too.
    """

    _CALL = "stream"

    def __init__(self, waiting: int, leave: Callable[[Queue], None]) -> None:
        super().__init__(waiting, leave)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._ready = asyncio.Event()

    def offer(self, table: pa.Table) -> bool:
        """Hand a table over and wake the reader."""
        if self._loop.is_closed():
            self.close()
        taken = super().offer(table)
        self._wake()
        return taken

    def close(self) -> None:
        """Take no more; what waits can still be read."""
        super().close()
        self._wake()

    async def aclose(self) -> None:
        """The same, for `contextlib.aclosing`."""
        self.close()

    def _may_wait(self) -> bool:
        return threading.get_ident() != self._thread and not self._loop.is_closed()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._ready.set)

    async def __anext__(self) -> pa.Table:
        while True:
            with self._changed:
                if self._tables:
                    self._changed.notify_all()
                    return self._tables.popleft()
                if self.closed:
                    raise StopAsyncIteration
                self._ready.clear()
            await self._ready.wait()

    async def __aenter__(self) -> DeliveryStream:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()

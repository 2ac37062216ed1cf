"""Who gets deliveries besides the caller of push: callbacks, a blocking iterator, an asynchronous one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

import pyarrow as pa

from eddyline.errors import EddylineError

Callback = Callable[[pa.Table], object]
WAITING: Final = 1_024  # deliveries that may wait in a queue before a push waits for their reader


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


class _Queue:
    """Tables on their way to one reader. A push waits while it is full: nothing is thrown away."""

    _LOOK: float | None = None  # seconds after which a push that waits looks whether it still has to

    def __init__(self, waiting: int, leave: Callable[[_Queue], None]) -> None:
        if waiting < 1:
            raise EddylineError(f"a queue of {waiting} deliveries takes none", hint="waiting is at least 1")
        self._tables: deque[pa.Table] = deque()
        self._most = waiting
        self._changed = threading.Condition()
        self._leave = leave
        self.closed = False

    def put(self, table: pa.Table) -> None:
        """Hand a table over; waits while the queue is full and open."""
        with self._changed:
            while len(self._tables) >= self._most and not self.closed and self._may_wait():
                self._changed.wait(self._LOOK)
            if not self.closed:
                self._tables.append(table)
                self._changed.notify_all()

    def _may_wait(self) -> bool:
        return True

    def close(self) -> None:
        """Take no more; what waits can still be read."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
        self._leave(self)


class DeliveryIterator(_Queue, Iterator[pa.Table]):
    """Deliveries of all pushes from now on, one by one; waits for the next, ends when it or the engine is closed."""

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


class DeliveryStream(_Queue, AsyncIterator[pa.Table]):
    """The same for `async for`; belongs to the event loop that it was made in.

    A push in the thread of that loop does not wait for room, since the reader could then never make any. When the loop
    is closed, nobody can read any more, and the stream is closed, too.
    """

    _LOOK = 0.1

    def __init__(self, waiting: int, leave: Callable[[_Queue], None]) -> None:
        super().__init__(waiting, leave)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._ready = asyncio.Event()

    def put(self, table: pa.Table) -> None:
        """Hand a table over and wake the reader."""
        if self._loop.is_closed():
            self.close()
        super().put(table)
        self._wake()

    def close(self) -> None:
        """Take no more; what waits can still be read."""
        super().close()
        self._wake()

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

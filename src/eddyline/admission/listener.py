"""What a check tells while it works, to whoever asked for it."""

from __future__ import annotations

from typing import Literal, Protocol


class Listener(Protocol):
    """Somebody who waits for a check."""

    def queries(self, what: Literal["checked", "compared"], done: int, total: int) -> None:
        """How many queries are checked, or compared."""

    def note(self, text: str) -> None:
        """Something to know that is no result."""


class Nobody:
    """Does not listen."""

    def queries(self, what: Literal["checked", "compared"], done: int, total: int) -> None:
        """Is not heard."""

    def note(self, text: str) -> None:
        """Is not heard."""


class SetProgress:
    """Tells how far the streams of a set are together that were begun; queries that say the same count once."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._streams: dict[str, tuple[int, int]] = {}

    def __call__(self, stream: str, done: int, total: int) -> None:
        self._streams[stream] = (done, total)
        self._listener.queries("compared", *map(sum, zip(*self._streams.values(), strict=True)))

"""What a check tells while it works, to whoever asked for it."""

from __future__ import annotations

from typing import Final, Literal, Protocol

from eddyline.model.query import Query
from eddyline.model.query_state import Verdict
from eddyline.registry import Check

STEP: Final = 500  # queries between two reports of how far a check is


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


class CheckProgress:
    """Tells now and then how many queries of a change are checked."""

    def __init__(self, listener: Listener, total: int) -> None:
        self._listener = listener
        self._total = total
        self._done = 0

    def one_more(self) -> None:
        """One query is checked."""
        self._done += 1
        if self._done % STEP == 0:
            self._listener.queries("checked", self._done, self._total)

    def each(self, check: Check) -> Check:
        """A check that tells of every query."""

        def checked(query: Query) -> Verdict:
            try:
                return check(query)
            finally:
                self.one_more()

        return checked


class SetProgress:
    """Tells how far the streams of a set are together that were begun; queries that say the same count once."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._streams: dict[str, tuple[int, int]] = {}

    def __call__(self, stream: str, done: int, total: int) -> None:
        self._streams[stream] = (done, total)
        self._listener.queries("compared", *map(sum, zip(*self._streams.values(), strict=True)))

"""Tries again what failed for a while.

`persist` waits, through a bounded number of attempts with longer and longer pauses between them. `Pause` is for those who
cannot wait: they go on without what failed, and ask for it again when the pause is over.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


class TryAgainError(Exception):
    """An attempt that failed in a way that may pass; `after` are the seconds that the other side asked us to wait."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long to try: pauses of `first`, then `factor` times the last one, up to `longest`."""

    attempts: int = 5
    """Attempts in all, the first one included."""

    first: float = 0.5
    """Seconds before the second attempt."""

    factor: float = 2.0
    longest: float = 30.0

    jitter: float = 0.5
    """The part of a pause that is left to chance, so that many who failed together do not come back together."""

    longest_asked: float = 120.0
    """The longest pause that the other side may ask for; it is cut to this."""

    def pause(self, attempt: int, chance: float, after: float | None = None) -> float:
        """Seconds to wait after attempt number `attempt` (from one); `chance` is from 0 up to 1.

        >>> [Patience().pause(attempt, 0.0) for attempt in (1, 2, 3, 9)], Patience().pause(1, 0.5, after=7)
        ([0.5, 1.0, 2.0, 30.0], 7.0)
        """
        grown = min(self.longest, self.first * self.factor ** (attempt - 1)) * (1 - self.jitter * chance)
        return grown if after is None else max(grown, min(float(after), self.longest_asked))


class Pause:
    """A time in which what failed is left alone; it is over before it has begun for the first time.

    >>> now = 100.0
    >>> pause = Pause(clock=lambda: now)
    >>> pause.is_over
    True
    >>> pause.begin(10.0)
    >>> pause.is_over
    False
    >>> now = 110.0
    >>> pause.is_over
    True
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end: float | None = None

    def begin(self, seconds: float) -> None:
        """Leave it alone for so long from now on: call this when it was tried and failed, never when it was not tried."""
        self._end = self._clock() + seconds

    @property
    def is_over(self) -> bool:
        """Whether it may be tried."""
        return self._end is None or self._clock() >= self._end


def persist(
    action: Callable[[], Result],
    patience: Patience,
    *,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> Result:
    """What `action` gives, tried again while it raises `TryAgainError`; the last one is raised on.

    >>> answers = iter([TryAgainError("busy"), "done"])
    >>> def ask():
    ...     answer = next(answers)
    ...     if isinstance(answer, Exception):
    ...         raise answer
    ...     return answer
    >>> pauses = []
    >>> persist(ask, Patience(), sleep=pauses.append, chance=lambda: 0.0), pauses
    ('done', [0.5])
    """
    attempt = 1
    while True:
        try:
            return action()
        except TryAgainError as failure:
            if attempt >= patience.attempts:
                raise
            sleep(patience.pause(attempt, chance(), failure.after))
            attempt += 1

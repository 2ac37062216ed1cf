"""The end of a run that somebody asks for: after the running batch, but within a time; at once when asked again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Final, Protocol

from eddyline.cli.output.terminal import Exit

AT_ONCE: Final = 15.0  # seconds that stopping at once may take, before the process ends without any ceremony


class Stop(Protocol):
    """`RunningPipeline.stop`."""

    def __call__(self, *, now: bool, timeout: float) -> object: ...


def _leave(code: int) -> None:
    """End the process as it is. A pipeline is made to be killed at any moment, and Java ends when nobody holds it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Stopping:
    """What signals have asked for so far, and what is to be done about it by now."""

    def __init__(
        self,
        stop: Stop,
        within: float,
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        leave: Callable[[int], None] = _leave,
    ) -> None:
        """`within` is in seconds."""
        self.asked = 0  # how often
        self.is_cut_short = False  # the batch did not end in time
        self._stop = stop
        self._within = within
        self._tell = tell
        self._clock = clock
        self._leave = leave
        self._deadline = float("inf")

    def ask(self) -> None:
        """A signal has come."""
        self.asked += 1
        if self.asked == 1:
            self._tell(f"stopping after the batch, within {self._within:g} s; once more stops at once")
            self._deadline = self._clock() + self._within
            self._stop(now=False, timeout=0)
        else:
            self._tell("stopping at once; the batch runs again at the next start")
            self._now()

    def look(self) -> None:
        """Time has passed."""
        if self._clock() < self._deadline:
            return
        if self.asked > 1 or self.is_cut_short:
            self._leave(Exit.INTERRUPTED if self.asked > 1 else Exit.BATCH_STOPPED)
            return
        self._tell(f"the batch has not ended within {self._within:g} s; it runs again at the next start")
        self.is_cut_short = True
        self._now()

    def _now(self) -> None:
        self._deadline = self._clock() + AT_ONCE
        self._stop(now=True, timeout=0)

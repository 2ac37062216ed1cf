"""The end of a run that somebody asks for: after the running batch, but within a time; at once when asked again."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Final, Protocol

from eddyline.cli.output.terminal import Exit

AT_ONCE: Final = 15.0  # seconds that stopping at once may take, before the process ends without any ceremony
READING: Final = 1.0  # seconds for those who read what is printed


class AskToStop(Protocol):
    """`RunningPipeline.ask_to_stop`."""

    def __call__(self, *, now: bool) -> object: ...


def _leave(code: int) -> None:
    """End the process as it is. A pipeline is made to be killed at any moment, and Java ends when nobody holds it."""
    flushing = threading.Thread(target=_flush, daemon=True)
    flushing.start()
    flushing.join(READING)  # whoever reads may have stopped reading
    os._exit(code)


def _flush() -> None:
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()


class Stopping:
    """What signals have asked for so far, and what is done about it, in a thread of its own.

    A signal interrupts nothing: it leaves a note for the thread. And the thread keeps the times also where the main one hangs
    in a sink, a store or a Spark that does not let itself be closed.
    """

    def __init__(
        self,
        ask_to_stop: AskToStop,
        within: float,
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        leave: Callable[[int], None] = _leave,
    ) -> None:
        """`within` is in seconds."""
        self.asked = 0  # how often
        self.is_cut_short = False  # the batch did not end in time
        self._ask_to_stop = ask_to_stop
        self._within = within
        self._tell = tell
        self._clock = clock
        self._leave = leave
        self._deadline = float("inf")
        self._notes: SimpleQueue[bool] = SimpleQueue()  # True is a signal, False the end
        self._saying: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._run, name="eddyline-stopping", daemon=True)

    def __enter__(self) -> Stopping:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notes.put(False)
        self._thread.join()
        for saying in self._saying:
            saying.join(READING)

    def signalled(self, *_: object) -> None:
        """A signal has come: a handler of signals."""
        self._notes.put(True)  # of all that threads share, only this may be called in the middle of itself

    def ask(self) -> None:
        """Somebody wants the end."""
        self.asked += 1
        if self.asked == 1:
            self._deadline = self._clock() + self._within
            self._ask_to_stop(now=False)
            self._say(f"stopping after the batch, within {self._within:g} s; once more stops at once")
        elif self.asked == 2:
            self._now()
            self._say("stopping at once; a batch that is stopped runs again at the next start")

    def look(self) -> None:
        """Time has passed."""
        if self._clock() < self._deadline:
            return
        if self.asked > 1 or self.is_cut_short:
            self._deadline = float("inf")
            self._leave(Exit.INTERRUPTED if self.asked > 1 else Exit.BATCH_STOPPED)
            return
        self.is_cut_short = True
        self._now()
        self._say(
            f"the batch, or what is closed after it, has not ended within {self._within:g} s; "
            "a batch that is stopped runs again at the next start"
        )

    def _now(self) -> None:
        self._deadline = self._clock() + AT_ONCE
        self._ask_to_stop(now=True)

    def _say(self, text: str) -> None:
        """Tell without waiting for whoever reads."""
        saying = threading.Thread(target=self._told, args=(text,), daemon=True)
        self._saying.append(saying)
        saying.start()

    def _told(self, text: str) -> None:
        with suppress(OSError):
            self._tell(text)

    def _run(self) -> None:
        while self._goes_on():
            self.look()

    def _goes_on(self) -> bool:
        """Wait for a note or for the time to be over; whether there is more to wait for."""
        left = self._deadline - self._clock()
        try:
            is_signal = self._notes.get(timeout=None if left == float("inf") else max(0.0, left))
        except Empty:
            return True
        if is_signal:
            self.ask()
        return is_signal

"""Signals that ask a run to end: after the batch, in time, at once."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from eddyline.cli.output.terminal import Exit
from eddyline.cli.run import stopping as module
from eddyline.cli.run.stopping import AT_ONCE, Stopping


class Run:
    """A pipeline that never ends, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stops: list[bool] = []
        self.left: list[int] = []
        self.told: list[str] = []
        self.stopping = Stopping(
            self.stop, 60, self.told.append, clock=lambda: self.now, leave=self.left.append
        )

    def stop(self, *, now: bool) -> None:
        self.stops.append(now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.stopping.look()


def test_nobody_asks() -> None:
    run = Run()
    run.pass_time(1e9)
    assert (run.stops, run.left, run.told) == ([], [], [])


def test_a_batch_that_does_not_end_in_time() -> None:
    run = Run()
    run.stopping.ask()
    run.pass_time(59)
    assert run.stops == [False] and not run.stopping.is_cut_short
    run.pass_time(1)
    assert run.stops == [False, True] and run.stopping.is_cut_short
    run.pass_time(AT_ONCE - 1)
    assert run.left == []
    run.pass_time(1)
    assert run.left == [Exit.BATCH_STOPPED]


def test_asked_twice() -> None:
    run = Run()
    run.stopping.ask()
    run.stopping.ask()
    assert run.stops == [False, True] and run.stopping.asked == 2
    run.pass_time(AT_ONCE - 1)
    run.stopping.ask()
    assert run.left == [] and run.stops == [False, True], "asking on does not give it more time"
    run.pass_time(1)
    assert run.left == [Exit.INTERRUPTED]


def test_a_main_thread_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sink that does not close, say: nobody looks, and whoever reads what is printed has stopped, too."""
    monkeypatch.setattr(module, "AT_ONCE", 0.05)
    left, stops, ended = [], [], threading.Event()

    def leave(code: int) -> None:
        left.append(code)
        ended.set()

    with module.Stopping(
        lambda *, now: stops.append(now), 0.05, lambda _: time.sleep(0.5), leave=leave
    ) as stopping:
        before = signal.signal(signal.SIGUSR1, stopping.signalled)
        try:
            signal.raise_signal(signal.SIGUSR1)
            assert ended.wait(0.4)
        finally:
            signal.signal(signal.SIGUSR1, before)
    assert left == [Exit.BATCH_STOPPED] and stops == [False, True]


def test_nothing_is_left_of_it() -> None:
    """Closed, it ends no process any more."""
    left: list[int] = []
    with module.Stopping(lambda *, now: None, 0, lambda _: None, leave=left.append) as stopping:
        stopping.signalled()
    time.sleep(0.05)
    assert left == [] and not stopping._thread.is_alive()

"""Signals that ask a run to end: after the batch, in time, at once."""

from __future__ import annotations

from eddyline.cli.output.terminal import Exit
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

    def stop(self, *, now: bool, timeout: float) -> None:
        assert timeout == 0
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
    run.pass_time(AT_ONCE)
    assert run.left == [Exit.INTERRUPTED]

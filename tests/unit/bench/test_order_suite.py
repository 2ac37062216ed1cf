"""The comparison of the default order with what can be forced, on tiny sets: its sides agree, its lines have bars."""

from __future__ import annotations

import pytest

from bench.bars import ADAPTING, bar_of
from bench.interleaved import interleaved
from bench.measure import Setting
from bench.suites import order
from bench.workloads import selective


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WARM", 0.0), ("ROUNDS", 1), ("TURN", 0.0)):
        monkeypatch.setattr(f"bench.interleaved.{name}", value)
    # the monitor is at work from the first batch on
    monkeypatch.setattr("eddyline.execute.steering.choice.WARM", 0.0)


def test_all_sides_agree() -> None:
    lines = list(order._records(order.Load.of(selective.workload(40)), (3_000, 600)))
    assert all(line.equal and line.workload in ADAPTING for line in lines)
    assert [line.peer == "worst order" for line in lines if line.metric == "adaptive"] == [False] * 2 + [
        True
    ] * 2
    assert {str(bar_of(line)) for line in lines} == {"1.5x", "0.91x", "< 0.03"}


def test_drift_is_held_against_what_stays() -> None:
    lines = list(order._drifting(Setting(quick=True, queries=40)))
    assert all(line.equal for line in lines)
    bars = {line.peer: str(bar_of(line)) for line in lines}
    assert bars["order of phase 1"] == bars["filter of phase 1"] == "2x"


class Working:
    """A side that takes its time, and counts how often it is asked."""

    def __init__(self, work: int) -> None:
        self.work, self.calls = work, 0

    def match(self, batch: object) -> None:
        self.calls += 1
        sum(range(self.work))


def test_a_side_that_is_hopeless_is_not_measured_any_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.interleaved.ROUNDS", 5)
    sides = {"first": Working(2_000_000), "quick": Working(100_000), "hopeless": Working(3_000_000)}
    times = interleaved(sides, [None])  # type: ignore[arg-type]
    assert [side.calls for side in sides.values()] == [7, 7, 2]
    assert times["hopeless"] > times["quick"] > 0

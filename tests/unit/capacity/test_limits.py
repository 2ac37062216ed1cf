"""What breaks first is named, whatever it is, with the number of queries or rows at which it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eddyline.capacity import Load, Rates, estimate
from eddyline.capacity.limits import KINDS
from tests.unit.capacity.figures import RATES

LOAD = Load(10_000, 100_000.0, columns=2)
FIRST = {
    "counting queries in the registry": replace(RATES, count=0.1),
    "adding up what tasks counted": replace(RATES, add_up=0.1),
    "sending the compiled set": replace(RATES, ship=1e-3),
    "starting tasks": replace(RATES, schedule=30.0),
    "Spark's own": replace(RATES, batch=45.0),
    "what tasks tell the driver": replace(RATES, told_bytes=1e6),
    "the compiled set in the plan": replace(RATES, archive_bytes=1e4),
    "compiling all queries": replace(RATES, compiling=1.0),
    "a batch that waits for changed queries": replace(RATES, change=0.1),
    "memory of the driver": replace(RATES, driver_bytes=1e7),
    "memory of a worker": replace(RATES, worker_bytes=1e7),
}


@pytest.mark.parametrize("name", FIRST)
def test_what_breaks_first_is_named(name: str) -> None:
    found = estimate(LOAD, FIRST[name])
    assert name in found.first.name and found.first.used >= 1 and not found.holds
    assert found.first.to_do
    growths = [limit.growth for limit in found.limits]
    assert growths == sorted(growths) and growths[0] < 1 <= growths[1]


def test_every_limit_is_there_and_none_is_broken_by_a_small_load() -> None:
    found = estimate(LOAD, RATES)
    assert found.holds and len(found.limits) == len(KINDS)
    assert all(limit.used < 1 for limit in found.limits)
    assert found.as_json()["limits"][0]["used"] == found.first.used


@pytest.mark.parametrize("rates", [RATES, *FIRST.values()])
def test_a_limit_is_met_at_the_number_that_is_named(rates: Rates) -> None:
    for limit in estimate(LOAD, rates).limits:
        place = KINDS[[kind.to_do for kind in KINDS].index(limit.to_do)]
        if limit.queries is not None:
            below, above = (
                estimate(LOAD.with_queries(limit.queries * by), rates).sizing for by in (0.99, 1.01)
            )
            assert place.now(below) < place.most(below) and place.now(above) >= place.most(above)
        if limit.rows_per_second is not None:
            below, above = (
                estimate(LOAD.with_rows(limit.rows_per_second * by), rates).sizing for by in (0.99, 1.01)
            )
            assert place.now(below) < place.most(below) and place.now(above) >= place.most(above)


def test_a_limit_that_does_not_depend_on_rows_says_so() -> None:
    limits = {limit.name: limit for limit in estimate(LOAD, RATES).limits}
    plan = limits["the compiled set in the plan of a batch"]
    assert plan.rows_per_second is None and plan.queries == pytest.approx((64 << 20) / 32, rel=1e-3)


def test_the_part_of_the_driver_is_the_one_that_breaks_and_not_the_largest_now() -> None:
    limits = [limit.name for limit in estimate(Load(1_000, 1_000.0), RATES).limits]
    assert "the driver's time for a batch, most of it counting queries in the registry" in limits


def test_what_is_beyond_the_measurements_is_said() -> None:
    assert estimate(Load(1_000, 1_000.0), RATES).extrapolated == ()
    found = estimate(Load(1_000_000, 1e7, columns=60), RATES).extrapolated
    assert [text.partition(":")[0] for text in found] == ["queries", "columns", "cores"]
    assert "measured up to 100,000" in found[0]

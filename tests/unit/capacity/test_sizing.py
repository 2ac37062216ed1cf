"""The formulas: more queries or rows never need less, cores share the rows, the driver's part stays within its share."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.capacity import Load, Sizing, size
from eddyline.capacity.load import KINDS
from eddyline.capacity.measured import CHECKS
from eddyline.capacity.measured import RATES as MEASURED
from eddyline.capacity.rates import Grid, Line
from eddyline.capacity.sizing import LENGTHS, seconds_of_batch
from eddyline.errors import UsageError
from tests.unit.capacity.figures import KEYED, RATES

LOAD = Load(1_000, 100_000.0, columns=2)
GROWING = (
    "busy_cores",
    "tasks",
    "batch_seconds",
    "archive_bytes",
    "driver_python_bytes",
    "worker_python_bytes",
    "compiling_seconds",
    "counted_queries",
    "told_bytes",
)
queries = st.integers(1, 10**8)
rates = st.floats(1.0, 1e9)


def needed(sizing: Sizing) -> float:
    return math.inf if sizing.cores is None else sizing.cores


def grows(less: Sizing, more: Sizing) -> None:
    for name in GROWING:
        assert getattr(less, name) <= getattr(more, name) * (1 + 1e-9), name
    assert needed(less) <= needed(more) or more.cores is None


@given(queries, queries, rates, st.sampled_from(KINDS), st.integers(1, 100))
def test_more_queries_never_need_less(a: int, b: int, rows: float, kind: str, columns: int) -> None:
    for measured in (RATES, MEASURED):
        less, more = (
            size(Load(count, rows, kind=kind, columns=columns, share=1e-9), measured)  # type: ignore[arg-type]
            for count in sorted((a, b))
        )
        grows(less, more)


@given(queries, rates, rates)
def test_more_rows_never_need_less(count: int, a: float, b: float) -> None:
    for measured in (RATES, MEASURED):
        less, more = (size(Load(count, rows, share=1e-9), measured) for rows in sorted((a, b)))
        grows(less, more)


def test_cores_are_what_is_busy_by_the_time_that_they_may_be() -> None:
    sizing = size(replace(LOAD, rows_per_second=35e6, share=1e-9), RATES)
    assert sizing.matching_cores == pytest.approx(35.0)
    assert sizing.reading_cores == pytest.approx(35.0)
    assert sizing.busy_cores == pytest.approx(35 + 35 + 35 * 4e-6, rel=1e-6)
    assert sizing.driver_seconds <= 0.07 * sizing.batch_seconds
    assert sizing.cores == math.ceil(sizing.busy_cores / 0.63) and sizing.workers == 28
    assert size(replace(sizing.load, cores_per_worker=16), RATES).workers == 7


def test_results_have_their_own_cores() -> None:
    sizing = size(replace(LOAD, share=1e-3), RATES)
    assert sizing.load.results_per_second == pytest.approx(100_000)
    assert sizing.making_cores == pytest.approx(0.1) and sizing.writing_cores == pytest.approx(0.3)
    shadow = size(replace(LOAD, share=1e-3, delivered=0.5), RATES)
    assert shadow.writing_cores == pytest.approx(0.15)


def test_batches_are_as_short_as_the_drivers_part_allows() -> None:
    sizing = size(replace(LOAD, rows_per_second=1.0), RATES)
    assert sizing.batch_seconds == 10 and sizing.driver_seconds == pytest.approx(0.502, abs=1e-3)
    assert sizing.batch_seconds in LENGTHS
    busy = size(Load(1_000_000, 1e6, share=1e-6), RATES)
    assert busy.batch_seconds == 60 and busy.counted_queries == pytest.approx(1e6)
    assert busy.driver_parts["counting queries in the registry"] == pytest.approx(10)
    assert size(replace(busy.load, longest_batch=45.0), RATES).batch_seconds == 45


def test_no_number_of_cores_makes_up_for_a_driver_that_is_too_slow() -> None:
    sizing = size(Load(10_000_000, 1e6, share=1e-6), RATES)
    assert not sizing.is_possible and sizing.cores is None and sizing.workers is None
    assert sizing.as_json()["cores"]["needed"] is None
    assert size(replace(sizing.load, longest_batch=600.0), RATES).is_possible


def test_a_large_set_does_not_travel_in_the_plan() -> None:
    sizing = size(replace(LOAD, rows_per_second=1e7), RATES)
    assert sizing.workers is not None and sizing.shipped_bytes == 32_000 * sizing.workers
    large = size(LOAD.with_queries(3_000_000), RATES)
    assert large.archive_bytes > 64 << 20 and large.shipped_bytes == 0


def test_costs_between_and_beyond_what_was_measured() -> None:
    assert KEYED.at(1_000, 2) == 1e-6 and KEYED.at(100_000, 50) == pytest.approx(8e-6)
    assert KEYED.at(10_000, 2) == pytest.approx(2**0.5 * 1e-6)
    assert KEYED.at(10_000_000, 2) == pytest.approx(4e-6)  # twice for each factor of 100
    assert KEYED.at(1, 1) == 1e-6
    flat = Grid((2,), (Line((1, 10), (1.0, 1.0)),))
    assert flat.at(1e9, 1e9) == 1.0


def test_predicted_seconds_of_a_batch_scale_with_cores() -> None:
    load = Load(1_000, 1.0, columns=2, share=1e-9)
    one, two = (seconds_of_batch(load, RATES, 1e6, cores, together=True) for cores in (1, 2))
    assert one - 0.3 == pytest.approx(2.0, abs=0.02) and two - 0.3 == pytest.approx(1.0, abs=0.02)
    assert seconds_of_batch(load, RATES, 1e6, 1, together=False) > one


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"queries": 0}, "queries: 0 is not a number above 0"),
        ({"rows_per_second": float("nan")}, "rows per second: nan is not a number above 0"),
        ({"rows_per_second": -1.0}, "rows per second: -1 is not"),
        ({"columns": 0}, "columns: 0 is not a number from 1 to 10,000"),
        ({"share": 2.0}, "matches per row: 2000 is not at least 0, at most one per query"),
        ({"cores_per_worker": 0}, "cores per worker: 0 is not"),
        ({"utilisation": 1.5}, "utilisation: 1.5 is not a number from 0.1 to 1"),
        ({"longest_batch": 0.0}, "the longest batch: 0 is not 1 to 86,400 seconds"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(LOAD, **wrong)  # type: ignore[arg-type]


def test_the_packages_rates_say_where_they_are_from() -> None:
    assert MEASURED.machine and MEASURED.day
    assert set(MEASURED.matching) == set(KINDS)
    assert {check.place for check in CHECKS} == {"1 core", "2 cores", "2 workers"}

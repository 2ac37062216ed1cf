"""Event times of a task: the newest one is told as a moment, whatever stands in a row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.spark.pipeline.batch.event_times import EARLIEST, LATEST, as_event_times, newest_event
from eddyline.runtime.spark.watching.values import EPOCH

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NUMBER = int((NOON - EPOCH) / timedelta(microseconds=1))
ZONES = ("UTC", "Europe/Vienna", "-18:00")
FAR = (
    -(2**63) + 1,
    -(10**17),  # some 1,200 years before Christ
    EARLIEST - 1,
    EARLIEST,
    LATEST,
    LATEST + 1,
    2**63 - 1,
)


def times(*values: int | None, zone: str | None = "UTC") -> pa.Array:
    return pa.array(values, pa.int64()).view(pa.timestamp("us", zone))


def days(*values: int) -> pa.Array:
    return pa.array(values, pa.int32()).view(pa.date32())


def newest(column: pa.Array, zone: str = "UTC", before: int | None = None) -> int | None:
    return newest_event(pa.record_batch({"at": column}), "at", zone, before)


def test_the_bounds_are_moments() -> None:
    assert EPOCH + timedelta(microseconds=EARLIEST) == datetime.min.replace(tzinfo=UTC)
    assert (EPOCH + timedelta(microseconds=LATEST)).year == 9892


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("far", FAR)
def test_times_that_no_calendar_has(far: int, zone: str) -> None:
    """A batch of one such row: what is told of it has to be a moment, or nothing."""
    for column in (times(far), times(far, zone=None)):
        found = newest(column, zone)
        assert found is None or EPOCH + timedelta(microseconds=found) >= datetime.min.replace(tzinfo=UTC)
    assert newest(times(far)) == (far if EARLIEST <= far <= LATEST else None)
    assert newest(times(far, NUMBER)) in (far, NUMBER, None)
    assert newest(times(-(10**17), NUMBER)) == newest(times(-(10**17)), before=NUMBER) == NUMBER


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", [-(2**31), -719_163, 2**31 - 1, 106_751_991, -106_751_991])
def test_days_that_no_calendar_has(day: int, zone: str) -> None:
    """Microseconds in 64 bits do not reach as far as days in 32."""
    found = newest(days(day), zone)
    assert found is None or EARLIEST <= found <= LATEST
    result = as_event_times(days(day, 0), zone)
    assert result is not None and result[1].as_py().year in (1969, 1970)


def test_what_cannot_be_told_is_null_and_the_rest_is_as_it_was() -> None:
    found = as_event_times(days(20_000, 2**31 - 1, -(2**31)), "UTC")
    assert found is not None and found.null_count == 2
    assert found[0].as_py() == datetime(2024, 10, 4, tzinfo=UTC)
    assert as_event_times(pa.array(np.arange(3)), "UTC") is None

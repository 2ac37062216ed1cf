"""Which tuples are left out of joins, and how far a stream has come."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.functions.zones import find_zone
from eddyline.join.watermark import Watermark, clock_of, judge
from eddyline.model import types as t
from eddyline.model.event_time import DAY, LONGEST_IN_DAYS, EventTime

TIMES = EventTime("ts", t.LONG, lateness=5)


def kept(
    watermark: Watermark, times: list[int | None], clock: int | None = 0
) -> tuple[list[bool], Watermark]:
    found = judge(watermark, pa.array(times, pa.int64()), clock)
    return found.kept.tolist(), found.watermark


def test_a_tuple_is_late_by_what_came_before_it() -> None:
    found, after = kept(Watermark(TIMES), [10, 5, 4, 20, 10, 15])
    assert found == [True, True, False, True, False, True]
    assert after.highest == 20 and after.value() == 15


def test_batches_of_any_size_are_judged_alike() -> None:
    times: list[int | None] = [10, 5, 4, 20, 10, None, 15, 14, 30, 25, 24]
    whole, _ = kept(Watermark(TIMES), times)
    watermark, single = Watermark(TIMES), []
    for time in times:
        found, watermark = kept(watermark, [time])
        single += found
    assert single == whole


def test_tuples_ahead_of_the_clock_move_nothing() -> None:
    ahead = Watermark(EventTime("ts", t.TIMESTAMP, lateness=5, ahead=10))
    found = judge(ahead, pa.array([100, 111, 96], pa.int64()), 100)
    assert found.kept.tolist() == [True, False, True]
    assert found.left_out == {"ahead": 1}
    assert found.watermark.highest == 100


def test_reasons_are_counted() -> None:
    found = judge(Watermark(TIMES), pa.array([10, None, 2**62, -(2**62), 1], pa.int64()), 0)
    assert found.left_out == {"late": 1, "no time": 1, "out of range": 2}


@pytest.mark.parametrize("clock", [None, 0])
def test_dates_whose_differences_would_not_fit_in_microseconds(clock: int | None) -> None:
    days = [-LONGEST_IN_DAYS, 1 - LONGEST_IN_DAYS, LONGEST_IN_DAYS - 1, LONGEST_IN_DAYS, 2**31 - 1]
    dates = Watermark(EventTime("day", t.DATE, lateness=2 * LONGEST_IN_DAYS))
    found = judge(dates, pa.array(days, pa.int32()).cast(pa.date32()), clock)
    assert found.kept.tolist() == [False, True, True, False, False]
    assert found.left_out == {"out of range": 3}


def test_complete_data_is_never_late() -> None:
    found = judge(Watermark(TIMES).advanced(50), pa.array([10, 1, None], pa.int64()), None)
    assert found.kept.tolist() == [True, True, False]
    assert found.watermark.value(is_complete=True) == 50


def test_a_watermark_can_be_raised_and_does_not_fall() -> None:
    watermark = Watermark(TIMES).advanced(30).advanced(20)
    assert watermark.value() == 30
    assert kept(watermark, [29, 30])[0] == [False, True]


def test_without_a_lateness_nothing_is_late() -> None:
    found, after = kept(Watermark(EventTime("ts", t.LONG)), [10, -(10**9)])
    assert found == [True, True]
    assert after.value() is None


@pytest.mark.parametrize(
    ("kind", "shown"),
    [(t.TIMESTAMP, 86_400_000_000 - 1), (t.TIMESTAMP_NTZ, 86_400_000_000 - 1 + 7_200_000_000), (t.DATE, 1)],
)
def test_clocks_show_what_event_times_are_compared_with(kind: t.DataType, shown: int) -> None:
    zone = find_zone("+02:00")
    assert zone is not None
    assert clock_of(EventTime("ts", kind), DAY - 1, zone) == shown

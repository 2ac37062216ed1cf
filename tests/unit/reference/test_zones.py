"""The wall clock of a zone, where it jumps and over all of time."""

from __future__ import annotations

import pytest

from eddyline.reference.failure import Failure
from eddyline.reference.times.calendar import from_days, to_days
from eddyline.reference.times.zones import DAY, SECOND, zone

HOUR = 3600 * SECOND
NEW_YORK = zone("America/New_York")


def local(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    return to_days(year, month, day) * DAY + (hour * 60 + minute) * 60 * SECOND


def test_a_time_that_the_clock_jumps_over_is_that_much_later() -> None:
    jumped = NEW_YORK.to_instant(local(2020, 3, 8, 2, 30))
    assert NEW_YORK.to_local(jumped) == local(2020, 3, 8, 3, 30)


def test_a_time_that_comes_twice_is_the_first_unless_an_offset_is_preferred() -> None:
    twice = local(2020, 11, 1, 1, 30)
    first, second = twice + 4 * HOUR, twice + 5 * HOUR
    assert NEW_YORK.to_instant(twice) == first
    assert NEW_YORK.to_instant(twice, preferred=-5 * HOUR) == second
    assert NEW_YORK.to_instant(twice, preferred=-8 * HOUR) == first


@pytest.mark.parametrize(
    ("name", "midnight", "begins"),
    [
        ("America/Sao_Paulo", local(2018, 11, 4), local(2018, 11, 4, 1)),  # 00:00 is jumped over
        ("America/Toronto", local(1919, 3, 31), local(1919, 3, 31, 0, 30)),  # from 23:30 to 00:30
        ("Pacific/Apia", local(2011, 12, 30), local(2011, 12, 31)),  # the whole day is
        ("Europe/Paris", local(2020, 1, 1), local(2020, 1, 1)),
    ],
)
def test_a_day_begins_with_its_first_instant(name: str, midnight: int, begins: int) -> None:
    place = zone(name)
    assert place.to_local(place.start_of_day(midnight)) == begins


def test_rules_go_on_beyond_the_year_9999() -> None:
    summer, winter = local(12020, 7, 1, 12), local(12020, 1, 1, 12)
    assert NEW_YORK.to_instant(summer) - summer == 4 * HOUR
    assert NEW_YORK.to_instant(winter) - winter == 5 * HOUR
    assert NEW_YORK.offset_at(2**63 - 1) == -5 * HOUR


def test_before_all_rules_it_is_local_mean_time() -> None:
    assert NEW_YORK.offset_at(-(2**63)) == -(4 * 3600 + 56 * 60 + 2) * SECOND


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("Z", 0),
        ("UTC", 0),
        ("+1", 3600),
        ("-01:30", -5400),
        ("+1:5", 3900),
        ("+013015", 5415),
        ("+18:00", 64800),
        ("UTC+3", 10800),
        ("GMT-0330", -12600),
        ("UT+01:00", 3600),
        ("GMT0", 0),
        ("MST", -25200),
        ("PST", -28800),
    ],
)
def test_names(name: str, seconds: int) -> None:
    assert zone(name).offset_at(0) == seconds * SECOND


@pytest.mark.parametrize(
    "name", ["", "utc", "+18:01", "+19", "+1:60", "UTCx", "Foo/Bar", "Factory", "europe/paris", "+"]
)
def test_unknown_names(name: str) -> None:
    with pytest.raises(Failure):
        zone(name)


@pytest.mark.parametrize("days", [*range(-800, 800, 7), -(2**31), 2**31 - 1, -719529, 146_097 * 5])
def test_the_calendar_is_its_own_inverse(days: int) -> None:
    assert to_days(*from_days(days)) == days

"""Time bounds against brute force: limits hold exactly where the comparison is TRUE, or around there where it is kept."""

from __future__ import annotations

import random
from itertools import product

import pytest

from eddyline import reference
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.normalize.joins.clock_changes import largest_change
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.normalize.joins.parts import TimeBound
from eddyline.normalize.joins.time_bounds import time_bound
from tests.joined import bound_join, streams

COMPARISONS = ("<", "<=", "=", ">=", ">", "<=>")
SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR


def bound_of(
    comparison: str, time: str, zone: str = "UTC", other: str = ""
) -> tuple[TimeBound, JoinedTimes, object]:
    known: dict[str, Stream] = streams(time, other)
    join = bound_join(comparison, known, zone)
    kinds = [
        known[source.stream].types[name]
        for source, name in zip(join.sources, (time, other or time), strict=True)
    ]
    first, second = Column(f"q.{time}", kinds[0]), Column(f"t.{other or time}", kinds[1])
    times = JoinedTimes((first, second), kinds[0], zone)
    found = time_bound(join.predicate, times)
    assert found is not None, "a time bound"
    return found, times, join.predicate


def check(
    comparison: str, time: str, moments: list[tuple[int, int]], zone: str = "UTC", other: str = ""
) -> TimeBound:
    """Compare limits with what the comparison gives for pairs of event times."""
    found, times, predicate = bound_of(comparison, time, zone, other)
    for before, after in moments:
        row = {times.columns[0].name: before, times.columns[1].name: after}
        expected = reference.evaluate(predicate, row, time_zone=zone) is True  # type: ignore[arg-type]
        inside = (found.low is None or found.low <= after - before) and (
            found.high is None or after - before <= found.high
        )
        if found.condition is None:
            assert inside is expected, (comparison, before, after)
        else:
            assert inside or not expected, (comparison, before, after)
    return found


def near(start: int, step: int, count: int) -> list[tuple[int, int]]:
    return [(start, start + apart * step) for apart in range(-count, count + 1)]


WHOLE = (
    "t.seq {} q.seq",
    "t.seq {} q.seq + 3",
    "q.seq - 2 {} t.seq",
    "t.seq + 1 {} q.seq - 4",
    "t.seq - q.seq {} 3",
    "q.seq - t.seq {} -2L",
    "3 {} t.seq - q.seq",
    "-q.seq + t.seq {} 2 * 2",
    "t.seq {} q.seq + 2.5",
    "t.seq - q.seq {} 2.50",
    "t.seq {} q.seq + 2.5D",
    "t.seq - 1.25 {} q.seq - 0.5",
    "t.seq + q.seq - q.seq {} q.seq + 1",
)


@pytest.mark.parametrize("form", WHOLE)
@pytest.mark.parametrize("operator", COMPARISONS)
def test_whole_numbers(form: str, operator: str) -> None:
    moments = [pair for start in (0, 7, -(2**62) + 10, 2**62 - 10, 2**53) for pair in near(start, 1, 9)]
    found = check(form.format(operator), "seq", moments)
    assert (found.condition is not None) == (
        "D" in form or "+ q.seq" in form
    )  # a sum of both may be too large


@pytest.mark.parametrize(
    "form",
    [
        "t.tick {} q.tick + 3",
        "t.tick + 4 {} q.tick + 5",
        "t.tick - q.tick {} 2",
        "t.small {} q.tick - 4",
        "t.tick + 1.5 {} q.tick",
    ],
)
@pytest.mark.parametrize("operator", COMPARISONS)
def test_narrow_numbers(form: str, operator: str) -> None:
    """Near the ends of a type a sum may fail, which is never TRUE: the comparison is kept."""
    other = "small" if "small" in form else "tick"
    ends = (0, 2**31 - 1, -(2**31)) if other == "tick" else (0, 2**15 - 1, -(2**15))
    low, high = t.RANGE[t.SHORT if other == "small" else t.INT]
    moments = [
        (min(max(end + one, -(2**31)), 2**31 - 1), min(max(end + two, low), high))
        for end, one, two in product(ends, range(-6, 7), range(-6, 7))
    ]
    check(form.format(operator), "tick", moments, other=other)


DATES = (
    "t.day {} q.day",
    "t.day {} q.day + INTERVAL 2 DAYS",
    "t.day - INTERVAL 1 WEEK {} q.day",
    "t.day {} date_add(q.day, 3)",
    "date_sub(t.day, 2) {} q.day",
    "t.day - 1 {} q.day + 1",
    "datediff(t.day, q.day) {} 2",
    "datediff(q.day, t.day) {} 2",
    "t.day - q.day {} INTERVAL 2 DAYS",
    "t.day - q.day {} INTERVAL 36 HOURS",
    "t.day {} q.day + INTERVAL 36 HOURS",
    "q.day - t.day {} -INTERVAL 1 DAY",
)


@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize("operator", COMPARISONS)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_dates(form: str, operator: str, zone: str) -> None:
    moments = [pair for start in (0, 18_349, 18_559, 50_000_000) for pair in near(start, 1, 9)]
    check(form.format(operator), "day", moments, zone)


TIMES = (
    "t.{c} {} q.{c}",
    "t.{c} {} q.{c} + INTERVAL 5 SECONDS",
    "t.{c} - INTERVAL 1 MINUTE {} q.{c} - INTERVAL 7 SECONDS",
    "t.{c} {} q.{c} + INTERVAL 1 DAY",
    "t.{c} {} q.{c} - INTERVAL '2 03:00:00' DAY TO SECOND",
    "t.{c} - q.{c} {} INTERVAL 5 SECONDS",
    "q.{c} - t.{c} {} INTERVAL 25 HOURS",
    "t.{c} + INTERVAL 1 DAY {} q.{c} + INTERVAL 25 HOURS",
    "t.{c} + (INTERVAL 1 DAY - INTERVAL 1 HOUR) {} q.{c}",
)
MARKS = (
    0,
    SECOND,
    5 * SECOND,
    53 * SECOND,
    60 * SECOND,
    HOUR,
    23 * HOUR,
    DAY,
    25 * HOUR,
    2 * DAY,
    51 * HOUR,
    52 * HOUR,
)
ZONES = {
    "UTC": (0,),
    "+05:30": (0,),
    "Europe/Berlin": (1_585_443_600, 1_603_587_600, -1_693_706_400),
    "America/New_York": (1_583_650_800, 1_604_210_400),
    "Australia/Lord_Howe": (1_601_738_400,),
    "Pacific/Apia": (1_325_239_200,),  # a whole day was left out
    "Asia/Manila": (-3_944_621_040,),
}


@pytest.mark.parametrize("form", TIMES)
@pytest.mark.parametrize("column", ["ts", "wall"])
@pytest.mark.parametrize("zone", ZONES)
def test_times(form: str, column: str, zone: str) -> None:
    source = random.Random(form + zone)
    moments = []
    for change in ZONES[zone]:
        for shift, mark, sign in product((0, -DAY, -HOUR, 2 * HOUR, DAY), MARKS, (1, -1)):
            start = change * SECOND + shift + source.choice((-1, 0, 1, 30 * 60 * SECOND))
            apart = sign * mark + source.choice((0, 1, -1, HOUR, -HOUR, DAY, -DAY, 30 * 60 * SECOND))
            moments += [(start, start + apart), (start - apart, start)]
    for operator in source.sample(COMPARISONS, 2):
        found = check(form.replace("{c}", column).format(operator), column, moments, zone)
        if column == "wall" or zone in ("UTC", "+05:30"):
            assert found.condition is None


def test_windows_grow_by_the_changes_that_can_lie_between() -> None:
    found, _, _ = bound_of("t.ts - q.ts <= INTERVAL 5 SECONDS", "ts", "Europe/Berlin")
    assert found.high == 5 * SECOND + HOUR
    found, _, _ = bound_of("t.ts <= q.ts + INTERVAL 2 DAYS", "ts", "Pacific/Apia")
    assert found.high == 2 * DAY + largest_change("Pacific/Apia", 30 * DAY)


@pytest.mark.parametrize(
    "other",
    [
        "t.price < q.price",
        "hour(t.ts) < hour(q.ts)",
        "t.ts < q.ts + make",
        "cast(t.ts AS date) = cast(q.ts AS date)",
        "t.seq * 2 < q.seq",
        "t.ts < greatest(q.ts, q.ts)",
    ],
)
def test_other_comparisons_are_no_time_bounds(other: str) -> None:
    known = streams("ts")
    predicate = bound_join(other.replace("make", "(t.ts - q.ts)"), known).predicate
    times = JoinedTimes((Column("q.ts", t.TIMESTAMP), Column("t.ts", t.TIMESTAMP)), t.TIMESTAMP, "UTC")
    assert time_bound(predicate, times) is None


def test_sums_of_both_are_kept_as_they_are() -> None:
    found, _, predicate = bound_of("t.seq + q.seq < 5", "seq")
    assert (found.low, found.high, found.condition) == (None, None, predicate)

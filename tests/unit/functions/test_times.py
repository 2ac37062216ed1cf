"""Reading of dates and times, zones, and the calendar; facts from Spark 4.2."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from eddyline.functions.civil import add_months, days_from, days_of, fields_of
from eddyline.functions.time_formats import check, compile_format
from eddyline.functions.time_text import parse_date, parse_timestamp, parse_timestamp_ntz
from eddyline.functions.zones import Zone, find_zone

DAY = 86_400


def zone(name: str) -> Zone:
    found = find_zone(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-02", 1), ("1970-1-2", 1), (" 1970-01-02\n", 1), ("\x7f1970-01-02", 1), ("1970-01-02 x", 1),
        ("1970-01-02Tx", 1), ("1970-02", 31), ("1971", 365), ("+1970-01-02", 1), ("-0001-01-01", -719893),
        ("5881580-07-11", 2**31 - 1), ("5881580-07-12", None), ("-5877641-06-23", -(2**31)), ("1970-01 x", None),
        ("1970-01-02x", None), ("197-01-02", None), ("12345678-01-01", None), ("1970-13-01", None),
        ("1970-02-30", None), ("", None), ("-", None), ("1970/01/02", None),
    ],
)  # fmt: skip
def test_dates(text: str, days: int | None) -> None:
    assert parse_date(text) == days


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01 00:00:01", 1), ("1970-01-01T0:0:1", 1), ("1970-01-01 1", 3600), ("1970-01-01 1:1", 3660),
        ("1970-01-01 00:00:01.", 1), ("1970-01-01 00:00:01.5000009", 1.5), ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01 00:00:00z", None), ("1970-01-01 00:00:00 +1", -3600), ("1970-01-01 00:00:00-1:30", 5400),
        ("1970-01-01 00:00:00+0130", -5400), ("1970-01-01 00:00:00+01:02:03", -3723), ("1970-01-01 00:00:00+18:01", None),
        ("1970-01-01 00:00:00UTC+1", -3600), ("1970-01-01 00:00:00PST", 28800), ("1970-01-01 00:00:00EST", 18000),
        ("1970-01-01 00:00:00 Europe/Vienna", -3600), ("1970-01-01 00:00:00 europe/vienna", None),
        ("1970-01-01T", None), ("1970-01-01 24:00:00", None), ("1970-01-01 1Z", None), ("1970-01-01 1:1Z", None),
        ("+1970-01-01 00:00:01", 1), ("1234567-01-01", None), ("1970-01-01 00:00:00..5", None),
    ],
)  # fmt: skip
def test_timestamps(text: str, seconds: float | None) -> None:
    assert parse_timestamp(text, zone("UTC")) == (None if seconds is None else int(seconds * 1_000_000))


def test_the_ends_of_time() -> None:
    utc = zone("UTC")
    assert parse_timestamp("294247-01-10 04:00:54.775807", utc) == 2**63 - 1
    assert parse_timestamp("294247-01-10 04:00:54.775808", utc) is None
    assert parse_timestamp("-290308-12-21 19:59:05.224192", utc) == -(2**63)
    assert parse_timestamp("-290308-12-21 19:59:05.224191", utc) is None


def test_a_time_without_a_date_is_today() -> None:
    today = datetime.now(UTC).date()
    for text in ("T10", "T10:30", "10:30", "10:30:00.5"):
        micros = parse_timestamp(text, zone("UTC"))
        assert micros is not None
        day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)).date()
        assert day - today in (timedelta(0), timedelta(1))
        assert parse_timestamp_ntz(text) is None
    assert parse_timestamp("10", zone("UTC")) is None
    assert parse_timestamp(" T10", zone("UTC")) is None


@pytest.mark.parametrize("name", ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata"])  # fmt: skip
def test_offsets_are_those_of_the_database(name: str) -> None:
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        database = ZoneInfo.from_file(file)
    seconds = np.arange(-3_000_000_000, 6_000_000_000, 987_654)
    moments = [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s) for s in seconds.tolist()]
    known = [moment.astimezone(database).utcoffset() for moment in moments]
    assert [timedelta(seconds=offset) for offset in zone(name).offset_at(seconds).tolist()] == known


def test_rules_go_on_for_ever() -> None:
    vienna = zone("Europe/Vienna")
    cycle = 146_097 * DAY
    summer = days_of(2040, 7, 1)
    assert summer is not None
    times = np.array([summer * DAY + k * cycle for k in range(600)])
    assert set(vienna.offset_at(times).tolist()) == {7200}
    assert set(vienna.offset_of_local(times).tolist()) == {7200}


def test_skipped_and_repeated_hours() -> None:
    vienna = zone("Europe/Vienna")
    gap = np.array([18350 * DAY + 9000])  # 2020-03-29 02:30 does not exist
    assert (gap - vienna.offset_of_local(gap)).tolist() == (gap - 3600).tolist()
    overlap = np.array([18560 * DAY + 9000])  # 2020-10-25 02:30 happens twice
    assert (overlap - vienna.offset_of_local(overlap)).tolist() == (overlap - 7200).tolist()
    assert vienna.resolve(overlap, np.array([3600])).tolist() == (overlap - 3600).tolist()
    assert vienna.resolve(gap, np.array([7200])).tolist() == (gap - 3600).tolist()


def test_a_day_that_begins_late() -> None:
    sao_paulo = zone("America/Sao_Paulo")
    day = days_of(2018, 11, 4)  # the clock went from 00:00 to 01:00
    assert day is not None
    start = sao_paulo.start_of_day(np.array([day]))
    assert start.tolist() == [day * DAY + 3 * 3600]


def test_the_calendar_agrees_with_numpy() -> None:
    days = np.concatenate([np.arange(-800_000, 800_000, 37), np.array([-(2**31), 2**31 - 1])])
    year, month, day = fields_of(days)
    dates = days.astype("datetime64[D]")
    assert (year == dates.astype("datetime64[Y]").astype(int) + 1970).all()
    assert (month == dates.astype("datetime64[M]").astype(int) % 12 + 1).all()
    assert (days_from(year, month, day) == days).all()
    assert (add_months(days, np.array([-14])) <= days - 400).all()


@pytest.mark.parametrize(
    ("format", "text", "seconds"),
    [
        ("yyyy-MM-dd", "1970-01-02", DAY), ("yyyy-M-d", "1970-1-2", DAY), ("yyyyMMdd", "19700102", DAY),
        ("yyyyMMddHHmmss", "19700101000001", 1), ("yyyy-MM-dd HH:mm:ss.SSS", "1970-01-01 00:00:01.5", 1.5),
        ("yyyy-MM-dd HH:mm:ss.SSS", "1970-01-01 00:00:01.1234", None), ("HH:mm", "00:01", 60), ("yyyy", "1971", 365 * DAY),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "1970-01-01t00:00:00z", 0), ("yyyy-MM-dd'T'HH:mm:ssXXX", "1970-01-01T00:00:00+01:00", -3600),
        ("yyyy ss", "1970 20", 20), ("yyyy-MM-dd", "1970-1-2", None), ("yyyy-MM-dd", " 1970-01-02", None),
        ("yyyy-MM-dd", "1970-01-02 ", None), ("yyyy-MM-dd", "1970-02-30", None), ("yyyy-MM-dd HH", "1970-01-01 24", None),
        ("yyyy-MM-dd", "12020-01-01", None), ("yyyy-MM-dd", "+12020-01-01", 317147356800), ("yyyy-MM-dd", "-0000-01-01", None),
        ("yyyy''MM", "1970'01", 0), ("yyyy 'o''clock' MM", "1970 O'CLOCK 01", 0),
    ],
)  # fmt: skip
def test_formats(format: str, text: str, seconds: float | None) -> None:
    assert check(format) is None
    micros = compile_format(format).parse(text, zone("UTC"))
    assert micros == (None if seconds is None else int(seconds * 1_000_000))


@pytest.mark.parametrize(
    ("format", "reason"),
    [
        ("yy-MM-dd", "the pattern letters yy"),
        ("dd MMM yyyy", "the pattern letters MMM"),
        ("YYYY-MM-dd", "the pattern letters YYYY"),
        ("yyyy-MM-dd [HH]", "the character ["),
        ("yyyyMMddHHmmssSSS", "SSS right after ss"),
        ("dMyyyy", "M right after d, which may have any width"),
        ("yyyy yyyy", "the letter y twice"),
        ("yyyy-MM-dd'T", "the character '"),
        ("yyyy1", "a digit that is not quoted"),
        ("", "a pattern without any field of a date or time"),
    ],
)
def test_refused_formats(format: str, reason: str) -> None:
    assert check(format) == reason

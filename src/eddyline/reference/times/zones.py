"""Time zones as Java knows them: by name, by offset, over all microseconds of a bigint.

The rules are those of the package tzdata. Many systems carry other ones for times before 1970 (Debian's have the
"backzone"), which neither Java nor tzdata does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

from eddyline.reference.failure import Failure
from eddyline.reference.times.calendar import DAYS_PER_ERA

SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND

_DATA: Final = resources.files("tzdata")
_EPOCH: Final = datetime(1970, 1, 1)
_ERA_SECONDS: Final = DAYS_PER_ERA * 86_400
# datetime knows the years 1 to 9999. Before year 2 every zone has its first offset for good; from 2400 on the rules
# repeat every 400 years.
_FIRST: Final = int((datetime(2, 1, 1) - _EPOCH).total_seconds())
_LAST: Final = int((datetime(2800, 1, 1) - _EPOCH).total_seconds())


@dataclass(frozen=True)
class WallClock:
    """A zone's wall clock. `region` is None where the offset (in seconds) is fixed."""

    region: ZoneInfo | None
    fixed: int = 0

    def to_local(self, instant: int) -> int:
        """Microseconds of the wall clock at an instant (microseconds since 1970 UTC)."""
        return instant + self.offset_at(instant)

    def offset_at(self, instant: int) -> int:
        """How far the wall clock is ahead of UTC at an instant, in microseconds."""
        if self.region is None:
            return self.fixed * SECOND
        moment = _datetime(instant // SECOND).replace(tzinfo=UTC).astimezone(self.region)
        return _microseconds(moment.utcoffset())

    def offsets_of(self, local: int) -> tuple[int, int]:
        """The offsets at a time of the wall clock.

        Equal as a rule. The first is the larger where the clock shows the time twice (it is the earlier of the
        two), the smaller where the clock jumps over it: then they are those before and after the jump.
        """
        if self.region is None:
            return self.fixed * SECOND, self.fixed * SECOND
        wall = _datetime(local // SECOND).replace(tzinfo=self.region)
        return _microseconds(wall.utcoffset()), _microseconds(wall.replace(fold=1).utcoffset())

    def to_instant(self, local: int, preferred: int | None = None) -> int:
        """The instant at which the wall clock shows a time; as much later as the clock jumps, if it jumps over it.

        Where it is shown twice: with the preferred offset if that is one of the two, else the earlier instant.
        """
        before, after = self.offsets_of(local)
        return local - (after if preferred == after and before > after else before)

    def start_of_day(self, local_midnight: int) -> int:
        """The first instant of a day that begins at this time of the wall clock."""
        before, after = self.offsets_of(local_midnight)
        if before >= after:
            return local_midnight - before
        # Midnight is jumped over: the day begins with the jump. Halve until the second of the jump is found.
        low, high = (local_midnight - after) // SECOND, (local_midnight - before) // SECOND
        while low < high:
            middle = (low + high) // 2
            if self.offset_at(middle * SECOND) == before:
                low = middle + 1
            else:
                high = middle
        return low * SECOND


def _datetime(seconds: int) -> datetime:
    """A wall clock's reading, moved by whole periods of 400 years, or up to year 2, if datetime cannot hold it."""
    if seconds >= _LAST:
        seconds = (seconds - _LAST) % _ERA_SECONDS + _LAST - _ERA_SECONDS
    return _EPOCH + timedelta(seconds=max(seconds, _FIRST))


def _microseconds(offset: timedelta | None) -> int:
    assert offset is not None, "a zone has an offset at all times"
    return offset // timedelta(microseconds=1)


@cache
def zone(name: str) -> WallClock:
    """The zone of an id; fails where Spark knows none.

    >>> zone("+2:30").fixed, zone("GMT-3").fixed, zone("EST").fixed
    (9000, -10800, -18000)
    """
    name = re.sub(r"([+-])(\d):", r"\g<1>0\2:", name, count=1, flags=re.ASCII)
    name = re.sub(r"([+-])(\d\d):(\d)$", r"\1\2:0\3", name, count=1, flags=re.ASCII)
    name = SHORT_NAMES.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return WallClock(None)
    if name[:1] in ("+", "-"):
        return WallClock(None, _offset(name))
    prefix = re.match(r"(UTC|GMT|UT)(?=[+-])", name)
    if prefix is not None:
        return WallClock(None, _offset(name[prefix.end() :]))
    if name not in _names():
        raise Failure(f"no time zone {name!r}")
    with _DATA.joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return WallClock(ZoneInfo.from_file(file, name))


@cache
def _names() -> frozenset[str]:
    """All regions but two that Java leaves out."""
    return frozenset(_DATA.joinpath("zones").read_text("ascii").split()) - {"Factory", "ROC"}


_OFFSET = re.compile(r"([+-])(?:(\d)|(\d\d)(?::?(\d\d)|:(\d\d):(\d\d)|(\d\d)(\d\d))?)", re.ASCII)


def _offset(text: str) -> int:
    """Seconds of +h, +hh, +hhmm, +hh:mm, +hhmmss or +hh:mm:ss, at most 18 hours."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise Failure(f"no time zone {text!r}")
    sign, hour, hours, minutes, *rest = match.groups()
    if any(rest):
        minutes, seconds = (rest[0], rest[1]) if rest[0] else (rest[2], rest[3])
    else:
        seconds = None
    parts = int(hour or hours), int(minutes or 0), int(seconds or 0)
    total = parts[0] * 3600 + parts[1] * 60 + parts[2]
    if parts[1] > 59 or parts[2] > 59 or total > 18 * 3600:
        raise Failure(f"no time zone {text!r}")
    return -total if sign == "-" else total


# java.time.ZoneId.SHORT_IDS
SHORT_NAMES: Final = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}

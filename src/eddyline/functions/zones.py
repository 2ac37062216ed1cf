"""Time zones as Java reads and applies them: names, offsets of instants, and instants of wall-clock times.

A zone is a list of transitions in seconds since 1970, read from the tz database. After the last recorded transition a
zone's rules repeat with the Gregorian calendar every 400 years (146,097 days, whole weeks), so later times are moved
back by whole cycles into the part that is laid out.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from io import BytesIO
from itertools import pairwise
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

Seconds: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

CYCLE: Final = 146_097 * 86_400  # seconds in 400 years
_FIRST_RULE_YEAR: Final = 2038  # from here on only the rules at the end of a zone's file apply
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Zone:
    """Offsets from UTC, in force from transition to transition.

        transitions        t0          t1
        offsets     o0   ──┤──  o1   ──┤──  o2          one more than transitions; in seconds

    Invariant: transitions ascend. A wall-clock time that a transition skips or repeats is read with the offset before
    the transition, as Java does.

    >>> find_zone("Europe/Vienna").offset_at(np.array([0, 1_600_000_000])).tolist()
    [3600, 7200]
    """

    name: str
    transitions: Seconds
    offsets: Seconds
    cyclic_from: int | None = None  # from this second on, the rules of the last 400 years repeat
    _switches: Seconds = field(init=False, repr=False)

    def __post_init__(self) -> None:
        larger = np.maximum(self.offsets[:-1], self.offsets[1:])
        object.__setattr__(self, "_switches", self.transitions + larger)

    @property
    def is_fixed(self) -> bool:
        """Whether one offset always applies."""
        return len(self.transitions) == 0

    def offset_at(self, seconds: Seconds) -> Seconds:
        """Offsets in force at instants, given in whole seconds since 1970-01-01T00:00:00Z."""
        if self.is_fixed:
            return np.broadcast_to(self.offsets, seconds.shape)
        return self.offsets[np.searchsorted(self.transitions, self._fold(seconds)[0], side="right")]

    def offset_of_local(self, local: Seconds) -> Seconds:
        """Offsets by which wall-clock times, in seconds since 1970-01-01T00:00:00, become instants."""
        if self.is_fixed:
            return np.broadcast_to(self.offsets, local.shape)
        return self.offsets[np.searchsorted(self._switches, self._fold(local)[0], side="right")]

    def resolve(self, local: Seconds, preferred: Seconds) -> Seconds:
        """Instants of wall-clock times; where a time occurs twice, the one with the preferred offset if there is."""
        usual = local - self.offset_of_local(local)
        if self.is_fixed:
            return usual
        wanted = local - preferred
        return np.where(self.offset_at(wanted) == preferred, wanted, usual)

    def start_of_day(self, days: Seconds) -> Seconds:
        """Instants at which days (counted from 1970-01-01) begin; where midnight is skipped, the end of the gap."""
        local = days * 86_400
        start = local - self.offset_of_local(local)
        if self.is_fixed:
            return start
        folded, moved = self._fold(local)
        index = np.searchsorted(self._switches, folded, side="right")
        following = self.transitions[np.minimum(index, len(self.transitions) - 1)]
        before = self.offsets[index]
        in_gap = (index < len(self.transitions)) & (folded >= following + before)
        is_gap = self.offsets[np.minimum(index + 1, len(self.offsets) - 1)] > before
        return np.where(in_gap & is_gap, following + moved, start)

    def _fold(self, seconds: Seconds) -> tuple[Seconds, Seconds]:
        """Times after the laid-out rules moved back by whole cycles, and by how much."""
        if self.cyclic_from is None:
            return seconds, np.zeros_like(seconds)
        beyond = np.maximum(0, (seconds - self.cyclic_from) // CYCLE)
        moved = beyond * CYCLE
        return seconds - moved, moved


def _fixed(name: str, offset: int) -> Zone:
    return Zone(name, np.empty(0, np.int64), np.array([offset], np.int64))


# Java's ZoneId.SHORT_IDS.
_SHORT: Final = {
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

_OFFSET: Final = re.compile(
    r"([+-])(?:([0-9])|([0-9]{2})(?::?([0-9]{2}))?|([0-9]{2}):([0-9]{2}):([0-9]{2})|([0-9]{2})([0-9]{2})([0-9]{2}))"
)
_LONGEST_OFFSET: Final = 18 * 3600


@lru_cache(maxsize=4096)
def find_zone(name: str) -> Zone | None:
    """The zone that Spark means by a name, or None if there is no such zone.

    Accepted are regions (`Europe/Vienna`), offsets (`+2`, `+02:00`, `-0230`, `+01:02:03`), `Z`, `UTC`, `GMT` and `UT`
    alone or before an offset, and Java's three-letter names (`PST`).

    >>> find_zone("UTC+3").offsets.tolist(), find_zone("PST").name, find_zone("Europe/Nowhere")
    ([10800], 'America/Los_Angeles', None)
    """
    name = re.sub(r"([+-])([0-9]):", r"\g<1>0\2:", name, count=1)
    name = re.sub(r"([+-])([0-9]{2}):([0-9])\Z", r"\1\2:0\3", name, count=1)
    name = _SHORT.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return _fixed(name, 0)
    if name.startswith(("+", "-")):
        return _offset_zone(name, name)
    for prefix in ("UTC", "GMT", "UT"):
        if name.startswith((prefix + "+", prefix + "-")):
            return _offset_zone(name, name[len(prefix) :])
    return _region(name) if name in _regions() else None


def _offset_zone(name: str, text: str) -> Zone | None:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    sign, one, two, minute, *rest = match.groups()
    parts = [one or two, minute or "0", "0"] if one or two else [part for part in rest if part is not None]
    hours, minutes, seconds = map(int, parts)
    total = hours * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or total > _LONGEST_OFFSET:
        return None
    return _fixed(name, -total if sign == "-" else total)


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    names = resources.files("tzdata").joinpath("zones").read_text("utf-8").split()
    return frozenset(names) - {"EST", "MST", "HST", "Factory"}


def _region(name: str) -> Zone:
    data = resources.files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()
    times, offsets = _transitions(data)
    last = _EPOCH + timedelta(seconds=times[-1]) if times else _EPOCH
    ruled_from = max(_FIRST_RULE_YEAR, last.year + 1)
    later = _rule_transitions(ZoneInfo.from_file(BytesIO(data), name), last, ruled_from)
    transitions, after = _distinct(offsets[0], [*zip(times, offsets[1:], strict=True), *later])
    cyclic_from = _seconds(datetime(ruled_from, 1, 1, tzinfo=UTC)) if later else None
    return Zone(name, np.array(transitions, np.int64), np.array([offsets[0], *after], np.int64), cyclic_from)


def _transitions(data: bytes) -> tuple[list[int], list[int]]:
    """Transition times of a TZif file (its 64-bit part) and the offsets before, between and after them."""
    counts = struct.unpack(">6l", data[20:44])
    isutc, isstd, leap, time, kind, char = counts
    start = 44 + time * 5 + kind * 6 + char + leap * 8 + isstd + isutc
    isutc, isstd, leap, time, kind, char = struct.unpack(">6l", data[start + 20 : start + 44])
    body = start + 44
    times = list(struct.unpack(f">{time}q", data[body : body + 8 * time]))
    index = data[body + 8 * time : body + 9 * time]
    kinds = [
        struct.unpack(">lbb", data[body + 9 * time + 6 * i : body + 9 * time + 6 * i + 6])[0]
        for i in range(kind)
    ]
    return times, [kinds[0], *(kinds[i] for i in index)]


def _rule_transitions(zone: ZoneInfo, last: datetime, ruled_from: int) -> list[tuple[int, int]]:
    """Transitions after the last recorded one by the rules at the end of the file, through one cycle and a year."""
    changes = [change for year in range(last.year, ruled_from + 402) for change in _changes(zone, year)]
    return [change for change in changes if change[0] > _seconds(last)]


def _changes(zone: ZoneInfo, year: int) -> list[tuple[int, int]]:
    """Changes of the offset within a year, looked for between the beginnings of its months."""
    marks = [_seconds(datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)) for month in range(13)]
    found = []
    for low, high in pairwise(marks):
        before, after = _offset(zone, low), _offset(zone, high)
        if before != after:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
            found.append((high, after))
    return found


def _offset(zone: ZoneInfo, seconds: int) -> int:
    offset = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
    assert offset is not None, "a zone of the database has offsets"
    return int(offset.total_seconds())


def _seconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds())


def _distinct(first: int, changes: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Transitions that change the offset; others change only the name of the time."""
    times: list[int] = []
    offsets = [first]
    for time, offset in changes:
        if offset != offsets[-1]:
            times.append(time)
            offsets.append(offset)
    return times, offsets[1:]

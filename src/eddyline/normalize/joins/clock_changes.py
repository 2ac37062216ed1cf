"""How far the wall clock of a zone is set forward or back within some time."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from eddyline.functions.zones import Zone, find_zone

SECOND: Final = 1_000_000


def has_changes(time_zone: str) -> bool:
    """Whether the wall clock of a zone was ever set to another offset.

    >>> has_changes("Europe/Berlin"), has_changes("+05:30")
    (True, False)
    """
    return not _zone(time_zone).is_fixed


def all_changes(time_zone: str) -> int:
    """The largest difference between any two offsets of a zone, in microseconds."""
    return int(np.ptp(_zone(time_zone).offsets)) * SECOND


@lru_cache(maxsize=1024)
def largest_change(time_zone: str, within: int) -> int:
    """The largest difference between offsets at two moments that are at most so far apart, in microseconds both.

    >>> largest_change("Europe/Berlin", SECOND) == 3600 * SECOND, largest_change("UTC", SECOND)
    (True, 0)
    """
    zone = _zone(time_zone)
    if zone.is_fixed:
        return 0
    longest = int(np.ptp(zone.transitions))  # beyond it nothing changes, and sums might not fit into 64 bits
    reach = zone.transitions + min(-(-within // SECOND), longest)
    ends = np.searchsorted(zone.transitions, reach, side="right")
    return max(int(np.ptp(zone.offsets[start : end + 1])) for start, end in enumerate(ends)) * SECOND


def _zone(time_zone: str) -> Zone:
    zone = find_zone(time_zone)
    assert zone is not None, f"the time zone {time_zone} was checked where it came in"
    return zone

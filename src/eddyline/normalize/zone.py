"""Whether a session time zone has one offset for all times."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SECOND: Final = 1_000_000
_UTC: Final = frozenset(
    {"UTC", "GMT", "UT", "Z", "Etc/UTC", "Etc/GMT", "Zulu", "Etc/Zulu", "Universal", "Etc/UCT"}
)
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


@lru_cache(maxsize=256)
def fixed_offset(time_zone: str) -> int | None:
    """Microseconds that the wall clock is ahead of UTC; None for a zone whose offset changes or is not known.

    >>> fixed_offset("UTC"), fixed_offset("+05:30") == 5.5 * 3_600_000_000, fixed_offset("Europe/Berlin")
    (0, True, None)
    """
    if time_zone in _UTC:
        return 0
    found = _OFFSET.fullmatch(time_zone)
    if found is None:
        return None
    sign, hours, minutes, seconds = found.groups()
    total = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return (-total if sign == "-" else total) * _SECOND

"""What waits to be read, as the progress of a streaming query tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

# Metrics of sources that tell what is left, and what we call it: Delta's and those that follow it.
_OUTSTANDING: Final = {"numFilesOutstanding": "files", "numBytesOutstanding": "bytes"}


def backlog_in(progress: Mapping[str, Any]) -> dict[str, int]:
    """What waited when the last batch ended, by its unit; nothing where the source does not say.

    Sources that read partitions by offsets (Kafka) say how far they have read and how far they could have:

    >>> source = {"endOffset": {"quotes": {"0": 5, "1": 7}}, "latestOffset": {"quotes": {"0": 9, "1": 8}}}
    >>> backlog_in({"sources": [source]})
    {'offsets': 5}
    """
    found: dict[str, int] = {}
    for source in progress.get("sources") or ():
        metrics = source.get("metrics") or {}
        told = {unit: _number(metrics.get(name)) for name, unit in _OUTSTANDING.items()}
        told["offsets"] = _behind(source.get("endOffset"), source.get("latestOffset"))
        for unit, count in told.items():
            if count is not None:
                found[unit] = found.get(unit, 0) + count
    return found


def _behind(read: Any, latest: Any) -> int | None:
    """How many offsets lie between two places; None where they are not offsets by partition."""
    ends, last = _partitions(read), _partitions(latest)
    if not last:
        return None
    return sum(max(0, offset - ends.get(partition, offset)) for partition, offset in last.items())


def _partitions(place: Any) -> dict[tuple[str, str], int]:
    """Offsets by topic and partition."""
    try:
        topics = json.loads(place) if isinstance(place, str) else place
        return {
            (topic, partition): int(offset)
            for topic, partitions in topics.items()
            for partition, offset in partitions.items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}


def _number(value: Any) -> int | None:
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None

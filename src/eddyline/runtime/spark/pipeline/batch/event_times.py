"""Event times of tuples: as results have them, and the newest of a task."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.runtime.spark.pipeline.batch.result_rows import TIME

# Microseconds since 1970. What is further away is a mistake in a row: Python's moments begin with the year 1.
EARLIEST: Final = -62_135_596_800_000_000
LATEST: Final = 250_000_000_000_000_000  # in the year 9892
_MOST_DAYS: Final = 106_751_990  # whose microseconds fit into 64 bits, in any time zone


def as_event_times(times: pa.Array, time_zone: str) -> pa.Array | None:
    """A stream's event times as points in time, NULL where one is too far away; None where the column has no times."""
    if pa.types.is_date(times.type):
        times = _midnights(times)
    if not pa.types.is_timestamp(times.type):
        return None
    if times.type.tz is None:
        times = pc.assume_timezone(times, time_zone, ambiguous="earliest", nonexistent="earliest")
    return times.cast(TIME)


def newest_event(batch: pa.RecordBatch, name: str | None, time_zone: str, before: int | None) -> int | None:
    """The latest event time of a batch and of what came before it, in microseconds since 1970.

    Only the latest value is turned into a point in time: a batch may have a hundred thousand of them.

    >>> import datetime
    >>> day = pa.record_batch({"day": pa.array([datetime.date(1970, 1, 2), None])})
    >>> newest_event(day, "day", "UTC", None), newest_event(day, None, "UTC", 7)
    (86400000000, 7)
    """
    if name is None:
        return before
    column = batch.column(name)
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return before
    times = as_event_times(pa.repeat(pc.max(column), 1), time_zone)
    newest = None if times is None else times.cast(pa.int64())[0].as_py()
    known = [one for one in (before, newest) if one is not None and EARLIEST <= one <= LATEST]
    return max(known, default=None)


def _midnights(days: pa.Array) -> pa.Array:
    try:
        return days.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:  # some day is too far away
        numbers = days.cast(pa.int32())
        is_near = pc.and_(pc.greater_equal(numbers, -_MOST_DAYS), pc.less_equal(numbers, _MOST_DAYS))
        return pc.if_else(is_near, days, None).cast(pa.timestamp("us"))

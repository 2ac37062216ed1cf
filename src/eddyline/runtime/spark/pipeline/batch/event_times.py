"""Event times of tuples: as results have them, and the newest of a task."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.runtime.spark.pipeline.batch.result_rows import TIME

MOST: Final = (
    250_000_000_000_000_000  # microseconds, some 8,000 years: what is further away is a mistake in a row
)


def as_event_times(times: pa.Array, time_zone: str) -> pa.Array | None:
    """A stream's event times as points in time; None where the column has no times."""
    if pa.types.is_date(times.type):
        times = times.cast(pa.timestamp("us"))
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
    try:
        times = as_event_times(pa.repeat(pc.max(column), 1), time_zone)
    except pa.ArrowInvalid:  # a time so far away that its zone cannot be computed
        return before
    newest = None if times is None else times.cast(pa.int64())[0].as_py()
    known = [one for one in (before, newest) if one is not None and abs(one) <= MOST]
    return max(known, default=None)

"""Joins to test with: two streams with columns of many types, any of their times as event time, and conditions as text."""

from __future__ import annotations

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.join import BoundJoin
from eddyline.model.query import Query
from eddyline.sql import bind

COLUMNS = pa.schema(
    [
        ("symbol", pa.string()),
        ("venue", pa.string()),
        ("price", pa.float64()),
        ("size", pa.int32()),
        ("flag", pa.bool_()),
        ("tags", pa.list_(pa.string())),
        ("small", pa.int16()),
        ("tick", pa.int32()),
        ("seq", pa.int64()),
        ("day", pa.date32()),
        ("wall", pa.timestamp("us")),
        ("ts", pa.timestamp("us", "UTC")),
    ]
)


def streams(first: str = "ts", second: str = "", lateness: Length | None = None) -> dict[str, Stream]:
    """The streams `quotes` and `trades`, with these columns as event times."""
    late: dict[str, Length] = {"ts": "10 seconds", "wall": "10 seconds", "day": "1 day"}
    return {
        name: Stream(name, COLUMNS, event_time=time, lateness=lateness or late.get(time, 10))
        for name, time in (("quotes", first), ("trades", second or first))
    }


def bound_join(where: str, known: dict[str, Stream], time_zone: str = "UTC") -> BoundJoin:
    """`quotes q JOIN trades t` under a condition."""
    query = Query("j", f"SELECT q.symbol FROM quotes q JOIN trades t ON {where}")
    bound = bind(query, known.values(), time_zone=time_zone)
    assert isinstance(bound, BoundJoin), "two sources are joined"
    return bound

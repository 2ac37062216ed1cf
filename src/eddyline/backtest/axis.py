"""The axis that counts stand over: event time, a numeric column, or the number of the row.

A bucket's width is always a step of a ladder, each step a multiple of the one before, so that buckets merge exactly and
their borders are the ones that people read on a clock:

    1 s   5 s   10 s   30 s   1 min   5 min   10 min   30 min   1 h   2 h   6 h   12 h   1 d   2 d   4 d ...
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.errors import SchemaError
from eddyline.functions.zones import Zone, find_zone
from eddyline.model.arrays import Flags
from eddyline.model.catalog import Stream

Positions = npt.NDArray[np.int64]

_LAST: Final = 2**62  # no step is wider
_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND
_EPOCH: Final = datetime(1970, 1, 1)


def _plain_steps() -> tuple[int, ...]:
    steps = [1]
    while steps[-1] * 5 <= _LAST:
        steps.append(steps[-1] * (5 if len(steps) % 2 else 2))
    return tuple(steps)


def _time_steps() -> tuple[int, ...]:
    short = [step for step in _plain_steps() if step < _SECOND]
    clock = [seconds * _SECOND for seconds in (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200)]
    days = [_DAY << power for power in range(24)]
    return (*short, *clock, *days)


PLAIN_STEPS: Final = _plain_steps()
TIME_STEPS: Final = _time_steps()
assert all(wide % narrow == 0 for steps in (PLAIN_STEPS, TIME_STEPS) for narrow, wide in pairwise(steps))

_UNITS: Final = (
    (_DAY, "d"),
    (3600 * _SECOND, "h"),
    (60 * _SECOND, "min"),
    (_SECOND, "s"),
    (1000, "ms"),
    (1, "µs"),
)


@dataclass(frozen=True)
class Axis:
    """Where rows stand: `column` gives the place, or without one the row's own number."""

    kind: str  # "time", "number" or "row"
    column: str | None = None
    zone: Zone | None = None  # in which times are shown; None: as they are

    @property
    def steps(self) -> tuple[int, ...]:
        """Widths that buckets may have."""
        return TIME_STEPS if self.kind == "time" else PLAIN_STEPS

    def positions(self, batch: pa.RecordBatch, first: int) -> tuple[Positions, Flags | None]:
        """The place of each row, and which rows have one; None: all. The batch's first row has the number `first`."""
        if self.column is None:
            return np.arange(first, first + batch.num_rows, dtype=np.int64), None
        column = batch.column(batch.schema.names.index(self.column))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_date(column.type):
            column = column.cast(pa.timestamp("us"))
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        known = np.asarray(column.is_valid()) if column.null_count else None
        return np.asarray(pc.fill_null(column.cast(pa.int64()), 0)), known

    def text(self, position: int) -> str:
        """A place in words.

        >>> Axis("time", "at").text(90_000_000), Axis("row").text(7)
        ('1970-01-01 00:01:30', '7')
        """
        if self.kind != "time":
            return str(position)
        seconds = np.array([position // _SECOND], np.int64)
        shift = 0 if self.zone is None else int(self.zone.offset_at(seconds)[0])
        try:
            return (_EPOCH + timedelta(microseconds=position, seconds=shift)).isoformat(" ")
        except OverflowError:  # before the year 1 or after 9999
            return f"{position} µs"

    def step_text(self, width: int) -> str:
        """A width in words.

        >>> Axis("time").step_text(600_000_000), Axis("row").step_text(50)
        ('10 min', '50')
        """
        if self.kind != "time":
            return str(width)
        unit, name = next((unit, name) for unit, name in _UNITS if width % unit == 0)
        return f"{width // unit} {name}"


def axis_of(stream: Stream, column: str | None, time_zone: str) -> Axis:
    """The axis of a stream: the column asked for, else its event time, else the number of the row."""
    wanted = column or stream.event_time
    if wanted is None:
        return Axis("row")
    name = stream.spelling.get(wanted.lower())
    if name is None:
        raise SchemaError(
            f'stream "{stream.name}" has no column "{wanted}" to count over',
            hint=f"its columns are {', '.join(stream.schema.names[:12])}",
        )
    kind = _value_type(stream.schema.field(name).type)
    if pa.types.is_timestamp(kind):
        return Axis("time", name, find_zone(time_zone) if kind.tz is not None else None)
    if pa.types.is_date(kind):
        return Axis("time", name)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return Axis("number", name)
    raise SchemaError(
        f'column "{name}" of stream "{stream.name}" has the type {kind}, which is no time to count over',
        hint="choose a column of timestamps, dates or whole numbers",
    )


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind

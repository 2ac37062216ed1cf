"""The streams `orders` and `fills`: columns of every type that may be a key, few values in each, so that tuples meet.

Any of five columns may be the event time. Times of a script lie around changes of the clock, a few steps from one another.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.model.event_time import DAY, Length

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND
_INTS: Final = (0, 1, 2, 3)
_DAYS: Final = (18_348, 18_349, 18_350)  # to 2020-03-29, when clocks change in Europe
_MOMENTS: Final = (
    *(day * DAY for day in _DAYS),
    18_350 * DAY + HOUR,
    18_350 * DAY - 4 * HOUR,
    18_349 * DAY + 1,
)

# column, Arrow type, its values beside NULL
_COLUMNS: Final[tuple[tuple[str, pa.DataType, tuple[Any, ...]], ...]] = (
    ("b1", pa.bool_(), (True, False)),
    ("i8", pa.int8(), (*_INTS, 127)),
    ("i16", pa.int16(), (*_INTS, -(2**15))),
    ("i32", pa.int32(), (*_INTS, -1, 2**31 - 1)),
    ("i64", pa.int64(), (*_INTS, -1, 2**53 + 1, -(2**63))),
    ("f32", pa.float32(), (0.0, -0.0, 1.0, 2.0, 2.5, math.nan, math.inf)),
    ("f64", pa.float64(), (0.0, -0.0, 1.0, 2.0, 2.5, math.nan, -math.inf, 2.0**53)),
    ("d5", pa.decimal128(5, 2), tuple(map(Decimal, ("0.00", "1.00", "2.00", "2.50", "-1.00", "999.99")))),
    ("d18", pa.decimal128(18, 6), tuple(map(Decimal, ("0", "1", "2", "2.5", "2.500001")))),
    ("s1", pa.string(), ("", "a", "A", "b", "ß", "1", "a\0", "a longer text")),
    ("n1", pa.string(), ("0", "1", " 2 ", "2.5", "-0.0", "NaN", "x")),
    ("t1", pa.string(), ("2020-03-28", "2020-03-29", "2020-03-29 01:00:00", "x")),
    ("x1", pa.binary(), (b"", b"a", b"A", b"b", b"\xff")),
    ("day1", pa.date32(), _DAYS),
    ("ts1", pa.timestamp("us", tz="UTC"), _MOMENTS),
    ("ntz1", pa.timestamp("us"), _MOMENTS),
    ("ai", pa.list_(pa.int32()), ([], [1], [1, 2], [None])),
)
_TIMES: Final[tuple[tuple[str, pa.DataType], ...]] = (
    ("at", pa.timestamp("us", tz="UTC")),
    ("wall", pa.timestamp("us")),
    ("on_day", pa.date32()),
    ("seq", pa.int64()),
    ("tick", pa.int32()),
)
SCHEMA: Final = pa.schema(
    [
        ("number", pa.int64()),
        *((name, kind) for name, kind, _ in _COLUMNS),
        *_TIMES,
    ]  # number: the tuple's position
)
ORDERS, FILLS = "orders", "fills"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TimeScale:
    """How event times of a script advance: by `step` units from `start` on; `name` is how SQL calls a step."""

    step: int
    start: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class JoinStreams:
    """The two streams of a script, and the scale of their event times."""

    orders: Stream
    fills: Stream
    scale: TimeScale
    zone: str

    @property
    def both(self) -> tuple[Stream, Stream]:
        """Both of them."""
        return self.orders, self.fills


ZONES: Final = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
_CHANGES: Final = {  # in seconds
    "UTC": (0, 1_585_443_600),
    "Europe/Berlin": (1_585_443_600, 1_603_587_600),
    "America/New_York": (1_583_650_800, 1_604_210_400),
    "Asia/Kolkata": (1_585_443_600,),
}


def draw_streams(random_: random.Random, *, plain: bool = False) -> JoinStreams:
    """Streams with one kind of event time; with `plain`, one that all engines compute alike."""
    zone = "UTC" if plain else random_.choice(ZONES)
    times = random_.choice((("wall",), ("on_day",), ("seq",)) if plain else _EVENT_TIMES)
    first, second = random_.choice(times), random_.choice(times)
    scale = _scale(random_, first, zone)
    orders, fills = (_stream(random_, name, time, scale) for name, time in ((ORDERS, first), (FILLS, second)))
    return JoinStreams(orders, fills, scale, zone)


_EVENT_TIMES: Final = (("at",), ("at",), ("wall",), ("on_day",), ("seq",), ("seq", "tick"))


def _scale(random_: random.Random, time: str, zone: str) -> TimeScale:
    if time == "on_day":
        return TimeScale(1, random_.choice((0, 18_349, -5)), "DAYS")
    if time in ("at", "wall"):
        step, name = random_.choice(
            ((SECOND, "SECONDS"), (HOUR, "HOURS"), (DAY, "DAYS"), (1, "MICROSECONDS"))
        )
        return TimeScale(step, random_.choice(_CHANGES[zone]) * SECOND - random_.randint(0, 6) * step, name)
    return TimeScale(1, random_.choice((0, -5, 2**31 - 12)))


def _stream(random_: random.Random, name: str, time: str, scale: TimeScale) -> Stream:
    steps = random_.choice((0, 2, 5, 5, 1000))
    lateness: Length = steps if time in ("seq", "tick") else f"{steps * scale.step} microseconds"
    if time == "on_day":
        lateness = f"{steps} days"
    return Stream(name, SCHEMA, event_time=time, lateness=lateness)


def draw_rows(
    random_: random.Random, stream: Stream, scale: TimeScale, first: int, count: int, *, plain: bool = False
) -> list[dict[str, Any]]:
    """Rows of a stream that come as its tuples number `first` and following; `plain` ones are no trouble to anybody."""
    return [_row(random_, stream, scale, first + number, plain) for number in range(count)]


def _row(
    random_: random.Random, stream: Stream, scale: TimeScale, number: int, plain: bool
) -> dict[str, Any]:
    row = {name: _value(random_, values[:4] if plain else values) for name, _, values in _COLUMNS}
    row |= {name: None for name, _ in _TIMES}
    assert stream.event_time is not None, "streams of scripts have one"
    row[stream.event_time] = _time(random_, stream.event_time, scale, number)
    return row


def _value(random_: random.Random, values: Sequence[Any]) -> Any:
    """One of the first values as a rule, so that tuples meet; now and then NULL, or any of them."""
    draw = random_.random()
    return None if draw < 0.08 else random_.choice(values if draw < 0.4 else values[:3])


def _time(random_: random.Random, column: str, scale: TimeScale, number: int) -> int | None:
    """Mostly a few steps from where the stream is; now and then NULL, far behind, or out of range."""
    draw = random_.random()
    if draw < 0.03:
        return None
    if draw < 0.04 and column in ("at", "wall", "seq"):
        return random_.choice((2**62, -(2**62), 2**63 - 1))
    behind = random_.randint(0, 40) if draw < 0.1 else 0
    nudge = random_.choice((0, 0, 0, 1, -1)) if scale.step > 1 else 0
    time = scale.start + (number // 2 + random_.randint(-2, 2) - behind) * scale.step + nudge
    return min(time, 2**31 - 1) if column == "tick" else time


def batch_of(rows: Sequence[Row], numbers: Sequence[int]) -> pa.RecordBatch:
    """Rows and their positions as a batch, values in the form of `model.types`; what a row does not name is NULL.

    >>> batch_of([{"i32": 5}], [0]).select(["number", "i32"]).to_pylist()
    [{'number': 0, 'i32': 5}]
    """
    numbered = [{**row, "number": number} for row, number in zip(rows, numbers, strict=True)]
    columns = [_array([row.get(column.name) for row in numbered], column.type) for column in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    return pa.array(values, kind)

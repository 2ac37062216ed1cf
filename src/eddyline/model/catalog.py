"""Streams: a name, an Arrow schema, and Spark's type for every column that has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.model import types as t
from eddyline.model.event_time import (
    EventTime,
    Length,
    is_event_time,
    length_in_units,
    length_text,
    microseconds,
)
from eddyline.model.expression import Column
from eddyline.model.query import Output

DEFAULT_AHEAD: Final = "1 day"  # one tuple from the far future would make all others late


@dataclass(frozen=True)
class Stream:
    """A named flow of tuples of one schema.

    Joins want to know its `event_time`, a column, and its `lateness`: how far behind the latest tuple another one may come
    and still be joined. Tuples further `ahead` of the clock than a day, or than is said here, are left out of joins. A
    stream that is `idle` for so long does not hold back the others. Lengths are written as "10 seconds", or as a number
    where the event time is a whole number.

    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> {name: str(kind) for name, kind in quotes.types.items()}
    {'symbol': 'string', 'price': 'double'}
    """

    name: str
    schema: pa.Schema
    event_time: str | None = None
    lateness: Length | None = None
    ahead: Length | None = None
    idle: Length | None = None
    types: dict[str, t.DataType] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise SchemaError("a stream needs a name")
        repeated = _repeated([name.lower() for name in self.schema.names])
        if repeated is not None:
            raise SchemaError(
                f'stream "{self.name}" has the column "{repeated}" twice (names are compared without case)',
                hint="rename one of them",
            )
        if self.event_time is not None and self.event_time not in self.schema.names:
            raise SchemaError(f'stream "{self.name}" has no column "{self.event_time}" to be its event time')
        said = [length for length in (self.lateness, self.ahead, self.idle) if length is not None]
        if said and self.event_time is None:
            raise SchemaError(
                f'stream "{self.name}" has no event time, which lateness, ahead and idle speak of',
                hint='Stream(..., event_time="ts", lateness="10 seconds")',
            )
        kinds = {column.name: spark_type(column.type) for column in self.schema}
        object.__setattr__(self, "types", {name: kind for name, kind in kinds.items() if kind is not None})
        if said:
            self._settle_lengths()

    def _settle_lengths(self) -> None:
        """Have equal lengths written alike, so that streams that say the same are equal."""
        assert self.event_time is not None, "checked before"
        kind = self.types.get(self.event_time)
        if kind is None or not is_event_time(kind):
            raise SchemaError(
                f'the event time "{self.event_time}" of stream "{self.name}" has the type {kind}',
                hint="joins need a timestamp, a date or a whole number",
            )
        if self.ahead is not None and kind in t.INTEGRAL:
            raise SchemaError(
                f'the event time "{self.event_time}" of stream "{self.name}" is a whole number, which no clock shows',
                hint="leave ahead out",
            )
        for name, of_kind in (("lateness", kind), ("ahead", kind), ("idle", t.TIMESTAMP)):
            given = getattr(self, name)
            if given is not None:
                units = length_in_units(given, of_kind, name)
                settled = units if of_kind in t.INTEGRAL else length_text(units, of_kind)
                object.__setattr__(self, name, settled)

    @cached_property
    def times(self) -> EventTime | None:
        """Its event time as joins see it; None if it has none, or one that cannot be compared with others."""
        kind = None if self.event_time is None else self.types.get(self.event_time)
        if self.event_time is None or kind is None or not is_event_time(kind):
            return None
        ahead = self.ahead if self.ahead is not None or kind in t.INTEGRAL else DEFAULT_AHEAD
        lateness, ahead_units = (
            None if length is None else length_in_units(length, kind, "") for length in (self.lateness, ahead)
        )
        idle = None if self.idle is None else microseconds(self.idle, "idle")
        return EventTime(self.event_time, kind, lateness, ahead_units, idle)

    def __hash__(self) -> int:
        return hash(self.name)  # that of a schema takes milliseconds where it has thousands of columns

    @cached_property
    def spelling(self) -> dict[str, str]:
        """Column names as the schema spells them, by their lower-case form."""
        return {name.lower(): name for name in self.schema.names}

    @cached_property
    def everything(self) -> tuple[Output, ...]:
        """What `SELECT *` gives: every column under its own name."""
        return tuple(Output(name, Column(name, self.types.get(name, t.VOID))) for name in self.schema.names)


def distinct_streams(streams: Iterable[Stream]) -> list[Stream]:
    """Streams of which no two have one name; a `SchemaError` where two have (names are compared without case)."""
    known: dict[str, Stream] = {}
    for stream in streams:
        if stream.name.lower() in known:
            first = known[stream.name.lower()].name
            named = f'"{first}"' if first == stream.name else f'"{first}" or "{stream.name}"'
            raise SchemaError(
                f"two streams have the name {named} (names are compared without case)",
                hint="rename one of them",
            )
        known[stream.name.lower()] = stream
    return list(known.values())


def find_stream(streams: Mapping[str, Stream], name: str | None) -> Stream:
    """The stream of a name, given as it is spelled or in another case; without a name, the only one that there is.

    `streams` are by their own names, of which no two differ in case alone.

    >>> quotes = Stream("quotes", pa.schema([("price", pa.float64())]))
    >>> find_stream({"quotes": quotes}, "QUOTES").name
    'quotes'
    """
    if name is None and len(streams) == 1:
        return next(iter(streams.values()))
    if isinstance(name, str):
        if name in streams:
            return streams[name]
        for stream in streams.values():
            if stream.name.lower() == name.lower():
                return stream
    problem = "no stream is named" if name is None else f'stream "{name}" is not known'
    raise SchemaError(problem, hint=f"name one of {', '.join(streams)}" if streams else "declare it")


def _repeated(names: list[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


_ATOMIC = {
    pa.bool_(): t.BOOLEAN,
    pa.int8(): t.BYTE,
    pa.int16(): t.SHORT,
    pa.int32(): t.INT,
    pa.int64(): t.LONG,
    pa.uint8(): t.SHORT,
    pa.uint16(): t.INT,
    pa.uint32(): t.LONG,
    pa.uint64(): t.DecimalType(20, 0),
    pa.float16(): t.FLOAT,
    pa.float32(): t.FLOAT,
    pa.float64(): t.DOUBLE,
    pa.string(): t.STRING,
    pa.large_string(): t.STRING,
    pa.string_view(): t.STRING,
    pa.binary(): t.BINARY,
    pa.large_binary(): t.BINARY,
    pa.binary_view(): t.BINARY,
    pa.date32(): t.DATE,
    pa.date64(): t.DATE,
    pa.null(): t.VOID,
}


def spark_type(arrow: pa.DataType) -> t.DataType | None:
    """Spark's type for an Arrow type: unsigned integers as the next wider signed; None where there is none.

    >>> str(spark_type(pa.uint32())), str(spark_type(pa.timestamp("ns"))), spark_type(pa.time32("s"))
    ('bigint', 'timestamp_ntz', None)
    """
    if isinstance(arrow, pa.BaseExtensionType):  # first, for those that are defined in Python have no hash
        return spark_type(arrow.storage_type)
    if arrow in _ATOMIC:
        return _ATOMIC[arrow]
    if pa.types.is_decimal(arrow):
        fits = arrow.precision <= t.MAX_PRECISION and 0 <= arrow.scale <= arrow.precision
        return t.DecimalType(arrow.precision, arrow.scale) if fits else None
    if pa.types.is_timestamp(arrow):
        return t.TIMESTAMP_NTZ if arrow.tz is None else t.TIMESTAMP
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return spark_type(arrow.value_type)
    if pa.types.is_fixed_size_binary(arrow):
        return t.BINARY
    if pa.types.is_duration(arrow):
        return t.DAY_TIME
    return _nested_type(arrow)


_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def _nested_type(arrow: pa.DataType) -> t.DataType | None:
    if pa.types.is_struct(arrow):
        fields = [(column.name, spark_type(column.type)) for column in arrow]
        known = tuple((name, kind) for name, kind in fields if kind is not None)
        return t.StructType(known) if len(known) == len(fields) else None
    if pa.types.is_map(arrow):
        key, value = spark_type(arrow.key_type), spark_type(arrow.item_type)
        return None if key is None or value is None else t.MapType(key, value)
    if any(is_list(arrow) for is_list in _LISTS):
        element = spark_type(arrow.value_type)
        return None if element is None else t.ArrayType(element)
    return None

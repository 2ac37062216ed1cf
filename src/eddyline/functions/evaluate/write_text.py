"""Conversion to text, as Spark writes values of each type."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.civil import fields_of
from eddyline.functions.evaluate.arrays import Numbers, Outcome, numbers
from eddyline.functions.evaluate.cast_times import local_seconds, zone_of
from eddyline.functions.evaluate.each_value import each_value
from eddyline.functions.number_text import double_text, float_text
from eddyline.functions.time_text import MICROS_PER_DAY, MICROS_PER_SECOND, date_text, time_text
from eddyline.functions.zones import Zone
from eddyline.model import types as t


def _write(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return each_value(writer(source, zone), [array], [source], target)


def _write_plain(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return Outcome(pc.cast(array, pa.string()))


def _from_binary(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return Outcome(array.view(pa.string()))


def _write_times(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Dates and timestamps: all fields of all distinct ones taken apart at once."""
    encoded = array.dictionary_encode()
    distinct = numbers(encoded.dictionary).astype(np.int64)
    if source == t.DATE:
        texts = _date_texts(distinct)
    else:
        seconds, rest = local_seconds(distinct, zone_of(source, zone))
        of_day = (seconds % 86_400) * MICROS_PER_SECOND + rest
        days = _date_texts(seconds // 86_400)
        texts = [f"{day} {time_text(micros)}" for day, micros in zip(days, of_day.tolist(), strict=True)]
    return Outcome(pa.array(texts, pa.string()).take(encoded.indices))


def _date_texts(days: Numbers) -> list[str]:
    return list(map(date_text, *(field.tolist() for field in fields_of(days))))


def writer(kind: t.DataType, zone: Zone) -> Callable[[Any], str]:
    """A function that writes one Python value of the type.

    >>> from eddyline.functions.zones import find_zone
    >>> writer(t.ArrayType(t.DATE), find_zone("UTC"))([0, None])
    '[1970-01-01, null]'
    """
    if isinstance(kind, t.ArrayType):
        element = _or_null(writer(kind.element, zone))
        return lambda value: f"[{', '.join(map(element, value))}]"
    if isinstance(kind, t.MapType):
        key, item = writer(kind.key, zone), _or_null(writer(kind.value, zone))
        return lambda value: f"{{{', '.join(f'{key(k)} -> {item(v)}' for k, v in value)}}}"
    if isinstance(kind, t.StructType):
        fields = [_or_null(writer(field, zone)) for _, field in kind.fields]
        return lambda value: f"{{{', '.join(f(v) for f, v in zip(fields, value, strict=True))}}}"
    if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        shown = zone_of(kind, zone)
        return lambda micros: _timestamp_text(micros, shown)
    return _ATOMIC[kind.name]


def _or_null(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "null" if value is None else write(value)


def _date_text(days: int) -> str:
    return _date_texts(np.array([days]))[0]


def _timestamp_text(micros: int, zone: Zone) -> str:
    seconds = micros // MICROS_PER_SECOND
    local = micros + int(zone.offset_at(np.array([seconds]))[0]) * MICROS_PER_SECOND
    return f"{_date_text(local // MICROS_PER_DAY)} {time_text(local % MICROS_PER_DAY)}"


def _day_time_text(micros: int) -> str:
    sign, size = ("-" if micros < 0 else ""), abs(micros)
    return f"INTERVAL '{sign}{size // MICROS_PER_DAY} {time_text(size % MICROS_PER_DAY)}' DAY TO SECOND"


def _year_month_text(months: int) -> str:
    sign, size = ("-" if months < 0 else ""), abs(months)
    return f"INTERVAL '{sign}{size // 12}-{size % 12}' YEAR TO MONTH"


def _decimal_text(value: Decimal) -> str:
    return f"{value:f}"


def _bytes_text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


_ATOMIC: Final[dict[str, Callable[[Any], str]]] = {
    "boolean": lambda value: "true" if value else "false",
    "tinyint": str,
    "smallint": str,
    "int": str,
    "bigint": str,
    "float": float_text,
    "double": double_text,
    "decimal": _decimal_text,
    "string": str,
    "binary": _bytes_text,
    "date": _date_text,
    t.DAY_TIME.name: _day_time_text,
    t.YEAR_MONTH.name: _year_month_text,
    "void": lambda value: "null",
}

CONVERSIONS: Final[dict[tuple[str, str], Callable[[pa.Array, t.DataType, t.DataType, Zone], Outcome]]] = {
    **{
        (source, "string"): _write
        for source in (
            *("fractional", "decimal", "array", "map", "struct"),
            *(t.DAY_TIME.name, t.YEAR_MONTH.name),
        )
    },
    **{(source, "string"): _write_times for source in ("date", "timestamp", "timestamp_ntz")},
    ("integral", "string"): _write_plain,
    ("boolean", "string"): _write_plain,
    ("binary", "string"): _from_binary,
}

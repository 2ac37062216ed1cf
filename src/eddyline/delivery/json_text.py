"""Tables as JSON lines, column by column: text is made for a whole column at once wherever that is possible."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.kinds import is_bytes, is_text
from eddyline.functions.civil import fields_of
from eddyline.functions.time_text import date_text, time_text

_FAR: Final = "out of range"  # what Arrow writes for a timestamp beyond the year 32767


def json_lines(table: pa.Table | pa.RecordBatch) -> pa.Array:
    """One object a row, as text; columns that share a name get numbers.

    >>> json_lines(
    ...     pa.table({"query": ["a"], "price": [1.5], "at": pa.array([0], pa.timestamp("s"))})
    ... ).to_pylist()
    ['{"query":"a","price":1.5,"at":"1970-01-01T00:00:00"}']
    """
    parts: list[Any] = []
    for number, (name, column) in enumerate(zip(unique(table.schema.names), table.columns, strict=True)):
        parts += [("," if number else "{") + json.dumps(name, ensure_ascii=False) + ":", encoded(column)]
    if not parts:
        return pa.array(["{}"] * table.num_rows)
    return pc.binary_join_element_wise(*parts, "}", "")


def unique(names: Sequence[str]) -> list[str]:
    """Names that all differ, without regard to case: the second `a` is `a_2`.

    Case is what Java takes for it, which finds the columns: the micro sign and the Greek letter are one.

    >>> unique(["a", "b", "A", "a_2", "µ", "μ"])
    ['a', 'b', 'A_2', 'a_2_2', 'µ', 'μ_2']
    """
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 1
        while _folded(candidate) in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(_folded(candidate))
        result.append(candidate)
    return result


def _folded(name: str) -> str:
    """A name as Java's `equalsIgnoreCase` compares it: each character in upper case, then in lower."""
    upper = [of if len(of := character.upper()) == 1 else character for character in name]
    return "".join(of if len(of := character.lower()) == 1 else character for character in upper)


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The JSON text of every value."""
    array = (
        pa.concat_arrays(column.chunks)
        if isinstance(column, pa.ChunkedArray) and column.num_chunks
        else column
    )
    if isinstance(array, pa.ChunkedArray):
        return pa.nulls(0, pa.string())
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return pc.fill_null(_text(array), "null")


def _text(array: pa.Array) -> pa.Array:
    kind = array.type
    if is_text(kind):
        return _strings(array.cast(pa.string()))
    if pa.types.is_floating(kind):
        return _floats(array)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.string())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _quoted(moments(array))
    values = [
        None if value is None else json.dumps(_plain(value, kind), ensure_ascii=False)
        for value in _values(array)
    ]
    return pa.array(values, pa.string())


def _values(array: pa.Array) -> list[Any]:
    """Python's values; where Python's calendar does not have a moment, all moments as whole numbers, which `_plain` knows."""
    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        return list(array.cast(_with_numbers(array.type)).to_pylist())


def _with_numbers(kind: pa.DataType) -> pa.DataType:
    """The same type with numbers in place of dates and timestamps."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_numbers(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_with_numbers(kind.key_type), _with_numbers(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_with_numbers(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_with_numbers(kind.value_type))
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_date64(kind) or pa.types.is_timestamp(kind) else kind


def moment(value: int, kind: pa.DataType) -> str:
    """A date or a timestamp, given as Arrow holds it, in ISO form, of any year.

    >>> moment(3_000_000, pa.date32()), moment(1 << 60, pa.timestamp("us", "UTC"))
    ('10183-09-21', '38504-08-17T21:30:06.846976Z')
    """
    if pa.types.is_date(kind):
        days, micros = value if pa.types.is_date32(kind) else value // 86_400_000, None
    else:
        per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.unit]
        days, rest = divmod(value, 86_400 * per_second)
        micros = rest * 1_000_000 // per_second
    day = date_text(*(int(field[0]) for field in fields_of(np.array([days])))).lstrip("+")
    return day if micros is None else f"{day}T{time_text(micros)}{'Z' if kind.tz else ''}"


def moments(array: pa.Array) -> pa.Array:
    """Dates and timestamps as ISO 8601 writes them, those with a time zone in UTC.

    >>> moments(pa.array([1_500_000], pa.timestamp("us", "Europe/Vienna"))).to_pylist()
    ['1970-01-01T00:00:01.500000Z']
    """
    if pa.types.is_date(array.type):
        return array.cast(pa.date32()).cast(pa.string())
    naive = array.view(pa.timestamp(array.type.unit)) if array.type.tz else array
    written = naive.cast(pa.string())
    if pc.any(pc.match_substring(written, _FAR)).as_py():
        values = naive.cast(pa.int64()).to_pylist()
        return pa.array([None if v is None else moment(v, array.type) for v in values], pa.string())
    text = pc.replace_substring(written, " ", "T", max_replacements=1)
    text = pc.replace_substring_regex(text, r"\.0+$", "")
    return pc.binary_join_element_wise(text, "Z", "") if array.type.tz else text


def _quoted(array: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', array, '"', "")


def _strings(array: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(array, r'["\\\x00-\x1f]')
    if not pc.any(special).as_py():
        return _quoted(array)
    escaped = [None if text is None else json.dumps(text, ensure_ascii=False) for text in array.to_pylist()]
    return pa.array(escaped, pa.string())


def _floats(array: pa.Array) -> pa.Array:
    """Numbers; those that JSON does not know as "NaN", "Infinity" and "-Infinity", as Spark writes them."""
    text = array.cast(pa.float32() if pa.types.is_float16(array.type) else array.type).cast(pa.string())
    # else a reader takes it for the integer, which has no sign
    text = pc.if_else(pc.equal(text, "-0"), "-0.0", text)
    if pc.all(pc.is_finite(array)).as_py() is not False:
        return text
    text = pc.if_else(pc.equal(array, math.inf), '"Infinity"', text)
    text = pc.if_else(pc.equal(array, -math.inf), '"-Infinity"', text)
    return pc.if_else(pc.is_nan(array), '"NaN"', text)


def _plain(value: Any, kind: pa.DataType) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, int) and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return moment(value, kind)
    if value is None or isinstance(value, str | int):
        return value
    if pa.types.is_struct(kind):
        return {field.name: _plain(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        return {_key(key, kind.key_type): _plain(item, kind.item_type) for key, item in value}
    if isinstance(value, list):
        return [_plain(item, kind.value_type) for item in value]
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
        )
    return _scalar(value)


def _key(key: Any, kind: pa.DataType) -> str:
    plain = _plain(key, kind)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _scalar(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else str(value)


def csv_columns(table: pa.Table) -> pa.Table:
    """A table that CSV can hold: moments in ISO form, bytes and nested values as JSON does."""
    columns = []
    for column in table.columns:
        kind = column.type
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, kind)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            array = moments(array)
        elif pa.types.is_nested(kind) or is_bytes(kind) or pa.types.is_duration(kind):
            array = pa.array(
                [None if value is None else _field(value, kind) for value in _values(array)], pa.string()
            )
        columns.append(array)
    return pa.table(columns, names=unique(table.schema.names))


def _field(value: Any, kind: pa.DataType) -> str:
    plain = _plain(value, kind)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)

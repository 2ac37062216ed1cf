"""Fields, truncation and arithmetic of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.civil import add_months, days_from, fields_of
from eddyline.functions.evaluate.arrays import (
    Mask,
    Numbers,
    Outcome,
    build,
    meet,
    nulls,
    numbers,
    outcome,
    stretch,
    validity,
)
from eddyline.functions.evaluate.cast_times import join, local_seconds, split, zone_of
from eddyline.functions.evaluate.each_value import Failed, each_value
from eddyline.functions.evaluate.logic import choose
from eddyline.functions.evaluate.odd_text import decoded
from eddyline.functions.time_formats import compile_format
from eddyline.functions.time_text import LONG_MAX, LONG_MIN, MICROS_PER_DAY, MICROS_PER_SECOND
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call


def _date_field(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    days = numbers(array)
    if call.function == "dayofweek":
        values: Numbers = (days.astype(np.int64) + 4) % 7 + 1
    else:
        values = getattr(fields_of(days), call.function)
    return Outcome(build(values.astype(np.int32), validity(array), t.INT))


def _time_field(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    seconds, _ = local_seconds(numbers(array), zone_of(call.arguments[0].type, zone))
    of_day = seconds % 86_400
    values = {"hour": of_day // 3600, "minute": of_day // 60 % 60, "second": of_day % 60}[call.function]
    return Outcome(build(values.astype(np.int32), validity(array), t.INT))


_UNITS: Final = {
    "MICROSECOND": "microsecond",
    "MILLISECOND": "millisecond",
    "SECOND": "second",
    "MINUTE": "minute",
    "HOUR": "hour",
    **dict.fromkeys(("DAY", "DD"), "day"),
    "WEEK": "week",
    **dict.fromkeys(("MONTH", "MON", "MM"), "month"),
    "QUARTER": "quarter",
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
}
_UNIT_SECONDS: Final = {"minute": 60, "hour": 3600, "day": 86_400}


def _date_trunc(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    units, array = decoded(arguments[0]), arguments[1]
    zone = zone_of(call.arguments[1].type, zone)
    if len(units) == 1:
        return _truncate(array, units[0].as_py(), zone, call.type)
    result = nulls(1, call.type)
    failed: Mask | None = None
    whole = stretch(array, len(units))
    for unit in units.unique().drop_null().to_pylist():
        values, bad = _truncate(whole, unit, zone, call.type)
        here = pa.compute.equal(units, unit)
        result = choose(here, values, result)
        if bad is not None:
            bad = bad & numbers(here.fill_null(False))
            failed = bad if failed is None else failed | bad
    return Outcome(stretch(result, len(units)), failed)


def _truncate(array: pa.Array, unit: str, zone: Zone, kind: t.DataType) -> Outcome:
    name = _UNITS.get(unit.upper())
    if name is None:
        return Outcome(nulls(len(array), kind))
    micros = numbers(array)
    seconds, rest = split(micros)
    if name in ("microsecond", "millisecond", "second"):
        step = {"microsecond": 1, "millisecond": 1000, "second": MICROS_PER_SECOND}[name]
        values, outside = join(seconds, rest // step * step)
    elif name in _UNIT_SECONDS:
        offset = zone.offset_at(seconds)
        local = (seconds + offset) // _UNIT_SECONDS[name] * _UNIT_SECONDS[name]
        values, outside = join(zone.resolve(local, offset), np.zeros_like(seconds))
    else:
        days = (seconds + zone.offset_at(seconds)) // 86_400
        values, outside = join(zone.start_of_day(_start_of_unit(days, name)), np.zeros_like(seconds))
    return outcome(values, validity(array), kind, outside)


def _start_of_unit(days: Numbers, unit: str) -> Numbers:
    if unit == "week":
        return np.asarray(days - (days + 3) % 7)
    year, month, day = fields_of(days)
    if unit == "month":
        return np.asarray(days - (day - 1))
    first_month = (month - 1) // 3 * 3 + 1 if unit == "quarter" else np.ones_like(month)
    return days_from(year, first_month, np.ones_like(month))


def _date_add(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    """Days added or taken away; as in Spark, beyond 32 bits the result wraps around."""
    a, b = (numbers(array).astype(np.int64) for array in arguments)
    total = a + b if call.function == "date_add" else a - b
    return Outcome(build(total.astype(np.int32), _both(arguments), t.DATE))


def _date_difference(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    a, b = (numbers(array).astype(np.int64) for array in arguments)
    return Outcome(build((a - b).astype(np.int32), _both(arguments), t.INT))


def _both(arguments: Sequence[pa.Array]) -> Mask | None:
    return meet(*(validity(array) for array in arguments))


def _date_add_months(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    days, months = (numbers(array).astype(np.int64) for array in arguments)
    total = add_months(days, months)
    low, high = t.RANGE[t.DATE]
    outside = (total < low) | (total > high)
    return outcome(np.where(outside, 0, total).astype(np.int32), _both(arguments), t.DATE, outside)


def _subtract_dates(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    a, b = (numbers(array).astype(np.int64) for array in arguments)
    low, high = t.RANGE[t.INT]
    outside = (a - b < low) | (a - b > high) | (np.abs(a - b) > LONG_MAX // MICROS_PER_DAY)
    return outcome(np.where(outside, 0, a - b) * MICROS_PER_DAY, _both(arguments), t.DAY_TIME, outside)


def _subtract_times(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    zone = zone_of(call.arguments[0].type, zone)
    (first, first_rest), (second, second_rest) = (local_seconds(numbers(array), zone) for array in arguments)
    carry, rest = split(first_rest - second_rest)
    values, outside = join(first - second + carry, rest)
    return outcome(values, _both(arguments), t.DAY_TIME, outside)


def _time_add(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    """Whole days and months are added on the wall clock, the rest of a day-time interval in real time."""
    times, interval = arguments
    zone = zone_of(call.type, zone)
    seconds, rest = split(numbers(times))
    offset = zone.offset_at(seconds)
    local = seconds + offset
    if call.arguments[1].type == t.YEAR_MONTH:
        days = add_months(local // 86_400, numbers(interval).astype(np.int64))
        values, outside = join(*_broadcast(zone.resolve(days * 86_400 + local % 86_400, offset), rest))
        return outcome(values, _both(arguments), call.type, outside)
    span = numbers(interval)
    size = np.where(span == LONG_MIN, LONG_MAX, np.abs(span)) // MICROS_PER_DAY
    days = np.where(span < 0, -size, size)
    moved = zone.resolve(
        local + days * 86_400, np.broadcast_to(offset, np.broadcast_shapes(local.shape, days.shape))
    )
    carry, rest = split(rest + (span - days * MICROS_PER_DAY))
    values, outside = join(*_broadcast(moved + carry, rest))
    return outcome(values, _both(arguments), call.type, outside)


def _broadcast(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    both = np.broadcast_arrays(a, b)
    return both[0], both[1]


def _unix_timestamp(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    (array,) = arguments
    seconds, micros = split(numbers(array))
    return Outcome(build(seconds + ((seconds < 0) & (micros != 0)), validity(array), t.LONG))


def _parse_timestamp(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    subject, pattern = arguments
    shown = zone_of(call.type, zone)

    def parse(text: str, format: str) -> int:
        micros = compile_format(format).parse(text, shown)
        if micros is None:
            raise Failed
        return micros

    return each_value(parse, [subject, pattern], [t.STRING, t.STRING], call.type)


KERNELS: Final[dict[str, Callable[[Call, Sequence[pa.Array], Zone], Outcome]]] = {
    **dict.fromkeys(("year", "month", "day", "dayofweek"), _date_field),
    **dict.fromkeys(("hour", "minute", "second"), _time_field),
    "date_trunc": _date_trunc,
    "date_add": _date_add,
    "date_sub": _date_add,
    "date_add_months": _date_add_months,
    "datediff": _date_difference,
    "time_add": _time_add,
    "subtract_dates": _subtract_dates,
    "subtract_times": _subtract_times,
    "unix_timestamp": _unix_timestamp,
    "parse_timestamp": _parse_timestamp,
}

"""Conversion between dates, timestamps and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import decimals
from eddyline.functions.evaluate.arithmetic import clip_to_long
from eddyline.functions.evaluate.arrays import Mask, Numbers, Outcome, build, numbers, outcome, validity
from eddyline.functions.evaluate.cast_numbers import to_range
from eddyline.functions.time_text import LONG_MAX, LONG_MIN, MICROS_PER_SECOND
from eddyline.functions.zones import Zone, find_zone
from eddyline.model import types as t

UTC: Final = find_zone("UTC")


def split(micros: Numbers) -> tuple[Numbers, Numbers]:
    """Whole seconds (rounded down) and the microseconds left."""
    seconds = micros // MICROS_PER_SECOND
    return seconds, micros - seconds * MICROS_PER_SECOND


def join(seconds: Numbers, micros: Numbers) -> tuple[Numbers, Mask]:
    """Microseconds from whole seconds and a rest below a second, and where they do not fit into 64 bits."""
    low, high = LONG_MIN // MICROS_PER_SECOND, LONG_MAX // MICROS_PER_SECOND
    outside = (seconds < low) | (seconds > high)
    outside |= (seconds == low) & (micros < LONG_MIN - low * MICROS_PER_SECOND)
    outside |= (seconds == high) & (micros > LONG_MAX - high * MICROS_PER_SECOND)
    with np.errstate(over="ignore"):
        return seconds * MICROS_PER_SECOND + micros, np.asarray(outside, np.bool_)


def local_seconds(micros: Numbers, zone: Zone) -> tuple[Numbers, Numbers]:
    """Seconds of the wall clock at instants, and the microseconds left."""
    seconds, rest = split(micros)
    return seconds + zone.offset_at(seconds), rest


def zone_of(kind: t.DataType, session: Zone) -> Zone:
    """The zone whose wall clock a timestamp type shows."""
    if kind == t.TIMESTAMP_NTZ:
        assert UTC is not None, "UTC is a zone"
        return UTC
    return session


def _to_date(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    seconds, _ = local_seconds(numbers(array), zone_of(source, zone))
    return Outcome(build((seconds // 86_400).astype(np.int32), validity(array), t.DATE))


def _date_to_timestamp(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    starts = zone_of(target, zone).start_of_day(numbers(array).astype(np.int64))
    micros, outside = join(starts, np.zeros_like(starts))
    return outcome(micros, validity(array), target, outside)


def _with_zone(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    local, rest = split(numbers(array))
    micros, outside = join(local - zone.offset_of_local(local), rest)
    return outcome(micros, validity(array), target, outside)


def _without_zone(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    micros, outside = join(*local_seconds(numbers(array), zone))
    return outcome(micros, validity(array), target, outside)


def _timestamp_to_integral(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    return to_range(split(numbers(array))[0], validity(array), target)


def _timestamp_to_fractional(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    seconds = numbers(array) / float(MICROS_PER_SECOND)
    return Outcome(
        build(seconds.astype(np.float32) if target == t.FLOAT else seconds, validity(array), target)
    )


def _timestamp_to_decimal(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Seconds with their fraction."""
    assert isinstance(target, t.DecimalType), "the target was looked up as a decimal"
    values = decimals.rescale(numbers(array).astype(object), 6, target.scale)
    return decimals.finish(values, validity(array), target)


def _integral_to_timestamp(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Seconds; beyond 64 bits of microseconds clipped, as in Spark."""
    seconds = numbers(array).astype(np.int64)
    high = LONG_MAX // MICROS_PER_SECOND
    micros = np.where(seconds > high, LONG_MAX, np.where(seconds < -high, LONG_MIN, 0))
    inside = (seconds <= high) & (seconds >= -high)
    return Outcome(
        build(np.where(inside, seconds * MICROS_PER_SECOND * inside, micros), validity(array), target)
    )


def _fractional_to_timestamp(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    with np.errstate(over="ignore", invalid="ignore"):
        micros = numbers(array).astype(np.float64) * MICROS_PER_SECOND
        inside = (np.floor(micros) <= float(LONG_MAX)) & (np.ceil(micros) >= float(LONG_MIN))
    return outcome(clip_to_long(np.where(inside, micros, 0.0)), validity(array), target, ~inside)


def _decimal_to_timestamp(array: pa.Array, source: t.DataType, target: t.DataType, zone: Zone) -> Outcome:
    """Seconds, cut towards zero to microseconds; beyond 64 bits wrapped around, as in Spark."""
    assert isinstance(source, t.DecimalType), "the source was looked up as a decimal"
    values = decimals.unscaled(array, decimals.LONG_DIGITS + 1).astype(object) * MICROS_PER_SECOND
    micros = decimals.wrap_to_long(decimals.truncate(values, 10**source.scale))
    return Outcome(build(micros, validity(array), target))


CONVERSIONS: Final[dict[tuple[str, str], Callable[[pa.Array, t.DataType, t.DataType, Zone], Outcome]]] = {
    ("timestamp", "date"): _to_date,
    ("timestamp_ntz", "date"): _to_date,
    ("date", "timestamp"): _date_to_timestamp,
    ("date", "timestamp_ntz"): _date_to_timestamp,
    ("timestamp_ntz", "timestamp"): _with_zone,
    ("timestamp", "timestamp_ntz"): _without_zone,
    ("timestamp", "integral"): _timestamp_to_integral,
    ("timestamp", "fractional"): _timestamp_to_fractional,
    ("timestamp", "decimal"): _timestamp_to_decimal,
    ("integral", "timestamp"): _integral_to_timestamp,
    ("fractional", "timestamp"): _fractional_to_timestamp,
    ("decimal", "timestamp"): _decimal_to_timestamp,
}

"""Columns of text as typed columns: what cannot be converted is known value by value.

Text is read as `CAST(text AS type)` reads it, with the time zone of the session. Arrow converts a whole column where
that gives the same; the cast of `functions` is asked where Arrow refuses, or accepts more than it should.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.kinds import is_bytes, is_text
from eddyline.functions.evaluate.cast import convert
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.catalog import spark_type

FEW: Final = 256  # texts that are looked at one by one: the few that Arrow cannot read are found by halving
Mask = npt.NDArray[np.bool_]
_WORDS: Final = {  # what people call a value of a type
    "bool": "a truth value",
    "date32[day]": "a date",
    "date64[ms]": "a date",
}


def words_for(kind: pa.DataType) -> str:
    """What a value of a type is called.

    >>> words_for(pa.int32()), words_for(pa.float64()), words_for(pa.timestamp("us"))
    ('an int', 'a double', 'a timestamp_ntz')
    """
    if str(kind) in _WORDS:
        return _WORDS[str(kind)]
    name = str(spark_type(kind) or kind)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def from_text(texts: pa.Array, kind: pa.DataType, zone: Zone) -> tuple[pa.Array, Mask | None]:
    """The values of texts, and which of them have none (NULL stands there); None if all have one.

    >>> from eddyline.functions.zones import find_zone
    >>> values, failed = from_text(pa.array(["1", "x", None]), pa.int32(), find_zone("UTC"))
    >>> values.to_pylist(), failed.tolist()
    ([1, None, None], [False, True, False])
    """
    if is_text(kind):
        return texts.cast(kind), None
    if is_bytes(kind):
        return _from_base64(texts, kind)
    quick = _quick(texts, kind, zone)
    if quick is not None:
        return quick, None
    if len(texts) <= FEW:
        return _careful(texts, kind, zone)
    half = len(texts) // 2
    return _joined(from_text(texts.slice(0, half), kind, zone), from_text(texts.slice(half), kind, zone))


def _joined(
    left: tuple[pa.Array, Mask | None], right: tuple[pa.Array, Mask | None]
) -> tuple[pa.Array, Mask | None]:
    values = pa.concat_arrays([left[0], right[0]])
    if left[1] is None and right[1] is None:
        return values, None
    masks = [np.zeros(len(array), np.bool_) if mask is None else mask for array, mask in (left, right)]
    return values, np.concatenate(masks)


def _quick(texts: pa.Array, kind: pa.DataType, zone: Zone) -> pa.Array | None:
    """All values at once, where Arrow surely reads them as the cast does."""
    if pa.types.is_dictionary(kind):
        return None
    if pa.types.is_integer(kind) and pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py():
        return None  # Arrow takes 0x10 for a number
    try:
        values = pc.cast(texts, kind)
    except pa.ArrowInvalid:
        if _is_utc(zone) and pa.types.is_timestamp(kind) and kind.tz is not None:
            return _wall_clock(texts, kind)
        return None
    except pa.ArrowNotImplementedError:
        return None
    if pa.types.is_floating(kind) and pc.all(pc.is_finite(values)).as_py() is False:
        return None  # Arrow takes nan(1) and -nan for numbers
    return values


def _is_utc(zone: Zone) -> bool:
    return zone.is_fixed and not zone.offsets.any()


def _wall_clock(texts: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Timestamps that name no zone, in UTC."""
    try:
        return pc.cast(texts, pa.timestamp(kind.unit)).view(kind)
    except pa.ArrowInvalid:
        return None


def _careful(texts: pa.Array, kind: pa.DataType, zone: Zone) -> tuple[pa.Array, Mask | None]:
    target = spark_type(kind)
    if target is None or t.is_interval(target):
        return _one_by_one(texts, kind)
    values, failed = convert(texts.cast(pa.string()), t.STRING, target, zone)
    if values.type == kind:
        return values, failed
    fitting, lost = fit(values, kind)
    return fitting, lost if failed is None else failed if lost is None else failed | lost


def fit(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask | None]:
    """Values as another Arrow type, and which do not fit into it.

    >>> fit(pa.array([1, 300]), pa.int8())[1].tolist()
    [False, True]
    """
    try:
        return pc.cast(values, kind), None
    except pa.ArrowInvalid:
        return _one_by_one(values, kind)


def _one_by_one(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask | None]:
    """Arrow's own conversion of every value by itself, for columns in which some value has none."""
    failed = np.zeros(len(values), np.bool_)
    fitting = []
    for index in range(len(values)):
        try:
            fitting.append(pc.cast(values.slice(index, 1), kind))
        except pa.ArrowInvalid:
            failed[index] = True
            fitting.append(pa.nulls(1, kind))
    return pa.concat_arrays(fitting) if fitting else pa.nulls(0, kind), failed if failed.any() else None


def _from_base64(texts: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask | None]:
    values: list[bytes | None] = []
    failed = np.zeros(len(texts), np.bool_)
    for index, text in enumerate(texts.to_pylist()):
        try:
            values.append(None if text is None else base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            values.append(None)
            failed[index] = True
    fitting, lost = fit(pa.array(values, pa.binary()), kind)
    return fitting, failed if lost is None else failed | lost

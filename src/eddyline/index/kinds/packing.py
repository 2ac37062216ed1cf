"""What the files of all kinds of indexes have in common: regions of subjects, and values that are made of arrays."""

from __future__ import annotations

from typing import Any

from eddyline.index.cutting import Cutting, Offsets
from eddyline.index.kinds.kind import Get, Put
from eddyline.model.codec import decode_expression, decode_value, encode_expression, encode_value


def pack_cutting(cutting: Cutting, put: Put) -> Any:
    """The regions of a subject."""
    known = cutting.constants
    by_value = isinstance(known, tuple)
    constants = [encode_value(value) for value in known] if isinstance(known, tuple) else put(known)
    by_offset = isinstance(cutting, Offsets)
    return [encode_expression(cutting.subject), by_value, constants, cutting.points_only, by_offset]


def unpack_cutting(data: Any, get: Get) -> Cutting:
    """Those that `pack_cutting` put away."""
    subject, by_value, constants, points_only, by_offset = data
    values = tuple([decode_value(v) for v in constants]) if by_value else get(constants)
    return (Offsets if by_offset else Cutting)(decode_expression(subject), values, points_only)


def pack_arrays(value: Any, names: tuple[str, ...], put: Put) -> dict[str, str]:
    """The arrays of a value, by the names of its fields."""
    return {name: put(getattr(value, name)) for name in names}

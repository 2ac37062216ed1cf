"""Binary floating point as integers in the same order, and exact rounding to it, as Java does.

Neighbouring floats have neighbouring ordinals, so a search over floats is a search over integers. 0.0 and -0.0 share
the ordinal 0; NaN has none.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Final

_DOUBLE: Final = struct.Struct("<d")
_LONG: Final = struct.Struct("<q")
_FLOAT: Final = struct.Struct("<f")
_INT: Final = struct.Struct("<i")

DOUBLE_INFINITY: Final = 0x7FF << 52  # ordinal of +inf; that of -inf is its negative
FLOAT_INFINITY: Final = 0xFF << 23


def double_to_ordinal(value: float) -> int:
    """The ordinal of a double.

    >>> [double_to_ordinal(v) for v in (0.0, -0.0, 5e-324, -5e-324)]
    [0, 0, 1, -1]
    """
    bits: int = _LONG.unpack(_DOUBLE.pack(value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def ordinal_to_double(ordinal: int) -> float:
    value: float = _DOUBLE.unpack(_LONG.pack(abs(ordinal)))[0]
    return value if ordinal >= 0 else -value


def float_to_ordinal(value: float) -> int:
    """The ordinal of a value of 32 bits, held as a Python float."""
    bits: int = _INT.unpack(_FLOAT.pack(value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def ordinal_to_float(ordinal: int) -> float:
    value: float = _FLOAT.unpack(_INT.pack(abs(ordinal)))[0]
    return value if ordinal >= 0 else -value


def round_to_float(value: float) -> float:
    """The nearest value of 32 bits, ties to even, infinite where too large.

    >>> round_to_float(0.1), round_to_float(1e39)
    (0.10000000149011612, inf)
    """
    return ctypes.c_float(value).value


def ratio_to_float(numerator: int, denominator: int) -> float:
    """The value of 32 bits nearest to a ratio, rounded once.

    A ratio just above the middle of two floats may become that very middle as a double, and rounding again would take
    it to the even neighbour instead of the nearer one.

    >>> ratio_to_float(2**24 + 1, 1) == 2**24, ratio_to_float((2**24 + 1) * 2**40 + 1, 2**40) == 2**24 + 2
    (True, True)
    """
    double = numerator / denominator
    single = round_to_float(double)
    if single == double:
        return single
    step = 1 if single < double else -1
    other = ordinal_to_float(float_to_ordinal(single) + step)
    if double - single != other - double:
        return single
    top, bottom = double.as_integer_ratio()
    difference = numerator * bottom - top * denominator
    return other if difference * step > 0 else single

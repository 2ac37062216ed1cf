"""Values at which something changes: the ends of a type's range, powers, infinities, the smallest; and their neighbours."""

from __future__ import annotations

import math
import struct
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np

from eddyline.model import types as t

_POWERS: Final = (0, 1, 3, 7, 8, 15, 16, 24, 31, 32, 52, 53, 62, 63)
_FRACTIONS: Final = (
    0.0, 5e-324, 1e-320, 2.2250738585072014e-308, 1e-300, 1e-100, 1.4e-45, 1e-10, 0.1, 0.5, 2.5, 7.0, 10.0, 100.0,
    *(2.0**power for power in _POWERS), 1e10, 1e19, 1e38, 3.4028234663852886e38, 1e100, 1e200, 1e300, 1e308,
    1.7976931348623157e308, math.inf,
)  # fmt: skip
# of every length around those of words, alone and behind what others begin with
_TEXTS: Final = tuple(
    text
    for length in range(21)
    for text in ("0123456789abcdefghijk"[:length], "\0" * length, " " * length, "é" * length, "z" * length)
)
_EXACT: Final = Context(prec=60)


def edges(kind: t.DataType) -> list[Any]:
    """Values over the whole range of a type, ascending.

    >>> edges(t.BYTE)[:3], edges(t.DOUBLE)[:2], edges(t.DecimalType(3, 1))[-1]
    ([-128, -127, -9], [-inf, -1.7976931348623157e+308], Decimal('99.9'))
    """
    if kind in t.RANGE:
        return _whole_numbers(*t.RANGE[kind])
    if isinstance(kind, t.DecimalType):
        largest = 10**kind.precision - 1
        return [_decimal(n, kind) for n in _whole_numbers(-largest, largest)]
    if t.is_fractional(kind):
        held = {float32(n) if kind == t.FLOAT else n for n in _FRACTIONS}
        return sorted(held | {-n for n in held})
    if kind == t.BOOLEAN:
        return [False, True]
    return sorted({text.encode() if kind == t.BINARY else text for text in _TEXTS})


def neighbours(kind: t.DataType, value: Any) -> list[Any]:
    """Values of a type next to one of them: a step below and a step above, as far as there are any.

    >>> neighbours(t.BYTE, 127), neighbours(t.DOUBLE, math.inf), neighbours(t.STRING, "ab")
    ([126], [1.7976931348623157e+308, inf], ['a', 'ab\\x00'])
    """
    if kind in t.RANGE:
        low, high = t.RANGE[kind]
        return [n for n in (value - 1, value + 1) if low <= n <= high]
    if isinstance(kind, t.DecimalType):
        n = int(value.scaleb(kind.scale, _EXACT))
        return [_decimal(m, kind) for m in (n - 1, n + 1) if abs(m) < 10**kind.precision]
    if t.is_fractional(kind):
        held = np.float32(float32(value)) if kind == t.FLOAT else np.float64(value)
        with np.errstate(all="ignore"):  # numpy warns of a step to infinity
            return [float(np.nextafter(held, type(held)(end))) for end in (-math.inf, math.inf)]
    if kind == t.BOOLEAN:
        return [not value]
    return [value[:-1], value + (b"\0" if kind == t.BINARY else "\0")]


def float32(value: float) -> float:
    """The nearest 32-bit float; infinite where it is too large."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _whole_numbers(low: int, high: int) -> list[int]:
    middles = {low, high, 0, *(sign * 2**power for power in _POWERS for sign in (-1, 1))}
    near = {n for middle in middles for n in (middle - 1, middle, middle + 1)}
    return sorted(n for n in near if low <= n <= high)


def _decimal(unscaled: int, kind: t.DecimalType) -> Decimal:
    return Decimal(unscaled).scaleb(-kind.scale, _EXACT)

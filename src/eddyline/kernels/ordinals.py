"""Floats to 64-bit integers that order as Spark orders floats: -0.0 is 0.0, and NaN is above all others."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.compiling import kernel

INFINITY = 0x7FF0000000000000  # the bits of +inf, and its ordinal; -inf has the negative of it
NAN = INFINITY + 1


@kernel
def of_floats(bits, ordinals):
    """ordinals[i] for the bits of a double: its magnitude with its sign, so that both zeros are 0."""
    for i in range(len(bits)):
        magnitude = bits[i] & np.int64(0x7FFFFFFFFFFFFFFF)
        signed = magnitude if bits[i] >= 0 else -magnitude
        ordinals[i] = signed if magnitude <= INFINITY else NAN

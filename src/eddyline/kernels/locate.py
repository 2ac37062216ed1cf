"""Values to region ids: by table for small integers, by search among the constants for everything else that is numeric."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel
from eddyline.kernels.vectors import keep_valid


@kernel
def by_table(values, low, table, ids):
    """ids[i] = table[values[i] - low]; values outside of the table take its first and last entry."""
    high = low + len(table) - 1
    for i in range(len(values)):
        ids[i] = table[min(max(np.int64(values[i]), low), high) - low]  # clipped first: no overflow


@kernel
def by_offset(values, low, high, base, ids):
    """ids[i] = value - base, values being clipped to low .. high first.

    low and high are of the values' type, base of the ids': so all becomes vectors of narrow numbers, and of a difference
    that fits into an id the lowest bits are enough.
    """
    for i in range(len(values)):
        ids[i] = ids.dtype.type(min(max(values[i], low), high)) - base


@kernel
def by_search(values, constants, ids):
    """ids[i] = 2 * (number of constants below the value) + 1 if it is a constant, else + 0; no NaN among them."""
    count = len(constants)
    for i in range(len(values)):
        value = values[i]
        low, length = 0, count
        while length > 0:
            half = length // 2
            middle = low + half
            below = constants[middle] < value
            low = middle + 1 if below else low
            length = length - half - 1 if below else half
        hit = low < count and constants[min(low, count - 1)] == value
        ids[i] = 2 * low + (1 if hit else 0)


@kernel
def by_grid(values, constants, low, scale, starts, nan, ids):
    """As `by_search`, with a first guess from a grid of equal cells over the constants' range.

    starts[c] is the number of constants in cells below c; cells are (value - low) * scale, clipped.
    """
    last = len(starts) - 1
    count = len(constants)
    for i in range(len(values)):
        value = values[i]
        if value != value:
            ids[i] = nan
            continue
        cell = (np.float64(value) - low) * scale
        at = starts[np.int64(min(max(cell, 0.0), np.float64(last)))]
        while at < count and constants[at] < value:
            at += 1
        hit = at < count and constants[min(at, count - 1)] == value
        ids[i] = 2 * at + (1 if hit else 0)


@intrinsic
def _order(typing, value):
    """A double's bits as an integer that orders as doubles do."""
    signature = types.int64(types.float64)

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        bits = builder.bitcast(arguments[0], word)
        sign = builder.ashr(bits, ir.Constant(word, 63))
        return builder.xor(bits, builder.lshr(sign, ir.Constant(word, 1)))

    return signature, generate


@kernel
def order(value):
    """The place of a double among all doubles, -0.0 being 0.0."""
    return _order(np.float64(value) + 0.0)


@kernel
def by_bits(values, constants, low, high, shift, starts, nan, ids):
    """As `by_grid`, with cells of equal numbers of doubles: small near zero, as constants of very different size are.

    The cell of a value is (order(value) - low) >> shift, the order being clipped to low .. high first, so that neither
    their difference nor the cell has to be checked.
    """
    count = len(constants)
    for i in range(len(values)):
        value = values[i]
        if value != value:
            ids[i] = nan
            continue
        place = min(max(order(value), low), high)
        at = starts[(place - low) >> shift]
        while at < count and constants[at] < value:
            at += 1
        hit = at < count and constants[min(at, count - 1)] == value
        ids[i] = 2 * at + (1 if hit else 0)


@kernel
def mark_nulls(bitmap, offset, null, ids):
    """ids[i] = null where the validity bit offset + i is zero."""
    null = ids.dtype.type(null)
    # groups of 64 with a byte to spare
    whole = min(len(ids) >> 6, max(0, (8 * len(bitmap) - offset - 72) >> 6))
    for group in range(whole):
        keep_valid(ids, group << 6, bitmap, offset + (group << 6), null)
    for i in range(whole << 6, len(ids)):
        bit = offset + i
        if not (bitmap[bit >> 3] >> np.uint8(bit & 7)) & 1:
            ids[i] = null

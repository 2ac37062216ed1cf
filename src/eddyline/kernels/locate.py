"""Values to region ids: by table for small integers, by search among the constants for everything else that is numeric."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def by_table(values, low, table, ids):
    """ids[i] = table[values[i] - low]; values outside of the table take its first and last entry."""
    high = low + len(table) - 1
    for i in range(len(values)):
        ids[i] = table[min(max(np.int64(values[i]), low), high) - low]  # clipped first: no overflow


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def mark_nulls(bitmap, offset, null, ids):
    """ids[i] = null where the validity bit offset + i is zero."""
    for i in range(len(ids)):
        bit = offset + i
        if not (bitmap[bit >> 3] >> np.uint8(bit & 7)) & 1:
            ids[i] = null

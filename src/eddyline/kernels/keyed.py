"""Keyed evaluation: the candidates of each tuple's key, pruned by the first two checks, the rest compared."""

from __future__ import annotations

import numpy as np
from numba import njit

GROUP = 16


@njit(cache=True, nogil=True)
def probe(keys, values, starts, lows, highs, results, group_starts, group_lows, first, rows, numbers):
    """Pairs of the tuples from `first` on, until the output may overflow.

    keys: region ids of the access subject. values: region ids of the check subjects, one row each. The table's arrays
    are those of `index.keyed.KeyedTable`. Writes rows and numbers; returns how many pairs and the next tuple.
    """
    checks = values.shape[0]
    found = 0
    room = len(rows)
    for row in range(first, len(keys)):
        key = keys[row]
        start, end = starts[key], starts[key + 1]
        if start == end:
            continue
        if found + (end - start) > room:
            return found, row
        if checks == 0:
            for entry in range(start, end):
                rows[found], numbers[found] = row, results[entry]
                found += 1
            continue
        value = values[0, row]
        low, high = start, end  # candidates: those whose first lower bound is not above the value
        while low < high:
            middle = (low + high) >> 1
            if lows[0, middle] <= value:
                low = middle + 1
            else:
                high = middle
        end = low
        group = group_starts[key]
        second = values[1, row] if checks > 1 else np.uint32(0)
        while start < end:
            if group_lows[group] <= second:
                for entry in range(start, min(start + GROUP, end)):
                    inside = value <= highs[0, entry]
                    for check in range(1, checks):
                        v = values[check, row]
                        inside &= (lows[check, entry] <= v) & (v <= highs[check, entry])
                    rows[found], numbers[found] = row, results[entry]
                    found += inside
            start += GROUP
            group += 1
    return found, len(keys)

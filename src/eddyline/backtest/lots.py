"""Lots by which samples are chosen: a hash of a row's number in the history, or of the numbers of a pair's rows.

So samples are spread evenly over a query's matches, and neither the size of batches nor other queries change them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eddyline.model.arrays import Integers

Lots = npt.NDArray[np.uint64]


def lots(first: int, count: int) -> Lots:
    """The lots of `count` rows from row `first` of the history on (splitmix64).

    >>> bool((lots(5, 3) == lots(0, 8)[5:]).all())
    True
    """
    return _mixed(np.arange(first + 1, first + count + 1, dtype=np.uint64))


def lots_of_pairs(first: Integers, second: Integers) -> Lots:
    """The lots of pairs of rows, given by the numbers of both."""
    one, other = (numbers.astype(np.uint64) + np.uint64(1) for numbers in (first, second))
    return _mixed(_mixed(one) + other)


def _mixed(x: Lots) -> Lots:
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

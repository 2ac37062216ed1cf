"""Ranges of values as ranges of 64-bit integers, both ends included, for types whose values have such a form.

    integers, dates, times, booleans    as they are
    decimals of up to 18 digits         without the point
    floats                              see `kernels/ordinals.py`; between two neighbours lies no third one

So `price > 10.0` is "at least the ordinal of 10.0, plus one", and a comparison is one of integers whatever the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.index.cutting import Cutting, codes
from eddyline.kernels import ordinals as kernels
from eddyline.model import types as t
from eddyline.model.pacing import paced
from eddyline.model.regions import Cut, Regions

Ordinals = npt.NDArray[np.int64]
LEAST: Final = -(2**63)
GREATEST: Final = 2**63 - 1


def has_ordinals(kind: t.DataType) -> bool:
    """Whether a type's values are their own ordinals; those of other types are numbered by their regions."""
    return codes(kind, []) is not None


def float_ordinals(values: npt.NDArray[np.floating[Any]]) -> Ordinals:
    """The ordinals of floats, NaN included.

    >>> float_ordinals(np.array([-np.inf, -5e-324, -0.0, 0.0, 5e-324])).tolist()[1:]
    [-1, 0, 0, 1]
    """
    found = np.empty(len(values), np.int64)
    kernels.of_floats(np.ascontiguousarray(values, np.float64).view(np.int64), found)
    return found


def constant_ordinals(kind: t.DataType, values: Sequence[Any]) -> Ordinals:
    """The ordinals of constants of a type that has them."""
    coded = codes(kind, values)
    assert coded is not None, f"{kind} has no ordinals"
    return float_ordinals(coded) if t.is_fractional(kind) else coded


def bounds(cutting: Cutting, sets: Sequence[Regions]) -> tuple[Ordinals, Ordinals]:
    """Least and greatest ordinal of each set, which is one range; LEAST and GREATEST where it has no end.

    Invariant: no cut lies below the least or above the greatest value of the type (see `normalize/domain.py`), so that
    no ordinal overflows.
    """
    low, high = np.full(len(sets), LEAST, np.int64), np.full(len(sets), GREATEST, np.int64)
    lower = [(i, s.cuts[0]) for i, s in enumerate(paced(sets)) if s.cuts and not s.inside]
    upper = [(i, s.cuts[-1]) for i, s in enumerate(paced(sets)) if len(s.cuts) + s.inside == 2]
    low[[i for i, _ in lower]] = _first_above(cutting, [cut for _, cut in lower])
    high[[i for i, _ in upper]] = _last_below(cutting, [cut for _, cut in upper])
    if t.is_fractional(cutting.subject.type):
        unlimited = [i for i, s in enumerate(sets) if not s.nan and len(s.cuts) + s.inside < 2]
        high[unlimited] = kernels.INFINITY
        low[[i for i, s in enumerate(sets) if not (s.cuts or s.inside)]] = kernels.NAN
    return low, high


def _first_above(cutting: Cutting, cuts: Sequence[Cut]) -> Ordinals:
    """For each cut the ordinal of the first value above it."""
    if not has_ordinals(cutting.subject.type):
        return cutting.ids_of(cuts)
    return constant_ordinals(cutting.subject.type, [value for value, _ in cuts]) + _sides(cuts)


def _last_below(cutting: Cutting, cuts: Sequence[Cut]) -> Ordinals:
    """For each cut the ordinal of the last value below it."""
    if not has_ordinals(cutting.subject.type):
        return cutting.ids_of(cuts) - 1
    return constant_ordinals(cutting.subject.type, [value for value, _ in cuts]) + (_sides(cuts) - 1)


def _sides(cuts: Sequence[Cut]) -> Ordinals:
    return np.array([side for _, side in cuts], np.int64)

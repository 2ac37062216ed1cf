"""Queries that are plain boxes, as they stand in an index: one range for each of some subjects.

    symbol = 'A' AND price BETWEEN 3 AND 5        subject 0   place of 'A' among the constants
                                                  subject 1   ordinals of 3 and of 5

So who compares whole sets of queries need not bring each of them into normal form again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.cutting import Cutting, Offsets
from eddyline.index.keyed.ordinals import GREATEST, LEAST, Ordinals, float_ordinals, has_ordinals
from eddyline.kernels import ordinals as kernels
from eddyline.model import types as t

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Queries with the same number of ranges: query `slots[i]` asks the subject of `cuttings[subjects[i, j]]` to lie
    between `lows[i, j]` and `highs[i, j]`, both included.

    Ends are ordinals, LEAST and GREATEST where there is none; of a type that has no ordinals they are the place of one
    constant. NULL lies in no range; NaN lies in those that go up to GREATEST, as Spark orders it.
    """

    slots: Numbers
    cuttings: Sequence[Cutting]
    subjects: Numbers
    lows: Ordinals
    highs: Ordinals


def key_ordinals(cutting: Cutting, places: npt.NDArray[np.int64]) -> Ordinals:
    """The ordinals of constants by their places; for types without ordinals the places themselves."""
    if isinstance(cutting.constants, tuple):
        return places
    codes = np.asarray(cutting.constants)[places]
    return float_ordinals(codes) if t.is_fractional(cutting.subject.type) else codes.astype(np.int64)


def ends_of_ids(cutting: Cutting) -> tuple[Ordinals, Ordinals, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each id of a cutting the least and the greatest value that has it, and whether a range may start, or end, with it.

    >>> from eddyline.index.cutting import cut, narrowest
    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import Regions
    >>> some = cut(Column("a", t.INT), [Regions.points([20, 50])])
    >>> for made in (some, narrowest(some)):
    ...     lows, highs, *_ = ends_of_ids(made)
    ...     print(lows[1:6].tolist(), highs[:5].tolist())
    [20, 21, 50, 51, 0] [19, 20, 49, 50, 9223372036854775807]
    [20, 21, 22, 23, 24] [19, 20, 21, 22, 23]
    """
    if isinstance(cutting, Offsets):
        return _ends_of_offsets(cutting)
    lows, highs = np.zeros(cutting.size, np.int64), np.zeros(cutting.size, np.int64)
    may_start, may_end = np.zeros(cutting.size, np.bool_), np.zeros(cutting.size, np.bool_)
    count = len(cutting.constants)
    points = np.arange(1, 2 * count, 2)
    at = key_ordinals(cutting, np.arange(count))
    lows[points] = highs[points] = at
    may_start[points] = may_end[points] = True
    if not has_ordinals(cutting.subject.type):
        return lows, highs, may_start, may_end
    lows[0], highs[2 * count] = LEAST, GREATEST
    lows[points + 1], highs[points - 1] = at + 1, at - 1
    may_start[: cutting.nan] = may_end[: cutting.nan] = True
    if t.is_fractional(cutting.subject.type):
        highs[2 * count] = kernels.INFINITY
        lows[cutting.nan], highs[cutting.nan] = kernels.NAN, GREATEST
        may_start[cutting.nan] = may_end[cutting.nan] = True
    return lows, highs, may_start, may_end


def _ends_of_offsets(
    cutting: Offsets,
) -> tuple[Ordinals, Ordinals, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    lows = np.arange(cutting.size, dtype=np.int64) + int(cutting.constants[0]) - 1
    highs = lows.copy()
    lows[0], highs[cutting.nan - 1] = LEAST, GREATEST
    is_number = np.arange(cutting.size) < cutting.nan
    return lows, highs, is_number, is_number

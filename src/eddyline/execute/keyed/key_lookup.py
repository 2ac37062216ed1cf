"""The rank of each value among the constants of a key subject; the number of constants for all other values and NULL."""

from __future__ import annotations

import secrets
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from eddyline.execute.locating.locate import locator
from eddyline.execute.locating.nulls import mark_nulls
from eddyline.execute.locating.ordinals import ordinals
from eddyline.execute.locating.strings import StringTable
from eddyline.functions.evaluate import Evaluation
from eddyline.index.cutting import Cutting
from eddyline.index.keyed.ordinals import float_ordinals, has_ordinals
from eddyline.kernels import keyed as kernels
from eddyline.model import types as t

Ranks = npt.NDArray[np.unsignedinteger[Any]]
FACTOR: Final = 0x9E3779B97F4A7C15
FAR: Final = 256  # slots from its own that no key comes to lie unless by intent: a million ordinary ones keep within 70
RANDOM_FACTORS: Final = 3


class KeyLookup(Protocol):
    """Fills `ranks` for all rows of a batch."""

    def look_up(self, evaluation: Evaluation, ranks: Ranks) -> None:
        """Write the ranks."""


def lookup_of(cutting: Cutting) -> KeyLookup:
    """The quickest way for a subject."""
    if has_ordinals(cutting.subject.type):
        return _NumberKeys(cutting)
    if cutting.subject.type in (t.STRING, t.BINARY):
        return _StringKeys(cutting)
    return _RegionKeys(cutting)


class Map:
    """Numbers of 64-bit keys, their ranks in the list; `entries` are what kernels take.

    Whoever knows the factor can choose keys that all belong into one slot, so that a look-up goes through all of them.
    Where that happens random factors take its place, which nobody knows; the last one is kept whatever it does, for
    look-ups are right anyway.
    """

    def __init__(self, keys: npt.NDArray[Any]) -> None:
        bits = max(1, len(keys).bit_length() + 1)  # a quarter to a half of the slots is taken
        for factor, farthest in ((FACTOR, FAR), *((None, FAR),) * RANDOM_FACTORS, (None, len(keys))):
            chosen = np.uint64(secrets.randbits(64) | 1 if factor is None else factor)
            slots = np.zeros(2 << bits, np.uint64)
            self.entries = chosen, 64 - bits, slots
            if kernels.build_map(keys.view(np.uint64), chosen, 64 - bits, farthest, slots):
                return


class _NumberKeys:
    """Types with ordinals."""

    def __init__(self, cutting: Cutting) -> None:
        self._subject, self._missing = cutting.subject, len(cutting.constants)
        constants = np.asarray(cutting.constants)
        floats = t.is_fractional(cutting.subject.type)
        self._map = Map(float_ordinals(constants) if floats else constants.astype(np.int64))

    def look_up(self, evaluation: Evaluation, ranks: Ranks) -> None:
        values = evaluation.values(self._subject)
        keys = ordinals(values, self._subject.type).view(np.uint64)
        kernels.look_up(keys, *self._map.entries, self._missing, ranks)
        mark_nulls(values, self._missing, ranks)


class _StringKeys:
    """Strings and binaries, dictionaries as they come."""

    def __init__(self, cutting: Cutting) -> None:
        self._subject, missing = cutting.subject, len(cutting.constants)
        self._table = StringTable(cutting, step=1, first=0, missing=missing, null=missing)

    def look_up(self, evaluation: Evaluation, ranks: Ranks) -> None:
        self._table.find(evaluation.encoded(self._subject), ranks)


class _RegionKeys:
    """Any ordered type, by regions."""

    def __init__(self, cutting: Cutting) -> None:
        self._subject, self._missing = cutting.subject, len(cutting.constants)
        self._locator = locator(cutting)

    def look_up(self, evaluation: Evaluation, ranks: Ranks) -> None:
        self._locator.locate(evaluation.values(self._subject), ranks)
        # region 2i + 1 is constant i; NULL's, the last one, is odd too and gives the number of constants by itself
        np.copyto(ranks, np.where(ranks & 1, ranks >> 1, ranks.dtype.type(self._missing)))

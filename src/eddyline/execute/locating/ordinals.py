"""Values of a batch as ordinals: 64-bit integers that order as the values do (`index/keyed/ordinals.py`)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.execute.locating.locate import Locator, locator, plain_values
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import Mask, validity
from eddyline.index.cutting import Cutting
from eddyline.index.keyed.ordinals import Ordinals, float_ordinals, has_ordinals
from eddyline.model import types as t


def ordinals(values: pa.Array, kind: t.DataType) -> Ordinals:
    """The ordinals of an array of a type that has them, without copying where they are the values; anything for NULL."""
    plain = plain_values(values, kind)
    return float_ordinals(plain) if t.is_fractional(kind) else plain.astype(np.int64, copy=False)


class Checked:
    """A subject whose values are compared with bounds."""

    def __init__(self, cutting: Cutting) -> None:
        self._subject = cutting.subject
        self._locator: Locator | None = None if has_ordinals(cutting.subject.type) else locator(cutting)

    def read(self, evaluation: Evaluation) -> tuple[Ordinals, Mask | None]:
        """The ordinal of every row, regions standing for values that have none, and which are not NULL (None: all)."""
        values = evaluation.values(self._subject)
        valid = validity(values) if values.null_count else None
        if self._locator is None:
            return ordinals(values, self._subject.type), valid
        regions = np.empty(len(values), np.uint32)
        self._locator.locate(values, regions)
        return regions.astype(np.int64), valid

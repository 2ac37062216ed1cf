"""Boolean subjects that compare sums and products of doubles, such as `price * 1.05 > open`: all of them in one go.

Expressions that differ only in constants are different subjects. One call of a kernel evaluates them all block by block,
where one call of several functions each would cost more than the arithmetic. Those that differ in one constant alone can
do better (`execute/sliced/families.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locating.locate import Locator
from eddyline.execute.sliced.formula_code import Draft, FormulaLeaves, Values, is_formula
from eddyline.kernels import formulas as kernels
from eddyline.model.expression import Expression

FEWEST: Final = 4  # fewer are not worth a call


class Formulas:
    """Those of some subjects that are formulas, evaluated together; `rows` are their places in the array of ids."""

    def __init__(self, subjects: Mapping[int, Expression], locators: Mapping[int, Locator]) -> None:
        chosen = {row: subject for row, subject in subjects.items() if is_formula(subject)}
        chosen = chosen if len(chosen) >= FEWEST else {}
        self.rows = frozenset(chosen)
        draft, starts = Draft.over(list(chosen.values())), [0]
        for subject in chosen.values():
            draft.compare(subject)
            starts.append(len(draft.code))
        self._code = (*draft.arrays(), np.array(starts, np.int64))
        self._places = np.array(list(chosen), np.int64)
        self._ids = np.array([truth_ids(locators[row]) for row in chosen], np.uint8).reshape(-1, 3)
        self._formula_leaves = FormulaLeaves(draft, [[subject] for subject in chosen.values()])
        self._registers = draft.registers

    def locate(self, values: Values, rows: int, ids: npt.NDArray[Any]) -> None:
        """Write the region ids of all formulas for `rows` rows."""
        if not self.rows:
            return
        leaves, arrays = self._formula_leaves.read(values, rows)
        registers = np.empty((self._registers, kernels.BLOCK))
        kernels.locate_formulas(leaves, *self._code, self._places, self._ids, registers, rows, ids)
        self._formula_leaves.mark(arrays, self._places, self._ids[:, 2].copy(), ids)


def truth_ids(locator: Locator) -> npt.NDArray[np.uint8]:
    """The ids that a locator of a boolean subject gives to false, true and NULL."""
    ids = np.zeros(3, np.uint8)
    locator.locate(pa.array([False, True, None]), ids)
    return ids

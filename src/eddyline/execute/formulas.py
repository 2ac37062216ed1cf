"""Boolean subjects that compare sums and products of doubles, such as `price * 1.05 > open`: all of them in one go.

Expressions that differ only in constants are different subjects. One call of a kernel evaluates them all block by block,
where one call of several functions each would cost more than the arithmetic. Nothing of this can fail for a tuple, so
there are no failures to count; what is not of this form is left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locate import Locator
from eddyline.kernels import formulas as kernels
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal

NUMBERS: Final = {"add": kernels.ADD, "sub": kernels.SUBTRACT, "mul": kernels.MULTIPLY}
TRUTHS: Final = {"eq": kernels.EQUAL, "lt": kernels.LESS, "le": kernels.LESS_EQUAL}
MIRRORED: Final = {"gt": "lt", "ge": "le"}
EXACT: Final = (t.BYTE, t.SHORT, t.INT, t.LONG, t.FLOAT)  # become doubles without failing
FEWEST: Final = 4  # fewer are not worth a call
CONSTANT: Final = -1
Instruction = tuple[int, int, int, int]


@dataclass
class _Draft:
    """Formulas being written down; leaves are registers 0, 1 ..., further registers come after them."""

    leaves: dict[Expression, int] = field(default_factory=dict)
    code: list[Instruction] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    deepest: int = 0


class Formulas:
    """The subjects of one shelf that are formulas; `rows` are their places in it."""

    def __init__(self, subjects: Sequence[Expression], locators: Sequence[Locator]) -> None:
        chosen = [row for row, subject in enumerate(subjects) if _is_formula(subject)]
        self.rows = frozenset(chosen) if len(chosen) >= FEWEST else frozenset()
        chosen = chosen if self.rows else []
        draft, starts = _Draft(), [0]
        leaves = {leaf: None for row in chosen for leaf in _leaves(subjects[row])}
        draft.leaves = {leaf: place for place, leaf in enumerate(leaves)}
        for row in chosen:
            _write(subjects[row], draft)
            starts.append(len(draft.code))
        self._leaves = list(draft.leaves)
        self._code = np.array(draft.code, np.int64).reshape(-1, 4)
        self._constants = np.array(draft.constants, np.float64)
        self._starts = np.array(starts, np.int64)
        self._places = np.array(chosen, np.int64)
        self._ids = _ids_of_truth([locators[row] for row in chosen])
        needs = [[draft.leaves[leaf] for leaf in _leaves(subjects[row])] for row in chosen]
        self._needs = np.array([leaf for several in needs for leaf in several], np.int64)
        self._need_starts = np.cumsum([0, *map(len, needs)]).astype(np.int64)
        self._registers = len(self._leaves) + draft.deepest

    def locate(self, values: Callable[[Expression], pa.Array], rows: int, ids: npt.NDArray[Any]) -> None:
        """Write the region ids of all formulas for `rows` rows."""
        if not self.rows:
            return
        arrays = [values(leaf) for leaf in self._leaves]
        leaves = np.empty((len(arrays), rows))
        for place, array in enumerate(arrays):
            leaves[place] = np.frombuffer(array.buffers()[1], np.float64)[array.offset : array.offset + rows]
        registers = np.empty((self._registers, kernels.BLOCK))
        code = (self._code, self._constants, self._starts, self._places, self._ids)
        kernels.locate_formulas(leaves, *code, registers, rows, ids)
        if any(array.null_count for array in arrays):
            missing = np.array([array.is_null().to_numpy(zero_copy_only=False) for array in arrays])
            nulls = self._ids[:, 2]
            kernels.mark_formula_nulls(
                missing, self._needs, self._need_starts, self._places, nulls, rows, ids
            )


def _ids_of_truth(locators: Sequence[Locator]) -> npt.NDArray[np.uint8]:
    """For each locator of a boolean subject the ids of false, true and NULL."""
    found = np.zeros((len(locators), 3), np.uint8)
    for ids, locator in zip(found, locators, strict=True):
        locator.locate(pa.array([False, True, None]), ids)
    return found


def _is_formula(subject: Expression) -> bool:
    if not isinstance(subject, Call) or not (subject.function in TRUTHS or subject.function in MIRRORED):
        return False
    sides = subject.arguments
    return all(_is_sum(side) for side in sides) and any(isinstance(side, Call) for side in sides)


def _is_sum(expression: Expression) -> bool:
    if expression.type != t.DOUBLE:
        return False
    if _is_leaf(expression):
        return True
    if isinstance(expression, Literal):
        return expression.value is not None
    return (
        isinstance(expression, Call)
        and expression.function in NUMBERS
        and all(_is_sum(argument) for argument in expression.arguments)
        and any(not isinstance(argument, Literal) for argument in expression.arguments)
    )


def _is_leaf(expression: Expression) -> bool:
    if isinstance(expression, Call):
        widened = expression.arguments[0] if expression.function == "cast" else None
        return isinstance(widened, Column) and widened.type in EXACT
    return isinstance(expression, Column)


def _leaves(expression: Expression) -> dict[Expression, None]:
    if _is_leaf(expression):
        return {expression: None}
    return {leaf: None for argument in expression.arguments for leaf in _leaves(argument)}


def _write(subject: Expression, draft: _Draft) -> None:
    """The instructions of one formula, its comparison last."""
    assert isinstance(subject, Call), "a formula is a comparison"
    left, right = subject.arguments
    if subject.function in MIRRORED:
        left, right = right, left
    free = len(draft.leaves)
    operation = TRUTHS[MIRRORED.get(subject.function, subject.function)]
    _instruction(operation, left, right, free, draft)


def _instruction(operation: int, left: Expression, right: Expression, free: int, draft: _Draft) -> int:
    """Compute two operands and an operation into register `free`; those from there on are not in use."""
    a, constant = _operand(left, free, draft)
    b, other = _operand(right, free + (a == free), draft)
    draft.code.append((operation, free, a, b))
    draft.constants.append(constant if a == CONSTANT else other)
    draft.deepest = max(draft.deepest, free - len(draft.leaves) + 1)
    return free


def _operand(expression: Expression, free: int, draft: _Draft) -> tuple[int, float]:
    """The register of an operand, or the constant that it is."""
    if expression in draft.leaves:
        return draft.leaves[expression], 0.0
    if isinstance(expression, Literal):
        assert isinstance(expression.value, float), "a constant of type double is a float"
        return CONSTANT, expression.value
    assert isinstance(expression, Call), "an operand is a leaf, a constant or a call"
    left, right = expression.arguments
    return _instruction(NUMBERS[expression.function], left, right, free, draft), 0.0

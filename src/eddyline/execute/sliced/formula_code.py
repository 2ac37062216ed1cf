"""Which subjects are formulas, comparisons of sums and products of doubles, and the instructions that compute them.

Nothing of this can fail for a tuple, so there are no failures to count; what is not of this form is left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.kernels import formulas as kernels
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal

NUMBERS: Final = {"add": kernels.ADD, "sub": kernels.SUBTRACT, "mul": kernels.MULTIPLY}
TRUTHS: Final = {"eq": kernels.EQUAL, "lt": kernels.LESS, "le": kernels.LESS_EQUAL}
MIRRORED: Final = {"gt": "lt", "ge": "le"}
EXACT: Final = (t.BYTE, t.SHORT, t.INT, t.LONG, t.FLOAT)  # become doubles without failing
CONSTANT: Final = -1
Instruction = tuple[int, int, int, int]
Values = Callable[[Expression], pa.Array]
Doubles = npt.NDArray[np.float64]


def is_formula(subject: Expression) -> bool:
    """Whether a subject compares two sums or products, one of them not a plain column."""
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


def leaves_of(expression: Expression) -> dict[Expression, None]:
    """The columns, cast to doubles if need be, that a formula or a side of one reads."""
    if _is_leaf(expression):
        return {expression: None}
    return {leaf: None for argument in expression.arguments for leaf in leaves_of(argument)}


def sides(subject: Expression) -> tuple[int, Expression, Expression]:
    """A comparison as `left operation right`, by what the kernels know."""
    assert isinstance(subject, Call), "a formula is a comparison"
    left, right = subject.arguments
    if subject.function in MIRRORED:
        left, right = right, left
    return TRUTHS[MIRRORED.get(subject.function, subject.function)], left, right


@dataclass
class Draft:
    """Instructions being written down; leaves are registers 0, 1 ..., further registers come after them."""

    leaves: dict[Expression, int]
    code: list[Instruction] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    deepest: int = 0

    @staticmethod
    def over(expressions: Sequence[Expression]) -> Draft:
        """Ready for these expressions."""
        found = {leaf: None for expression in expressions for leaf in leaves_of(expression)}
        return Draft({leaf: place for place, leaf in enumerate(found)})

    @property
    def free(self) -> int:
        """The first register that is not a leaf's."""
        return len(self.leaves)

    @property
    def registers(self) -> int:
        """How many registers the instructions use."""
        return len(self.leaves) + self.deepest

    def compare(self, subject: Expression) -> None:
        """The instructions of one formula, its comparison last."""
        operation, left, right = sides(subject)
        self._instruction(operation, left, right, self.free)

    def operand(self, expression: Expression, free: int) -> tuple[int, float]:
        """The register of an operand, or the constant that it is; registers from `free` on are not in use."""
        if expression in self.leaves:
            return self.leaves[expression], 0.0
        if isinstance(expression, Literal):
            assert isinstance(expression.value, float), "a constant of type double is a float"
            return CONSTANT, expression.value
        assert isinstance(expression, Call), "an operand is a leaf, a constant or a call"
        left, right = expression.arguments
        return self._instruction(NUMBERS[expression.function], left, right, free), 0.0

    def _instruction(self, operation: int, left: Expression, right: Expression, free: int) -> int:
        """Compute two operands and an operation into register `free`."""
        a, constant = self.operand(left, free)
        b, other = self.operand(right, free + (a == free))
        self.code.append((operation, free, a, b))
        self.constants.append(constant if a == CONSTANT else other)
        self.deepest = max(self.deepest, free - len(self.leaves) + 1)
        return free

    def arrays(self) -> tuple[npt.NDArray[np.int64], Doubles]:
        """The instructions and their constants, for kernels."""
        return np.array(self.code, np.int64).reshape(-1, 4), np.array(self.constants, np.float64)


class FormulaLeaves:
    """The leaves that each of several formulas reads, to mark those that are NULL."""

    def __init__(self, draft: Draft, formulas: Sequence[Sequence[Expression]]) -> None:
        self._leaves = list(draft.leaves)
        found = [{draft.leaves[leaf] for part in parts for leaf in leaves_of(part)} for parts in formulas]
        self._flat = np.array([leaf for several in found for leaf in sorted(several)], np.int64)
        self._starts = np.cumsum([0, *map(len, found)]).astype(np.int64)

    def read(self, values: Values, rows: int) -> tuple[Doubles, list[pa.Array]]:
        """The leaves' values, NULL or not, and the arrays that they are from."""
        arrays = [values(leaf) for leaf in self._leaves]
        numbers = np.empty((len(arrays), rows))
        for place, array in enumerate(arrays):
            numbers[place] = np.frombuffer(array.buffers()[1], np.float64)[array.offset : array.offset + rows]
        return numbers, arrays

    def mark(
        self,
        arrays: Sequence[pa.Array],
        places: npt.NDArray[np.int64],
        nulls: npt.NDArray[Any],
        ids: npt.NDArray[Any],
    ) -> None:
        """ids[places[f]] = nulls[f] in rows where a leaf of formula f is NULL."""
        if any(array.null_count for array in arrays):
            missing = np.array([array.is_null().to_numpy(zero_copy_only=False) for array in arrays])
            kernels.mark_formula_nulls(
                missing, self._flat, self._starts, places, nulls, missing.shape[1], ids
            )

"""Formulas that differ in one constant alone, such as `price * c > open` for a thousand c: one subject for all of them.

A row has one id for the whole family, its place among the constants (`kernels/families.py`), and each formula of it is a
range of ids. The range goes round: ids of rows where a formula holds from some constant on count up from 0, those where it
holds below some constant count up to the greatest id of 16 bits, behind which 0 follows.

    ids                       0     1     2     3     4     5   ...   65531  65532  65533  65534  65535
    holds for constants      1-4   2-4   3-4    4   none  NULL         none    1     1-2    1-3    1-4
    the second formula        x     x                                                 x      x      x
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from eddyline.execute.sliced.formula_code import TRUTHS, Draft, FormulaLeaves, Values, sides
from eddyline.kernels import families as kernels
from eddyline.kernels import formulas
from eddyline.model.expression import Call, Expression, Literal

FEWEST: Final = 16  # a place is found in the time of about so many formulas
MOST: Final = 30_000  # members whose ids, twice, fit into 16 bits
Comparison = tuple[int, int, int]  # row of the ids of one byte, first id, number of ids after it
_OPPOSITE: Final = {formulas.LESS: formulas.LESS_EQUAL, formulas.LESS_EQUAL: formulas.LESS}


class FamilyShape(NamedTuple):
    """What the members of a family have in common: `(x * c) operation y`, or `(x + c) operation y`, or the contrary."""

    product: bool
    negated: bool  # x is taken with the other sign
    operation: int
    flip: bool  # it holds where the comparison does not
    x: Expression
    y: Expression


class Asked(NamedTuple):
    """A formula that is asked for being true, or for being false; the comparison of its ids that does so names it."""

    comparison: Comparison
    subject: Expression
    truth: bool


@dataclass(frozen=True)
class Family:
    """Questions of one shape, by their constants, which ascend."""

    shape: FamilyShape
    constants: tuple[float, ...]
    members: tuple[Comparison, ...]

    def ranges(self) -> Iterator[tuple[Comparison, int, int]]:
        """Of each member the first id of its range, and the number of ids after that."""
        count = len(self.members)
        for place, member in enumerate(self.members):
            yield member, kernels.LAST + 1 - count + place, count


def find_families(questions: Iterable[Asked]) -> list[Family]:
    """The families among questions that are large enough to be worth while."""
    shapes = {asked.comparison: list(_shapes(asked.subject, asked.truth)) for asked in questions}
    sizes = Counter(shape for found in shapes.values() for shape, _ in found)
    members: dict[FamilyShape, list[tuple[float, Comparison]]] = {}
    for comparison, found in shapes.items():
        if found:
            shape, constant = max(found, key=lambda each: sizes[each[0]])
            members.setdefault(shape, []).append((constant, comparison))
    families = []
    for shape, several in members.items():
        several.sort()
        for first in range(0, len(several), MOST) if len(several) >= FEWEST else ():
            constants, comparisons = zip(*several[first : first + MOST], strict=True)
            families.append(Family(shape, constants, comparisons))
    return families


def _shapes(subject: Expression, truth: bool) -> Iterator[tuple[FamilyShape, float]]:
    """The families that a formula might belong to, each with the constant that would be its own."""
    operation, left, right = sides(subject)
    if operation == TRUTHS["eq"]:
        return  # holds for one constant in the middle
    for side, other, mirrored in ((left, right, False), (right, left, True)):
        compared = _OPPOSITE[operation] if mirrored else operation  # y < x says: not x <= y
        for x, constant, product, negated in _constants(side) if not isinstance(other, Literal) else ():
            yield FamilyShape(product, negated, compared, mirrored == truth, x, other), constant


def _constants(side: Expression) -> Iterator[tuple[Expression, float, bool, bool]]:
    """A side as a product or a sum of x and a constant: x, the constant, whether it is a product, whether x is negated."""
    for place, argument in enumerate(side.arguments):
        constant = argument.value if isinstance(argument, Literal) else None
        if not isinstance(side, Call) or not isinstance(constant, float) or not math.isfinite(constant):
            continue
        x = side.arguments[1 - place]
        if side.function == "mul" and constant:  # infinity times zero would be NaN
            yield x, constant, True, False
        elif side.function == "add":
            yield x, constant, False, False
        elif side.function == "sub":
            yield x, constant if place == 0 else -constant, False, place == 0


class Families:
    """Several families; theirs are the last rows of an array of ids, in their order."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        shapes = [family.shape for family in families]
        parts = [(shape.x, shape.y) for shape in shapes]
        draft = Draft.over([side for part in parts for side in part])
        table, ends = [], [0]
        for shape in shapes:
            x, _ = draft.operand(shape.x, draft.free)
            y, _ = draft.operand(shape.y, draft.free + (x == draft.free))
            table.append((shape.product, shape.negated, shape.operation, shape.flip, x, y))
            ends.append(len(draft.code))
        sizes = [len(family.members) for family in families]
        self._code = (*draft.arrays(), np.array(ends, np.int64), np.array(table, np.int64).reshape(-1, 6))
        constants = [constant for family in families for constant in family.constants]
        self._constants = (np.array(constants, np.float64), np.cumsum([0, *sizes]).astype(np.int64))
        self._nulls = np.array(sizes, np.uint16) + np.uint16(1)
        self._formula_leaves = FormulaLeaves(draft, parts)
        self._registers = draft.registers + 1

    def locate(self, values: Values, rows: int, ids: npt.NDArray[Any]) -> None:
        """Write the ids of all families for `rows` rows."""
        if not self.families:
            return
        leaves, arrays = self._formula_leaves.read(values, rows)
        work = np.empty((self._registers, formulas.BLOCK)), np.empty(formulas.BLOCK, np.int64)
        kernels.place_families(leaves, *self._code, *self._constants, *work, rows, ids)
        places = np.arange(len(ids) - len(self.families), len(ids))
        self._formula_leaves.mark(arrays, places, self._nulls, ids)

"""Residuals: what pairs have to satisfy beside sides, keys and windows, evaluated for these pairs alone.

Residuals that differ in constants only have one *shape*, and are evaluated together, their constants as columns:

    gt(t.price, mul(q.price, 1.01))                     pair   t.price  q.price   constant 0
    gt(t.price, mul(q.price, 1.05))                     0      12.0     10.0      1.01
    shape: gt(t.price, mul(q.price, <constant 0>))      1      12.0     10.0      1.05
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import array_of, numbers
from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Call, Column, Expression, Literal, columns_of
from eddyline.model.join import virtual_column
from eddyline.model.roles import Residual

# Operations that compare or compute row by row, so that a column may stand where a constant stood.
_COMPARISONS: Final = ("eq", "lt", "le", "gt", "ge", "null_safe_eq")
_ARITHMETIC: Final = ("add", "sub", "mul", "div", "int_div", "mod")
_LIFTED: Final = frozenset((*_COMPARISONS, *_ARITHMETIC))


@dataclass(eq=False)
class Shape:
    """Residuals that differ in constants only: `expression` has columns in their place, `constants` those of each residual."""

    expression: Expression
    aliases: tuple[str, str]
    kinds: tuple[Column, ...]
    constants: list[tuple[object, ...]] = field(default_factory=list)
    _columns: list[pa.Array] = field(default_factory=list)
    _size: int = 0

    def names(self, side: int) -> list[str]:
        """The columns that it reads of one source."""
        prefix = virtual_column(self.aliases[side], "")
        read = columns_of(self.expression)
        return sorted(name.removeprefix(prefix) for name in read if name.startswith(prefix))

    def constant_columns(self, members: Integers) -> Iterator[tuple[str, pa.Array]]:
        """The constants of some of its residuals, each as often as it comes."""
        if self._size < len(self.constants):
            self._size = len(self.constants)
            by_place = zip(*self.constants, strict=True)
            self._columns = [array_of(values, c.type) for values, c in zip(by_place, self.kinds, strict=True)]
        places = pa.array(members)
        for column, values in zip(self.kinds, self._columns, strict=True):
            yield column.name, values.take(places)


class Shapes:
    """The shapes of a set's residuals, which are known by number. Each is looked at once, however many versions have it."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Expression, tuple[str, str]], int] = {}
        self._shapes: list[Shape] = []
        self._shape_of = np.empty(0, np.int32)
        self._member_of = np.empty(0, np.int32)

    def __getitem__(self, number: int) -> Shape:
        return self._shapes[number]

    def places(self, residuals: Sequence[Residual], which: Integers) -> tuple[Integers, Integers]:
        """The shapes of some residuals, by number, and which of a shape's members each is."""
        if len(self._shape_of) < len(residuals):
            room = np.full(2 * len(residuals) - len(self._shape_of), -1, np.int32)
            self._shape_of = np.concatenate([self._shape_of, room])
            self._member_of = np.concatenate([self._member_of, room])
        for number in np.unique(which[self._shape_of[which] < 0]).tolist():
            self._shape_of[number], self._member_of[number] = self._add(residuals[number])
        return self._shape_of[which], self._member_of[which]

    def _add(self, residual: Residual) -> tuple[int, int]:
        constants: list[Literal] = []
        expression = _lifted(residual.expression, constants)
        number = self._numbers.setdefault((expression, residual.aliases), len(self._shapes))
        if number == len(self._shapes):
            kinds = tuple(_constant_column(place, constant) for place, constant in enumerate(constants))
            self._shapes.append(Shape(expression, residual.aliases, kinds))
        shape = self._shapes[number]
        shape.constants.append(tuple(constant.value for constant in constants))
        return number, len(shape.constants) - 1


def _constant_column(place: int, constant: Literal) -> Column:
    return Column(f"\0{place}", constant.type)  # no virtual column has such a name


def _lifted(expression: Expression, constants: list[Literal]) -> Expression:
    """With columns in place of the constants that can be lifted, which are appended; one without columns stays as it is."""
    if not isinstance(expression, Call) or not columns_of(expression):
        return expression
    arguments: list[Expression] = []
    for argument in expression.arguments:
        if isinstance(argument, Literal) and expression.function in _LIFTED:
            arguments.append(_constant_column(len(constants), argument))
            constants.append(argument)
        else:
            arguments.append(_lifted(argument, constants))
    return Call(expression.function, tuple(arguments), expression.type)


@dataclass(frozen=True, eq=False)
class Verdict:
    """Which pairs satisfy their residual, and in how many operations of it failed."""

    holds: Flags
    failed: Integers


def evaluate_shape(
    shape: Shape, members: Integers, columns: Sequence[Mapping[str, pa.Array]], time_zone: str
) -> Verdict:
    """Evaluate pairs, whose residuals are given by their places in the shape; `columns` of both sources."""
    virtual = {
        virtual_column(alias, name): values
        for alias, of_source in zip(shape.aliases, columns, strict=True)
        for name, values in of_source.items()
    }
    virtual.update(shape.constant_columns(members))
    evaluation = Evaluation(virtual, time_zone=time_zone, rows=len(members))
    holds = numbers(evaluation.values(shape.expression).fill_null(False))
    failed = np.zeros(len(members), np.int64)
    for _, mask in evaluation.failed(shape.expression):
        failed += mask
    return Verdict(holds, failed)

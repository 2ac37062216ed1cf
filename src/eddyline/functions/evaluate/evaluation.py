"""Evaluation of expressions over one batch, each distinct sub-expression once, with failures counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import arithmetic, cast, compare, logic, nested, text, times
from eddyline.functions.evaluate.arrays import (
    Mask,
    Outcome,
    array_of,
    nulls,
    numbers,
    stretch,
    validity,
    values_of,
)
from eddyline.functions.evaluate.read import read
from eddyline.functions.operations import OPERATIONS
from eddyline.functions.zones import Zone, find_zone
from eddyline.model.expression import Call, Column, Expression, Literal

Kernel: TypeAlias = Callable[[Call, Sequence[pa.Array], Zone], Outcome]
Batch: TypeAlias = Mapping[str, pa.Array] | pa.RecordBatch

KERNELS: Final[dict[str, Kernel]] = {
    **logic.KERNELS,
    **compare.KERNELS,
    **text.KERNELS,
    **arithmetic.KERNELS,
    **cast.KERNELS,
    **nested.KERNELS,
    **times.KERNELS,
}


class Failures:
    """How often operations failed: rows by subject (the expression asked for) and by the operation inside of it.

    >>> failures = Failures()
    >>> from eddyline.model.types import INT, STRING
    >>> subject = Call("cast", (Column("a", STRING),), INT)
    >>> evaluate(subject, {"a": pa.array(["1", "x", None])}, failures=failures).to_pylist()
    [1, None, None]
    >>> failures.total(subject), list(failures.operations(subject)) == [subject]
    (1, True)
    """

    def __init__(self) -> None:
        self._counts: dict[Expression, Counter[Expression]] = {}

    def add(self, subject: Expression, operation: Expression, rows: int) -> None:
        """Count rows for which an operation inside of a subject failed."""
        self._counts.setdefault(subject, Counter())[operation] += rows

    def operations(self, subject: Expression) -> Counter[Expression]:
        """Rows for which each operation of a subject failed."""
        return self._counts.get(subject, Counter())

    def total(self, subject: Expression | None = None) -> int:
        """Failures of one subject, or of all."""
        subjects = self._counts if subject is None else [subject]
        return sum(self.operations(each).total() for each in subjects)

    def __iter__(self) -> Iterator[Expression]:
        return iter(self._counts)

    def __bool__(self) -> bool:
        return bool(self._counts)


class Evaluation:
    """Values of expressions over one batch; sub-expressions that several of them share are computed once.

    Columns must be of the stream's Arrow types; see `read` for the forms in which they may come.
    """

    def __init__(
        self,
        batch: Batch,
        *,
        time_zone: str = "UTC",
        failures: Failures | None = None,
        rows: int | None = None,
    ) -> None:
        self._columns = batch
        self._zone = _zone(time_zone)
        self._failures = failures
        self._rows = _rows(batch) if rows is None else rows
        self._known: dict[Expression, Outcome] = {}

    def values(self, expression: Expression) -> pa.Array:
        """The expression's value for every row, in the canonical Arrow type of its Spark type."""
        result = self._outcome(expression).values
        if self._failures is not None:
            self._count(expression, self._failures)
        return stretch(result, self._rows)

    def _outcome(self, expression: Expression) -> Outcome:
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._compute(expression)
        return known

    def _compute(self, expression: Expression) -> Outcome:
        if isinstance(expression, Column):
            return read(self._columns[expression.name], expression.type)
        if isinstance(expression, Literal):
            return Outcome(array_of([expression.value], expression.type))
        assert isinstance(expression, Call), "an expression is a column, a constant or a call"
        arguments = [self._outcome(argument).values for argument in expression.arguments]
        if OPERATIONS[expression.function].strict and any(_is_null(array) for array in arguments):
            return Outcome(nulls(1, expression.type))
        return KERNELS[expression.function](expression, arguments, self._zone)

    def _count(self, subject: Expression, failures: Failures) -> None:
        """Count failures in those rows in which Spark would have come to the operation."""
        order = _parents_first(subject)
        if all(self._known[part].failed is None for part in order):
            return
        wanted = {subject: np.ones(self._rows, np.bool_)}
        for part in order:
            failed = self._known[part].failed
            rows = 0 if failed is None else int(np.count_nonzero(failed & wanted[part]))
            if rows:
                failures.add(subject, part, rows)
            for argument, mask in zip(part.arguments, self._needed(part, wanted[part]), strict=True):
                wanted[argument] = wanted[argument] | mask if argument in wanted else mask

    def _needed(self, part: Expression, wanted: Mask) -> Iterator[Mask]:
        """For each argument of a call the rows in which it matters."""
        function = part.function if isinstance(part, Call) else ""
        for place, argument in enumerate(part.arguments):
            yield wanted
            if function in ("and", "or"):
                wanted = wanted & ~self._is(argument, function == "or")
            elif function == "coalesce":
                wanted = wanted & self._is_null(argument)
            elif function in ("if", "case") and place % 2 == 0 and place + 1 < len(part.arguments):
                yield from self._branches(part, place, wanted)
                return

    def _branches(self, part: Expression, place: int, wanted: Mask) -> Iterator[Mask]:
        """After the condition at a place: its value's rows, then the next condition's, and so on."""
        while True:
            true = self._is(part.arguments[place], True)
            yield wanted & true
            wanted = wanted & ~true
            place += 2
            if place >= len(part.arguments):
                return
            yield wanted
            if place + 1 >= len(part.arguments):
                return

    def _is(self, argument: Expression, value: bool) -> Mask:
        array = self._known[argument].values
        hit: Mask = numbers(array) == value
        valid = validity(array)
        return hit if valid is None else hit & valid

    def _is_null(self, argument: Expression) -> Mask:
        valid = validity(self._known[argument].values)
        return np.zeros(1, np.bool_) if valid is None else ~valid


def evaluate(
    expression: Expression, batch: Batch, *, time_zone: str = "UTC", failures: Failures | None = None
) -> pa.Array:
    """The value of one expression for every row of a batch.

    >>> from eddyline.model.types import LONG
    >>> a = Column("a", LONG)
    >>> evaluate(Call("add", (a, Literal(1, LONG)), LONG), {"a": pa.array([1, None])}).to_pylist()
    [2, None]
    """
    return Evaluation(batch, time_zone=time_zone, failures=failures).values(expression)


def evaluate_constant(expression: Expression, time_zone: str = "UTC") -> object:
    """The value of an expression without columns, as the model holds it."""
    array = Evaluation({}, time_zone=time_zone, rows=1).values(expression)
    return values_of(array, expression.type)[0]


def _zone(name: str) -> Zone:
    zone = find_zone(name)
    assert zone is not None, f"the time zone {name} was checked where it came in"
    return zone


def _rows(batch: Batch) -> int:
    if isinstance(batch, pa.RecordBatch):
        return int(batch.num_rows)
    return max((len(array) for array in batch.values()), default=1)


def _is_null(array: pa.Array) -> bool:
    return len(array) == 1 and bool(array.null_count)


def _parents_first(root: Expression) -> list[Expression]:
    """Every distinct sub-expression once, after all those that contain it."""
    order: list[Expression] = []
    seen: set[Expression] = set()

    def visit(part: Expression) -> None:
        if part not in seen:
            seen.add(part)
            for argument in part.arguments:
                visit(argument)
            order.append(part)

    visit(root)
    return order[::-1]

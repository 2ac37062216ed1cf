"""Evaluation of expressions over one batch, each distinct sub-expression once, with failures counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.errors import PASSED_ON, EddylineError
from eddyline.functions.evaluate import arithmetic, cast, compare, logic, nested, text, times
from eddyline.functions.evaluate.arrays import Mask, Outcome, array_of, nulls, stretch, values_of
from eddyline.functions.evaluate.failures import Failures, count, failed_rows
from eddyline.functions.evaluate.read import read, read_dictionary
from eddyline.functions.operations import OPERATIONS
from eddyline.functions.zones import Zone, find_zone
from eddyline.model.expression import EXTERNAL, SPARK_TEXT, Call, Column, Expression, Literal, is_external

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


class Evaluation:
    """Values of expressions over one batch; sub-expressions that several of them share are computed once.

    Columns must be of the stream's Arrow types; see `read` for the forms in which they may come. `known` has the values
    of calls that were computed elsewhere: those that only Spark can compute have to be there.
    """

    def __init__(
        self,
        batch: Batch,
        *,
        time_zone: str = "UTC",
        failures: Failures | None = None,
        rows: int | None = None,
        known: Mapping[Call, pa.Array | pa.ChunkedArray] | None = None,
    ) -> None:
        self._columns = batch
        self._time_zone = time_zone
        self._zone = _zone(time_zone)
        self._failures = failures
        self._rows = _rows(batch) if rows is None else rows
        self._known: dict[Expression, Outcome] = {}
        for call, values in (known or {}).items():
            self._known[call] = read(values, call.type)

    def values(self, expression: Expression) -> pa.Array:
        """The expression's value for every row, in the canonical Arrow type of its Spark type."""
        result = self._outcome(expression).values
        if self._failures is not None:
            count(expression, self._known, self._rows, self._failures)
        return stretch(result, self._rows)

    def encoded(self, expression: Expression) -> pa.Array:
        """As `values`, but a column that comes as a dictionary stays one, where looking at its values once pays."""
        if isinstance(expression, Column) and expression not in self._known:
            dictionary = read_dictionary(self._columns[expression.name], expression.type)
            if dictionary is not None:
                return dictionary
        return self.values(expression)

    def failed(self, expression: Expression) -> list[tuple[Expression, Mask]]:
        """The operations of an expression that failed in some row, each with these rows."""
        self._outcome(expression)
        return list(failed_rows(expression, self._known, self._rows))

    def add_failures(self, counts: dict[Expression, int]) -> None:
        """Add to the number of each expression the rows in which operations of it failed.

        One that cannot be evaluated at all has no such rows: its queries were reported as failed where they were matched.
        """
        for expression in counts:
            try:
                failed = self.failed(expression)
            except PASSED_ON:
                raise
            except Exception:
                continue
            counts[expression] += sum(int(np.count_nonzero(mask)) for _, mask in failed)

    def some(self, rows: pa.Array, columns: Iterable[str]) -> Evaluation:
        """An evaluation of some of the rows, by number, over the columns named; failures there are not counted."""
        known = {
            call: stretch(outcome.values, self._rows).take(rows)
            for call, outcome in self._known.items()
            if isinstance(call, Call) and is_external(call)
        }
        taken = {name: self._columns[name].take(rows) for name in columns}
        return Evaluation(taken, time_zone=self._time_zone, rows=len(rows), known=known)

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
        if is_external(expression):
            first = expression.arguments[:1]
            text = (
                first[0].value
                if expression.function == SPARK_TEXT and isinstance(first[0], Literal)
                else None
            )
            raise EddylineError(
                f"only Spark can compute {text or expression.function.removeprefix(EXTERNAL)}",
                hint="match on the Spark runtime: df.transform(eddyline.spark.match(queries))",
            )
        arguments = [self._outcome(argument).values for argument in expression.arguments]
        if OPERATIONS[expression.function].strict and any(_is_null(array) for array in arguments):
            return Outcome(nulls(1, expression.type))
        return KERNELS[expression.function](expression, arguments, self._zone)


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

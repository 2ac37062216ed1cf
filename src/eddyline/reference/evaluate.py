"""The value of a bound expression for one tuple."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.reference.failure import Failure
from eddyline.reference.operations import LAZY, STRICT, TOLERANT

Row = Mapping[str, object]
OnFailure = Callable[[Expression], None]


def evaluate(
    expression: Expression,
    row: Row,
    *,
    time_zone: str = "UTC",
    on_failure: OnFailure | None = None,
) -> object:
    """The value of `expression`, NULL as None; `row` has a value, of the form in `model.types`, for every column.

    Where an operation fails it yields NULL, and `on_failure` is called with it.

    >>> from eddyline.model.types import INT
    >>> evaluate(Call("div", (Column("a", INT), Literal(0, INT)), INT), {"a": 1}, on_failure=print) is None
    div(Column('a', int), Literal(0, int)): int
    True
    """
    return _RowEvaluation(row, time_zone, on_failure).value(expression)


@dataclass(frozen=True)
class _RowEvaluation:
    row: Row
    time_zone: str
    on_failure: OnFailure | None

    def value(self, expression: Expression) -> object:
        if isinstance(expression, Literal):
            return expression.value
        if isinstance(expression, Column):
            return self.row[expression.name]
        assert isinstance(expression, Call), "an expression is a literal, a column or a call"
        if expression.function in LAZY:
            return LAZY[expression.function](expression, self.value)
        return self._apply(expression, [self.value(argument) for argument in expression.arguments])

    def _apply(self, call: Call, values: list[object]) -> object:
        if call.function in TOLERANT:
            return TOLERANT[call.function](call, self.time_zone, values)
        if any(value is None for value in values):
            return None
        try:
            return STRICT[call.function](call, self.time_zone, values)
        except Failure as failure:
            if self.on_failure is not None and call.function != "try_cast":
                self.on_failure(call)
            return failure.value

"""Counts failures, in those rows only in which a row-by-row evaluation would have come to the operation at all.

if(a > 0, 10 / a, 0)       the division also runs where a is 0, since whole columns are evaluated;
                           those rows are not wanted from it, so its failures there do not count
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate.arrays import Mask, Outcome, numbers, validity
from eddyline.functions.evaluate.compare import compare
from eddyline.functions.java_regex import needs_backtracking
from eddyline.functions.operations import OPERATIONS
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal, is_external, outermost

Wanted: TypeAlias = Callable[[Call, Sequence[pa.Array], Mask], Iterator[Mask]]


class Failures:
    """How often operations failed: rows by subject (the expression asked for) and by the operation inside of it.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> failures, subject = Failures(), Column("a", INT)
    >>> failures.add(subject, subject, 3)
    >>> failures.total(), failures.total(subject), dict(failures.operations(subject))
    (3, 3, {Column('a', int): 3})
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


def count(subject: Expression, outcomes: Mapping[Expression, Outcome], rows: int, failures: Failures) -> None:
    """Add what failed below a subject whose parts' outcomes are all known."""
    for part, mask in failed_rows(subject, outcomes, rows):
        failures.add(subject, part, int(np.count_nonzero(mask)))


def failed_rows(
    subject: Expression, outcomes: Mapping[Expression, Outcome], rows: int
) -> Iterator[tuple[Expression, Mask]]:
    """The operations below a subject that failed in some row, and the rows; all outcomes must be known."""
    order = _parents_first(subject)
    if all(outcomes[part].failed is None for part in order):
        return
    wanted = {subject: np.ones(rows, np.bool_)}
    for part in order:
        failed = outcomes[part].failed
        if failed is not None:
            missed = failed & wanted[part]
            if missed.any():
                yield part, missed
        if isinstance(part, Call) and not is_external(part):
            arrays = [outcomes[argument].values for argument in part.arguments]
            masks = _LAZY.get(part.function, _always)(part, arrays, wanted[part])
            for argument, mask in zip(part.arguments, masks, strict=True):
                wanted[argument] = wanted[argument] | mask if argument in wanted else mask


def fallible(expression: Expression) -> tuple[Expression, ...]:
    """The largest parts of an expression that can fail; operations around them that cannot are taken off.

    >>> from eddyline.model.expression import Column, Literal
    >>> from eddyline.model.types import BOOLEAN, INT
    >>> total = Call("add", (Column("a", INT), Literal(1, INT)), INT)
    >>> fallible(Call("gt", (total, Column("b", INT)), BOOLEAN)) == (total,)
    True
    """
    if not any(_can_fail(part) for part in outermost(expression)):
        return ()
    assert isinstance(expression, Call), "what can fail is a call"
    if _can_fail(expression) or expression.function in _LAZY:
        return (expression,)
    return tuple(dict.fromkeys(part for each in expression.arguments for part in fallible(each)))


def _can_fail(expression: Expression) -> bool:
    """Whether the operation itself can; what Spark computes has been counted where it was computed."""
    if not isinstance(expression, Call) or is_external(expression):
        return False
    if expression.function == "rlike":
        pattern = expression.arguments[1]
        return isinstance(pattern, Literal) and needs_backtracking(str(pattern.value))
    operation = OPERATIONS[expression.function]
    if operation.try_sql is None:
        return False
    return expression.type not in (t.FLOAT, t.DOUBLE) or not (operation.integral or _is_floating(expression))


def _is_floating(expression: Call) -> bool:
    """Whether it is computed by floating point, which overflows to infinity."""
    return expression.function in ("add", "sub", "mul")


def _parents_first(root: Expression) -> list[Expression]:
    """Every distinct sub-expression once, after all those that contain it."""
    order: list[Expression] = []
    seen: set[Expression] = set()

    def visit(part: Expression) -> None:
        if part not in seen:
            seen.add(part)
            for argument in () if is_external(part) else part.arguments:
                visit(argument)
            order.append(part)

    visit(root)
    return order[::-1]


def _true(array: pa.Array) -> Mask:
    valid = validity(array)
    return numbers(array) if valid is None else numbers(array) & valid


def _null(array: pa.Array) -> Mask:
    valid = validity(array)
    return np.zeros(1, np.bool_) if valid is None else ~valid


def _always(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    """Each argument in all rows."""
    for _ in arrays:
        yield wanted


def _until_false(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    for array in arrays:
        yield wanted
        wanted = wanted & (_true(array) | _null(array))


def _until_true(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    for array in arrays:
        yield wanted
        wanted = wanted & ~_true(array)


def _until_value(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    for array in arrays:
        yield wanted
        wanted = wanted & _null(array)


def _until_equal(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    subject, *others = arrays
    yield wanted
    wanted = wanted & ~_null(subject)
    for other in others:
        yield wanted
        wanted = wanted & ~_true(compare("eq", subject, other, call.arguments[0].type))


def _by_condition(call: Call, arrays: Sequence[pa.Array], wanted: Mask) -> Iterator[Mask]:
    """Condition, value, ..., [otherwise]: a value where its condition is the first to be true."""
    for condition in arrays[0 : len(arrays) - 1 : 2]:
        yield wanted
        yield wanted & _true(condition)
        wanted = wanted & ~_true(condition)
    if len(arrays) % 2:
        yield wanted


_LAZY: Final[dict[str, Wanted]] = {
    "and": _until_false,
    "or": _until_true,
    "coalesce": _until_value,
    "in": _until_equal,
    "if": _by_condition,
    "case": _by_condition,
}

"""Strict functions: a value other than NULL comes only of arguments that are not NULL."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.functions.operations import OPERATIONS
from eddyline.implication.facts.subjects import Subjects, absent, any_of, filled
from eddyline.model.expression import Call, Column, Expression
from eddyline.model.predicate import Predicate


def strict_functions(subjects: Subjects) -> Iterator[Predicate]:
    """`lower(name) = 'a'` needs a name, `a < b` needs both; coalesce, if and their like need nothing."""
    for call in subjects.calls():
        for needed in dict.fromkeys(_needed(call)):
            if needed in subjects:
                yield any_of(absent(call), filled(needed))


def _needed(call: Call) -> Iterator[Expression]:
    """Columns, and calls, without which a call is NULL."""
    pending: list[Expression] = [call]
    while pending:
        current = pending.pop()
        if current is not call:
            yield current
        operation = OPERATIONS.get(current.function) if isinstance(current, Call) else None
        if operation is not None and operation.strict:
            pending += [argument for argument in current.arguments if isinstance(argument, Call | Column)]

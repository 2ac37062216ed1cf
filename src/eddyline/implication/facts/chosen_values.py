"""Choices: COALESCE, IF and CASE have the value of one of their arguments, and which one is known from conditions.

coalesce(a, 0)                   a if that is not NULL, else 0
if(b > 3, a, 0)                  a where b > 3, else 0
"""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.implication.facts.subjects import Subjects, absent, filled, inside, just, outside
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or, Predicate
from eddyline.model.query import BoundQuery
from eddyline.model.regions import Regions
from eddyline.normalize.pipeline import normalize

Choice = tuple[Predicate, Expression]  # when it is taken, and what


def chosen_values(subjects: Subjects) -> Iterator[Predicate]:
    """Wherever a choice is certain, the whole lies where the chosen argument lies."""
    for call in subjects.calls("coalesce", "if", "case"):
        for taken, value in _choices(call, subjects.time_zone):
            if isinstance(value, Literal):
                yield _unless(taken, inside(call, just(value.value, value.type)))
            elif isinstance(value, Column):
                yield from _alike(subjects, taken, call, value)


def _choices(call: Call, time_zone: str) -> Iterator[Choice]:
    arguments = call.arguments
    if call.function == "coalesce":
        before: list[Predicate] = []
        for value in arguments:
            if not isinstance(value, Column | Literal):
                return  # of what comes later it is not known when it is chosen
            yield And((*before, _is_filled(value))), value
            before.append(_negated(_is_filled(value)))
        return
    *pairs, otherwise = arguments if len(arguments) % 2 else (*arguments, Literal(None, call.type))
    refused: list[Predicate] = []
    for test, value in zip(pairs[0::2], pairs[1::2], strict=True):
        true = normalize(BoundQuery("", "", "", test, (), time_zone)).predicate
        yield And((*refused, true)), value
        refused.append(_negated(true))
    yield And(tuple(refused)), otherwise


def _is_filled(value: Column | Literal) -> Predicate:
    if isinstance(value, Literal):
        return NEVER if value.value is None else ALWAYS
    return filled(value)


def _alike(subjects: Subjects, taken: Predicate, call: Call, value: Column) -> Iterator[Predicate]:
    """Both lie on the same side of each cut, both are NULL or neither is, both are NaN or neither is."""
    yield _unless(taken, filled(call), absent(value))
    yield _unless(taken, absent(call), filled(value))
    sets = [Regions(True, (cut,)) for cut in sorted({*subjects.cuts(call), *subjects.cuts(value)})]
    if call.type in t.FRACTIONAL:
        sets.append(Regions(nan=True))
    for regions in sets:
        yield _unless(taken, outside(call, regions), inside(value, regions))
        yield _unless(taken, inside(call, regions), outside(value, regions))


def _unless(taken: Predicate, *conditions: Predicate) -> Predicate:
    """One of the conditions holds, unless the choice is not taken."""
    return Or((_negated(taken), *conditions))


def _negated(predicate: Predicate) -> Predicate:
    """What is true exactly where a predicate is not."""
    if isinstance(predicate, Condition):
        return outside(predicate.subject, predicate.regions)
    parts = tuple([_negated(part) for part in predicate.parts])
    return Or(parts) if isinstance(predicate, And) else And(parts)

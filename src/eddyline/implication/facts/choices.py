"""Choices: COALESCE, IF and CASE have the value of one of their arguments, and which one is known from conditions.

coalesce(a, 0)                   a if that is not NULL, else 0
if(b > 3, a, 0)                  a where b > 3, else 0
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from eddyline.implication.facts.subjects import filled, outside
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or, Predicate
from eddyline.model.query import BoundQuery
from eddyline.normalize.pipeline import normalize

CHOICES: Final = ("coalesce", "if", "case")
MOST_KEPT: Final = 1 << 12

Choice = tuple[Predicate, Expression]  # when it is taken, and what


@lru_cache(maxsize=MOST_KEPT)
def choices_of(call: Call, time_zone: str) -> tuple[Choice, ...]:
    """Which arguments a call of `CHOICES` may have the value of, each with the condition under which it has."""
    return tuple(_choices(call, time_zone))


def _choices(call: Call, time_zone: str) -> Iterator[Choice]:
    arguments = call.arguments
    if call.function == "coalesce":
        before: list[Predicate] = []
        for value in arguments:
            if not isinstance(value, Column | Literal):
                return  # of what comes later it is not known when it is chosen
            yield And((*before, _is_filled(value))), value
            before.append(negated(_is_filled(value)))
        return
    *pairs, otherwise = arguments if len(arguments) % 2 else (*arguments, Literal(None, call.type))
    refused: list[Predicate] = []
    for test, value in zip(pairs[0::2], pairs[1::2], strict=True):
        true = is_true_where(test, time_zone)
        yield And((*refused, true)), value
        refused.append(negated(true))
    yield And(tuple(refused)), otherwise


def _is_filled(value: Column | Literal) -> Predicate:
    if isinstance(value, Literal):
        return NEVER if value.value is None else ALWAYS
    return filled(value)


def has_choice(call: Call) -> bool:
    """Whether an argument is a choice of which it is known when which value is chosen."""
    return any(is_choice(argument) for argument in call.arguments)


def is_choice(expression: Expression) -> bool:
    """Whether an expression is a choice of which it is known when which value is chosen."""
    if not isinstance(expression, Call) or expression.function not in CHOICES:
        return False
    return expression.function != "coalesce" or all(
        isinstance(argument, Column | Literal) for argument in expression.arguments
    )


@lru_cache(maxsize=MOST_KEPT)
def is_true_where(expression: Expression, time_zone: str) -> Predicate:
    """The normal form of a boolean expression: true exactly of the rows of which the expression is."""
    return normalize(BoundQuery("", "", "", expression, (), time_zone)).predicate


def unless(taken: Predicate, *conditions: Predicate) -> Predicate:
    """One of the conditions holds, unless the choice is not taken."""
    return Or((negated(taken), *conditions))


def negated(predicate: Predicate) -> Predicate:
    """What is true exactly where a predicate is not."""
    if isinstance(predicate, Condition):
        return outside(predicate.subject, predicate.regions)
    parts = tuple([negated(part) for part in predicate.parts])
    return Or(parts) if isinstance(predicate, And) else And(parts)

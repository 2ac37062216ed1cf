"""What a fact may look at: the subjects of a problem, and the regions that conditions name for each."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from eddyline.model import types as t
from eddyline.model.expression import Call, Expression
from eddyline.model.predicate import Condition, Or, Predicate, conditions_of
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.domain import domain_of

YES: Final = Regions.points([True])
NULL: Final = Regions(null=True)
MOST_KEPT: Final = 1 << 14  # conditions; facts of one pair after the other have the same ones


class Subjects:
    """Subjects with the cuts of all conditions on them, in the time zone under which they are evaluated.

    A rule that may look at much before it finds a fact asks in between whether the time is up, and ends then.
    """

    def __init__(self, predicates: Iterable[Predicate], time_zone: str, deadline: float = math.inf) -> None:
        self.time_zone = time_zone
        self._deadline = deadline
        self._cuts: dict[Expression, set[Cut]] = {}
        for predicate in predicates:
            self.learn(predicate)

    @property
    def time_is_up(self) -> bool:
        """Whether no more facts are wanted."""
        return time.perf_counter() > self._deadline

    def learn(self, predicate: Predicate) -> None:
        """Take notice of the conditions of one more predicate, be it a fact."""
        for condition in conditions_of(predicate):
            self._cuts.setdefault(condition.subject, set()).update(condition.regions.cuts)

    def __contains__(self, subject: Expression) -> bool:
        return subject in self._cuts

    def calls(self, *functions: str) -> list[Call]:
        """Subjects that are calls; of these functions only, if any are named."""
        calls = [subject for subject in self._cuts if isinstance(subject, Call)]
        return [call for call in calls if not functions or call.function in functions]

    def cuts(self, subject: Expression) -> list[Cut]:
        """The cuts of a subject, in order."""
        return sorted(self._cuts.get(subject, ()))

    def points(self, subject: Expression) -> Iterator[Any]:
        """The values that lie between two neighbouring cuts all by themselves."""
        domain = domain_of(subject.type)
        edges: list[Cut | None] = [None, *self.cuts(subject), None]
        for lower, upper in pairwise(edges):
            if not domain.has_value(lower, upper):
                continue
            value = domain.value_between(lower, upper)
            alone = not (domain.has_value(lower, (value, 0)) or domain.has_value((value, 1), upper))
            if alone and not (lower is None and upper is None):
                yield value


Fact = Callable[[Subjects], Iterable[Predicate]]


@lru_cache(maxsize=MOST_KEPT)
def inside(subject: Expression, regions: Regions) -> Condition:
    """The condition that a subject lies in regions."""
    return Condition(subject, domain_of(subject.type).canonical(regions))


@lru_cache(maxsize=MOST_KEPT)
def outside(subject: Expression, regions: Regions) -> Condition:
    """The condition that a subject does not lie in regions."""
    return Condition(subject, domain_of(subject.type).complement(regions))


def is_true(call: Expression) -> Condition:
    return inside(call, YES)


def is_not_true(call: Expression) -> Condition:
    return outside(call, YES)


def any_of(*conditions: Condition) -> Predicate:
    """At least one of the conditions."""
    return Or(conditions)


def filled(subject: Expression) -> Condition:
    """The condition that a subject is not NULL."""
    return Condition(subject, domain_of(subject.type).filled)


def absent(subject: Expression) -> Condition:
    """The condition that a subject is NULL."""
    return inside(subject, NULL)


def below(subject: Expression, value: Any, *, closed: bool) -> Condition:
    """The condition that a subject is less than a value, or the value itself if closed."""
    return Condition(subject, Regions.below(value, closed=closed))


def boolean(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments, t.BOOLEAN)


def just(value: Any, kind: t.DataType) -> Regions:
    """The set of one value; arrays and their like are told apart from NULL only.

    >>> print(just(None, t.INT), just(-0.0, t.DOUBLE))
    NULL {0.0}
    """
    if value is None:
        return NULL
    if value != value:
        return Regions(nan=True)
    if isinstance(value, list | tuple):
        return domain_of(kind).filled
    return Regions.points([value + 0.0 if kind in t.FRACTIONAL else value])

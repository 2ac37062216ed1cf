"""Images: what a function gives for the few values that a problem singles out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, Final

from eddyline.functions.fold import fold
from eddyline.implication.facts.choices import has_choice
from eddyline.implication.facts.event_times import ELAPSED
from eddyline.implication.facts.subjects import Subjects, any_of, inside, just, outside
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, externals_of, walk
from eddyline.model.names import is_unicode
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Regions
from eddyline.normalize.rewrite import rewrite

MOST: Final = 64  # values of one function
MOST_COMBINED: Final = 16  # combinations of values; many facts slow the search down, and those seldom decide


def images_of_points(subjects: Subjects) -> Iterator[Predicate]:
    """`x = 'A'` gives `lower(x) = 'a'`, `x IS NULL` gives `coalesce(x, 0) = 0`: the function is evaluated there."""
    for call in subjects.calls():
        columns = list(dict.fromkeys(e for e in walk(call) if isinstance(e, Column)))
        if not columns or not _can_be_evaluated(call) or not all(column in subjects for column in columns):
            continue
        if _is_settled(call):
            continue
        choices = [_singled_out(subjects, column) for column in columns]
        if math.prod(map(len, choices)) > (MOST if len(columns) == 1 else MOST_COMBINED):
            continue
        for values in product(*choices):
            given = tuple(zip(columns, values, strict=True))
            image = _image(call, given, subjects.time_zone)
            if image is not None:
                yield any_of(
                    *(outside(column, just(value, column.type)) for column, value in given),
                    inside(call, image),
                )


def _can_be_evaluated(call: Call) -> bool:
    return not externals_of(call) and call.function != ELAPSED


def _is_settled(call: Call) -> bool:
    """Whether other facts say as much: those about order and about choices do, for all values."""
    if call.function not in ("lt", "eq", "null_safe_eq"):
        return False
    return has_choice(call) or all(isinstance(argument, Column) for argument in call.arguments)


def _singled_out(subjects: Subjects, column: Column) -> list[Any]:
    special: list[Any] = [None, math.nan] if column.type in t.FRACTIONAL else [None]
    return [*special, *subjects.points(column)]


@lru_cache(maxsize=1 << 14)
def _image(call: Call, given: tuple[tuple[Column, Any], ...], time_zone: str) -> Regions | None:
    """The set of what a call gives for these values; None where that is more than one value, or odd text."""
    values = dict(given)
    image = _value(call, values, time_zone)
    if isinstance(image, str) and not is_unicode(image):
        return None
    zeros = [column for column, value in values.items() if column.type in t.FRACTIONAL and value == 0]
    if zeros:  # 0.0 stands for -0.0 too, which some functions tell apart
        for signs in product((0.0, -0.0), repeat=len(zeros)):
            other = _value(call, {**values, **dict(zip(zeros, signs, strict=True))}, time_zone)
            if just(other, call.type) != just(image, call.type):
                return None
    return just(image, call.type)


def _value(call: Call, values: dict[Column, Any], time_zone: str) -> Any:
    def fill(inner: Call) -> Expression:
        arguments = [
            Literal(values[argument], argument.type) if isinstance(argument, Column) else argument
            for argument in inner.arguments
        ]
        return Call(inner.function, tuple(arguments), inner.type)

    return fold(rewrite(call, fill), time_zone).value

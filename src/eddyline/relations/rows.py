"""Rows of a box: values of the columns for which the subjects lie where the box says, as far as they can be guessed.

Over columns alone the first row is one. An expression is turned round by trial: values that its constants suggest are put
into the column, and those stay for which the expression lies in its regions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from eddyline.implication.facts.subjects import YES
from eddyline.implication.goals import Goals
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, Literal, columns_of, walk
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.domain import domain_of
from eddyline.reference.evaluate import evaluate
from eddyline.relations.sample_text import texts_for

MOST_ROWS: Final = 40
MOST_VALUES: Final = 24  # of one column

Box = Sequence[int]


def rows_of(stream: Stream, goals: Goals, box: Box, time_zone: str) -> Iterator[dict[str, Any]]:
    """Rows that may lie in a box, the likeliest first; columns that nobody asks about are NULL."""
    limits = {
        cutting.subject: cutting.regions(mask) for cutting, mask in zip(goals.cuttings, box, strict=True)
    }
    names = {name for subject in limits for name in columns_of(subject)}
    choices: dict[str, list[Any]] = {}
    for name in stream.types:
        if name in names:
            choices[name] = _choices(Column(name, stream.types[name]), limits, time_zone)
    empty = dict.fromkeys(stream.types)
    if not all(choices.values()):
        return
    yield {**empty, **{name: values[0] for name, values in choices.items()}}
    if math.prod(map(len, choices.values())) == 1:
        return
    rng = random.Random(1)  # the same rows every time
    for _ in range(MOST_ROWS):
        yield {**empty, **{name: rng.choice(values) for name, values in choices.items()}}


def _choices(column: Column, limits: dict[Expression, Regions], time_zone: str) -> list[Any]:
    """Values of a column that lie in its regions, and for which every expression of it alone lies in its own."""
    regions = limits.get(column)
    alone = [
        (subject, wanted)
        for subject, wanted in limits.items()
        if isinstance(subject, Call) and columns_of(subject) == {column.name}
    ]
    reading = [
        subject for subject in limits if isinstance(subject, Call) and column.name in columns_of(subject)
    ]
    values = list(_inside(column, regions)) if regions is not None else []
    if reading:
        values += [
            value for value in _suggested(column, reading, limits) if regions is None or value in regions
        ]
    fitting = [
        value
        for value in _distinct(values)
        if all(
            _lies(evaluate(subject, {column.name: value}, time_zone=time_zone), wanted)
            for subject, wanted in alone
        )
    ]
    return fitting[:MOST_VALUES]


def _lies(value: Any, regions: Regions) -> bool:
    if isinstance(value, list | tuple | dict):  # told apart from NULL only
        return regions.inside
    return value in regions


def _distinct(values: list[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _inside(column: Column, regions: Regions) -> Iterator[Any]:
    """One value of each interval, then NaN, then NULL."""
    domain = domain_of(column.type)
    for lower, upper in regions.intervals():
        yield domain.value_between(lower, upper)
        if lower is not None and upper is not None:
            for value in (lower[0], upper[0]):
                if value in regions:
                    yield value
    if regions.nan:
        yield math.nan
    if regions.null:
        yield None


def _suggested(column: Column, reading: Sequence[Call], limits: dict[Expression, Regions]) -> Iterator[Any]:
    """Values that the constants of expressions, and the ends of their regions, suggest for a column."""
    yield None
    kind = column.type
    constants = [
        *(e.value for call in reading for e in walk(call) if isinstance(e, Literal)),
        *(constant for call in reading for constant in limits[call].constants),
    ]
    if kind == t.STRING:
        yield from texts_for([call for call in reading if limits[call] == YES])
        yield from [value for value in constants if isinstance(value, str)]
        yield from ("", "x", "X", "~", "1")
    elif kind == t.BOOLEAN:
        yield from (True, False)
    elif t.is_numeric(kind) or kind in t.RANGE:
        yield from _numbers(kind, constants)
    else:
        yield domain_of(kind).value_between(None, None)


def _numbers(kind: t.DataType, constants: Sequence[Any]) -> Iterator[Any]:
    domain = domain_of(kind)
    wanted: list[Any] = [0, 1, -1, 2]
    for constant in constants:
        if isinstance(constant, int | float | Decimal) and math.isfinite(constant):
            wanted += [constant, constant + 1, constant - 1, constant * 2, -constant]
    for number in wanted:
        if isinstance(kind, t.DecimalType):
            cut: Cut = (round(Decimal(number), kind.scale), 0)
        else:
            cut = (float(number), 0) if kind in t.FRACTIONAL else (int(number), 0)
        if domain.has_value(cut, (cut[0], 1)):
            yield domain.value_between(cut, (cut[0], 1))
    if kind in t.FRACTIONAL:
        yield math.nan

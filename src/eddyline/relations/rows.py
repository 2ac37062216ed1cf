"""Rows of a box: values of the columns for which the subjects lie where the box says, as far as they can be guessed.

Over columns alone the first row is one. An expression is turned round by trial: values that its constants suggest are put
into the column, and those stay for which the expression lies in its regions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from eddyline.implication.cutting import Cutting
from eddyline.implication.facts.subjects import YES
from eddyline.implication.goals import Goals
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, Literal, columns_of, walk
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of
from eddyline.normalize.floats import round_to_float
from eddyline.reference.evaluate import evaluate
from eddyline.relations.sample_text import suggested_texts, texts_for
from eddyline.relations.sample_times import suggested_times

MOST_ROWS: Final = 40
MOST_VALUES: Final = 24  # of one column
MOST_TIMES: Final = 60  # the same for dates and times: months, weekdays and hours
_TIMES: Final = (t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ)
_EXACT: Final = Context(prec=1_000)  # no decimal is rounded

Box = Sequence[int]


def rows_of(stream: Stream, goals: Goals, box: Box, time_zone: str) -> Iterator[dict[str, Any]]:
    """Rows that may lie in a box, the likeliest first; columns that nobody asks about are NULL.

    Values are looked for as they are asked for: most questions are answered by the first row.
    """
    empty = dict.fromkeys(stream.types)
    subjects = [cutting.subject for cutting in goals.cuttings]
    if all(isinstance(subject, Column) for subject in subjects):
        yield empty | {
            subject.name: cutting.value(mask)
            for subject, cutting, mask in zip(subjects, goals.cuttings, box, strict=True)
            if isinstance(subject, Column)
        }
        return
    regions: dict[str, Regions] = {}
    limits: list[_Limit] = []
    for cutting, mask in zip(goals.cuttings, box, strict=True):
        subject = cutting.subject
        if isinstance(subject, Column):
            regions[subject.name] = _wanted(cutting, mask)
        else:
            limits.append(_Limit(subject, reads(subject), _wanted(cutting, mask), mask != cutting.full))
    named = regions.keys() | {name for limit in limits for name in limit.reads}
    choices = {
        name: islice(
            _choices(name, kind, regions.get(name), limits, time_zone),
            MOST_TIMES if kind in _TIMES else MOST_VALUES,
        )
        for name, kind in stream.types.items()
        if name in named
    }
    first = {name: list(islice(values, 1)) for name, values in choices.items()}
    if not all(first.values()):
        return
    yield {**empty, **{name: value for name, (value,) in first.items()}}
    several = {name: [*first[name], *values] for name, values in choices.items()}
    if math.prod(map(len, several.values())) == 1:
        return
    rng = random.Random(1)  # the same rows every time
    for _ in range(MOST_ROWS):
        yield {**empty, **{name: rng.choice(values) for name, values in several.items()}}


@dataclass(frozen=True, slots=True)
class _Limit:
    """Where a box wants an expression, which reads these columns, to lie; `narrow` unless that is anywhere."""

    subject: Expression
    reads: frozenset[str]
    regions: Regions
    narrow: bool


def _wanted(cutting: Cutting, mask: int) -> Regions:
    return domain_of(cutting.subject.type).everything if mask == cutting.full else cutting.regions(mask)


@lru_cache(maxsize=1 << 14)
def reads(subject: Expression) -> frozenset[str]:
    """The columns that a subject reads."""
    return columns_of(subject)


def _choices(
    name: str, kind: t.DataType, regions: Regions | None, limits: Sequence[_Limit], time_zone: str
) -> Iterator[Any]:
    """Values of a column that lie in its regions, and for which every expression of it alone lies in its own."""
    reading = [limit for limit in limits if name in limit.reads]
    alone = [limit for limit in reading if limit.narrow and len(limit.reads) == 1]
    # that a pattern matches is harder than that it does not
    alone.sort(key=lambda limit: limit.regions != YES)
    seen: set[str] = set()
    for value in _candidates(kind, regions, reading):
        text = repr(value)
        if text in seen:
            continue
        seen.add(text)
        row = {name: value}
        if all(_lies(evaluate(each.subject, row, time_zone=time_zone), each.regions) for each in alone):
            yield value


def _candidates(kind: t.DataType, regions: Regions | None, reading: Sequence[_Limit]) -> Iterator[Any]:
    if regions is not None:
        yield from _inside(kind, regions)
    if reading:
        for value in _suggested(kind, reading):
            if regions is None or value in regions:
                yield value


def _lies(value: Any, regions: Regions) -> bool:
    if isinstance(value, list | tuple | dict):  # told apart from NULL only
        return regions.inside
    return value in regions


def _inside(kind: t.DataType, regions: Regions) -> Iterator[Any]:
    """One value of each interval, then NaN, then NULL."""
    domain = domain_of(kind)
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


def _suggested(kind: t.DataType, reading: Sequence[_Limit]) -> Iterator[Any]:
    """Values that the constants of expressions, and the ends of their regions, suggest for a column."""
    yield None
    constants = [
        *(e.value for limit in reading for e in walk(limit.subject) if isinstance(e, Literal)),
        *(constant for limit in reading for constant in limit.regions.constants),
    ]
    if kind == t.STRING:
        wanted = [limit.subject for limit in reading if limit.regions == YES]
        yield from texts_for([call for call in wanted if isinstance(call, Call)])
        yield from suggested_texts(constants)
    elif kind == t.BOOLEAN:
        yield from (True, False)
    elif kind in _TIMES:
        yield from suggested_times(constants, in_days=kind == t.DATE)
        yield from _numbers(kind, constants)
    elif t.is_numeric(kind) or kind in t.RANGE:
        yield from _numbers(kind, constants)
    else:
        yield domain_of(kind).value_between(None, None)


def _numbers(kind: t.DataType, constants: Sequence[Any]) -> Iterator[Any]:
    domain = domain_of(kind)
    wanted: list[Fraction] = [Fraction(number) for number in (0, 1, -1, 2)]
    for constant in constants:
        if isinstance(constant, int | float | Decimal) and math.isfinite(constant):
            exact = Fraction(constant)
            wanted += [exact, exact + 1, exact - 1, exact * 2, -exact]
    for number in wanted:
        value = _as_value(kind, number)
        if value is not None and domain.has_value((value, 0), (value, 1)):
            yield domain.value_between((value, 0), (value, 1))
    if kind in t.FRACTIONAL:
        yield math.nan


def _as_value(kind: t.DataType, number: Fraction) -> Any:
    """A value of a type near a number; None if the type does not reach that far.

    >>> _as_value(t.FLOAT, Fraction(10) ** 39), _as_value(t.DecimalType(38, 2), Fraction(10**30, 3)) is None
    (None, False)
    """
    if isinstance(kind, t.DecimalType):
        return Decimal(round(number * 10**kind.scale)).scaleb(-kind.scale, _EXACT)
    if kind not in t.FRACTIONAL:
        return int(number)
    try:
        value = float(number)
    except OverflowError:
        return None
    if kind == t.FLOAT:
        value = round_to_float(value)
    return value if math.isfinite(value) else None

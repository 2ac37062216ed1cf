"""Pairs of a box: rows of the virtual source, with event times as far apart and keys as equal as the box says.

Values of single columns are guessed as for rows of one stream. Then event times are put in their place, and what has to be
equal is made equal: a value of the one side is given to the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, islice, product
from typing import Any, Final

import numpy as np

from eddyline.implication.facts.event_times import elapsed, ends_of
from eddyline.implication.facts.subjects import YES
from eddyline.implication.goals import Goals
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.event_time import DAY
from eddyline.model.expression import Call, Column, Expression, walk
from eddyline.model.regions import EVERYTHING, Regions
from eddyline.normalize.domain import domain_of
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.reference.evaluate import evaluate
from eddyline.relations.rows import rows_of

MOST_MOMENTS: Final = 12
FAR: Final = 2**56  # units from 1970; nobody likes to look at what lies beyond, unless it has to
PASSES: Final = 3  # of making keys equal, which may be chained

Row = dict[str, Any]
Moments = tuple[int, int]
Limits = Mapping[Expression, Regions]


def joined_rows(stream: Stream, times: JoinedTimes, goals: Goals, box: Sequence[int]) -> Iterator[Row]:
    """Pairs that may lie in a box, the likeliest first; columns that nobody asks about are NULL."""
    limits = {
        cutting.subject: cutting.regions(mask) for cutting, mask in zip(goals.cuttings, box, strict=True)
    }
    moments = list(islice(_moments(limits, times), MOST_MOMENTS))
    if not moments:
        return
    repair = _Repair(limits, times)
    guesses = rows_of(stream, goals, box, times.time_zone)
    for row in islice(guesses, 1):
        yield from (repair.of(row, each) for each in moments)
    for row, each in zip(guesses, cycle(moments), strict=False):
        yield repair.of(row, each)


def _moments(limits: Limits, times: JoinedTimes) -> Iterator[Moments]:
    """Event times that lie in their regions and as far apart as theirs say: near 1970 and close together if possible."""
    subjects: list[tuple[Expression, tuple[int, int]]] = [(elapsed(times), (-(2**63), 2**63 - 1))]
    subjects += [(column, ends_of(column)) for column in times.columns]
    choices = [_whole_ranges(limits.get(subject, EVERYTHING), ends) for subject, ends in subjects]
    for (least, most), (first_low, first_high), (second_low, second_high) in product(*choices):
        low, high = max(first_low + least, second_low), min(first_high + most, second_high)
        if low > high:
            continue
        wanted = [min(max(0, low), high), *(end for end in (low, high) if abs(end) < FAR)]
        for second in dict.fromkeys(wanted):
            earliest, latest = max(first_low, second - most), min(first_high, second - least)
            for first in dict.fromkeys((latest, earliest)):
                yield first, second


def _whole_ranges(regions: Regions, ends: tuple[int, int]) -> list[tuple[int, int]]:
    """The intervals of a set of whole numbers by their first and last one."""
    found = []
    for lower, upper in regions.intervals():
        low = ends[0] if lower is None else max(ends[0], lower[0] + lower[1])
        high = ends[1] if upper is None else min(ends[1], upper[0] + upper[1] - 1)
        if low <= high:
            found.append((low, high))
    return found


@dataclass(frozen=True, slots=True)
class _Equality:
    """Two expressions that have to be equal; NULL only if `null_safe`."""

    sides: tuple[Expression, Expression]
    null_safe: bool

    def holds(self, one: Any, other: Any) -> bool:
        if one is None or other is None:
            return self.null_safe and one is other
        return bool(one == other or (one != one and other != other))


class _Repair:
    """Makes rows fit a box where columns depend on each other."""

    def __init__(self, limits: Limits, times: JoinedTimes) -> None:
        self.limits = limits
        self.times = times
        self.equalities = [
            _Equality((call.arguments[0], call.arguments[1]), call.function == "null_safe_eq")
            for call, regions in limits.items()
            if isinstance(call, Call) and call.function in ("eq", "null_safe_eq") and regions == YES
        ]

    def of(self, row: Row, moments: Moments) -> Row:
        """The row with these event times, and with equal keys as far as possible."""
        first, second = self.times.columns
        row = {**row, first.name: moments[0], second.name: moments[1]}
        for _ in range(PASSES):
            before = dict(row)
            for equality in self.equalities:
                row |= self._made_equal(row, equality)
            if row == before:
                break
        return row

    def _made_equal(self, row: Row, equality: _Equality) -> Row:
        """New values of columns by which both sides are equal; none if they are, or if no such values are found."""
        one, other = equality.sides
        values = [self._value(side, row) for side in (one, other)]
        if equality.holds(*values):
            return {}
        for side, value in ((other, values[0]), (one, values[1])):
            found = self._solved(side, value, row, equality)
            if found is not None:
                return found
        for value in self._shared_values(one, other):
            first, second = (self._solved(side, value, row, equality) for side in (one, other))
            if first is not None and second is not None:
                return first | second
        return {}

    def _solved(self, side: Expression, value: Any, row: Row, equality: _Equality) -> Row | None:
        """A value of the side's only column by which it equals a value, near that value."""
        if value is None and not equality.null_safe:
            return None
        columns = {node for node in walk(side) if isinstance(node, Column)}
        if len(columns) != 1 or columns & set(self.times.columns):
            return None
        (column,) = columns
        regions = self.limits.get(column, domain_of(column.type).everything)
        for guess in (value,) if side == column else _guesses(column.type, value):
            if guess in regions and equality.holds(self._value(side, {**row, column.name: guess}), value):
                return {column.name: guess}
        return None

    def _shared_values(self, one: Expression, other: Expression) -> Iterator[Any]:
        """Values that both sides may have."""
        domain = domain_of(one.type)
        shared = domain.intersection([self.limits.get(side, domain.everything) for side in (one, other)])
        for lower, upper in shared.intervals():
            yield domain.value_between(lower, upper)
        if shared.nan:
            yield math.nan
        if shared.null:
            yield None

    def _value(self, expression: Expression, row: Row) -> Any:
        return evaluate(expression, row, time_zone=self.times.time_zone)


def _guesses(kind: t.DataType, value: Any) -> Iterator[Any]:
    """Values of a type of which a cast, or a little arithmetic, may give a value of another type."""
    if value is None:
        yield None
    elif kind == t.STRING:
        yield value if isinstance(value, str) else str(value)
    elif kind == t.BOOLEAN:
        yield from (True, False)
    elif isinstance(value, int | float | Decimal) and math.isfinite(value):
        numbers = [
            number for each in (value, value * DAY, value / DAY) for number in (each, each - 1, each + 1)
        ]
        found = [_as_number(kind, number) for number in numbers]
        yield from [number for number in found if number is not None]
    elif isinstance(value, float) and kind in t.FRACTIONAL:
        yield value


def _as_number(kind: t.DataType, number: int | float | Decimal) -> Any:
    """A number as a value of a type, if the type has one near it."""
    if kind in t.RANGE:
        low, high = t.RANGE[kind]
        return int(number) if low <= number <= high else None
    if kind == t.DOUBLE:
        return float(number)
    if kind == t.FLOAT:
        return float(np.float32(number))
    if isinstance(kind, t.DecimalType):
        exact = round(Decimal(number), kind.scale)
        return exact if abs(exact) < Decimal(10) ** (kind.precision - kind.scale) else None
    return None

"""Expressions of event times as sums: a multiple of each, and a constant.

    t.ts - INTERVAL 5 SECONDS        1 * (time of t) - 5,000,000
    t.day - q.day                    86,400,000,000 * (day of t) - 86,400,000,000 * (day of q)        as an interval

Where a sum is not quite the value of the expression, it says by how much it may be off: floating point rounds, a day of the
wall clock is not always 24 hours long, and an operation may fail for event times near the ends of a type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

from eddyline.functions.fold import fold
from eddyline.model import types as t
from eddyline.model.event_time import DAY, EventTime, longest
from eddyline.model.expression import Call, Column, Expression, parameters_of, walk
from eddyline.model.join import Source, virtual_column
from eddyline.normalize.joins.clock_changes import has_changes
from eddyline.normalize.rewrite import is_fixed

_LARGEST_EXACT: Final = 2**53  # whole numbers up to it are exact in floating point


@dataclass(frozen=True, slots=True)
class JoinedTimes:
    """The event times of two sources: their columns in the virtual source, the type in which they are compared."""

    columns: tuple[Column, Column]
    kind: t.DataType
    time_zone: str

    @staticmethod
    def of(sources: Sequence[Source], times: Sequence[EventTime], time_zone: str) -> JoinedTimes:
        """Those of two sources whose event times count in one unit."""
        one, other = (
            Column(virtual_column(source.alias, time.column), time.type)
            for source, time in zip(sources, times, strict=True)
        )
        whole_numbers = one.type in t.INTEGRAL and other.type in t.INTEGRAL
        return JoinedTimes((one, other), t.LONG if whole_numbers else one.type, time_zone)


class NoFixedLength(Exception):
    """Months are added to an event time."""


@dataclass(frozen=True, slots=True)
class Linear:
    """factors[0] * time of source 0 + factors[1] * time of source 1 + constant, in microseconds, days or units of one.

    lowest, highest   its value lies between them
    rounding          by how much floating point may be off
    clock_changes     how often a difference between two offsets of the wall clock may be added to it
    reach             how far apart, in microseconds, the moments of such offsets may be
    can_fail          some event times have no value
    parameters        those that the constant was made of
    """

    factors: tuple[int, int]
    constant: Fraction
    lowest: Fraction
    highest: Fraction
    rounding: Fraction = Fraction(0)
    clock_changes: int = 0
    reach: int = 0
    can_fail: bool = False
    parameters: frozenset[int] = frozenset()

    @property
    def is_constant(self) -> bool:
        """Whether no event time is in it."""
        return self.factors == (0, 0)

    def plus(self, other: Linear) -> Linear:
        """The sum of both."""
        return Linear(
            (self.factors[0] + other.factors[0], self.factors[1] + other.factors[1]),
            self.constant + other.constant,
            self.lowest + other.lowest,
            self.highest + other.highest,
            self.rounding + other.rounding,
            self.clock_changes + other.clock_changes,
            max(self.reach, other.reach),
            self.can_fail or other.can_fail,
            self.parameters | other.parameters,
        )

    def times(self, factor: int) -> Linear:
        """A multiple of it."""
        ends = sorted((self.lowest * factor, self.highest * factor))
        return replace(
            self,
            factors=(self.factors[0] * factor, self.factors[1] * factor),
            constant=self.constant * factor,
            lowest=ends[0],
            highest=ends[1],
            rounding=self.rounding * abs(factor),
        )

    def minus(self, other: Linear) -> Linear:
        """The difference of both."""
        return self.plus(other.times(-1))


def linear(expression: Expression, times: JoinedTimes) -> Linear | None:
    """The expression as a sum; None if it is none, `NoFixedLength` if months are in it.

    >>> a, b = Column("a.n", t.LONG), Column("b.n", t.LONG)
    >>> found = linear(Call("sub", (b, a), t.LONG), JoinedTimes((a, b), t.LONG, "UTC"))
    >>> found.factors, found.can_fail
    ((-1, 1), False)
    """
    found: dict[int, Linear | None] = {}
    for node in reversed(list(walk(expression))):
        found[id(node)] = _sum(node, [found[id(argument)] for argument in node.arguments], times)
    return found[id(expression)]


def _sum(node: Expression, arguments: Sequence[Linear | None], times: JoinedTimes) -> Linear | None:
    if isinstance(node, Column):
        return _event_time(node, times)
    if is_fixed(node):
        return _constant(node, times.time_zone)
    known = [argument for argument in arguments if argument is not None]
    if not isinstance(node, Call) or node.function not in _SUMS or len(known) < len(arguments):
        return None
    return _SUMS[node.function](node, known, times)


def _event_time(column: Column, times: JoinedTimes) -> Linear | None:
    if column not in times.columns:
        return None
    end = longest(column.type) - 1
    low, high = t.RANGE[column.type]
    factors = (1, 0) if column == times.columns[0] else (0, 1)
    return Linear(factors, Fraction(0), Fraction(max(low, -end)), Fraction(min(high, end)))


def _constant(node: Expression, time_zone: str) -> Linear | None:
    value = fold(node, time_zone).value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return None
    exact = Fraction(value)
    return Linear((0, 0), exact, exact, exact, parameters=parameters_of(node))


def _add(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    return _held(arguments[0].plus(arguments[1]), call)


def _subtract(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    return _held(arguments[0].minus(arguments[1]), call)


def _negate(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    return _held(arguments[0].times(-1), call)


def _date_shift(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    """Days before or after a date, or between two; what is too far wraps around, so that it is no sum."""
    total = arguments[0].plus(arguments[1].times(1 if call.function == "date_add" else -1))
    return total if _fits(total, call.type) else None


def _time_add(call: Call, arguments: Sequence[Linear], times: JoinedTimes) -> Linear | None:
    moment, span = arguments
    if call.arguments[1].type == t.YEAR_MONTH:
        raise NoFixedLength
    if not span.is_constant:
        return None
    total = _held(moment.plus(span), call)
    moves_clock = call.type == t.TIMESTAMP and abs(span.constant) >= DAY and has_changes(times.time_zone)
    return _shifted(total, int(abs(span.constant))) if total is not None and moves_clock else total


def _date_add_months(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    raise NoFixedLength


def _subtract_times(call: Call, arguments: Sequence[Linear], times: JoinedTimes) -> Linear | None:
    total = _held(arguments[0].minus(arguments[1]), call)
    on_wall_clock = call.arguments[0].type == t.TIMESTAMP and has_changes(times.time_zone)
    return _shifted(total, 0) if total is not None and on_wall_clock else total


def _subtract_dates(call: Call, arguments: Sequence[Linear], _: JoinedTimes) -> Linear | None:
    return _held(arguments[0].minus(arguments[1]).times(DAY), call)


def _cast(call: Call, arguments: Sequence[Linear], times: JoinedTimes) -> Linear | None:
    source, target = call.arguments[0].type, call.type
    if source == t.DATE and target in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        total = _held(arguments[0].times(DAY), call)
        on_wall_clock = target == t.TIMESTAMP and has_changes(times.time_zone)
        return _shifted(total, 0) if total is not None and on_wall_clock else total
    if not t.is_numeric(source) or not t.is_numeric(target) or t.is_fractional(source):
        return None
    if t.is_integral(target) and not (t.is_integral(source) and _is_wider(target, source)):
        return None
    return _held(arguments[0], call)


def _is_wider(kind: t.DataType, than: t.DataType) -> bool:
    return t.INTEGRAL.index(kind) >= t.INTEGRAL.index(than)


def _shifted(total: Linear, reach: int) -> Linear:
    return replace(total, clock_changes=total.clock_changes + 1, reach=max(total.reach, reach))


def _held(total: Linear, call: Call) -> Linear | None:
    """The sum as a value of the type that the call has."""
    kind = call.type
    if kind == t.DOUBLE:
        return replace(total, rounding=total.rounding + _rounding(total))
    if isinstance(kind, t.DecimalType):
        if any(_scale(argument.type) > kind.scale for argument in call.arguments):
            return None
    elif kind not in t.RANGE:
        return None
    return total if _fits(total, kind) else replace(total, can_fail=True)


def _scale(kind: t.DataType) -> int:
    return kind.scale if isinstance(kind, t.DecimalType) else 0


def _fits(total: Linear, kind: t.DataType) -> bool:
    if isinstance(kind, t.DecimalType):
        end: int = 10 ** (kind.precision - kind.scale)
        return max(abs(total.lowest), abs(total.highest)) < end
    low, high = t.RANGE[kind]
    return low <= total.lowest and total.highest <= high


def _rounding(total: Linear) -> Fraction:
    largest = max(abs(total.lowest), abs(total.highest))
    is_whole = total.constant.denominator == 1 and total.rounding == 0
    return Fraction(0) if is_whole and largest <= _LARGEST_EXACT else Fraction(math.ulp(float(largest)))


_SUMS: Final[dict[str, Callable[[Call, Sequence[Linear], JoinedTimes], Linear | None]]] = {
    "add": _add,
    "sub": _subtract,
    "neg": _negate,
    "cast": _cast,
    "date_add": _date_shift,
    "date_sub": _date_shift,
    "datediff": _date_shift,
    "date_add_months": _date_add_months,
    "time_add": _time_add,
    "subtract_times": _subtract_times,
    "subtract_dates": _subtract_dates,
}

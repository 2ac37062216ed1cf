"""Event times of a pair of tuples: how far one lies after the other, and what that says of both.

The distance is a subject of its own, `elapsed`, which nobody evaluates: what a window says of it, and what comparisons of
event times and conditions on them say, is tied together by these facts. They hold for every pair of tuples that can be
joined: event times are there, and below the limit that keeps their differences within 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Final

from eddyline.implication.facts.subjects import (
    Fact,
    Subjects,
    any_of,
    filled,
    inside,
    is_not_true,
    is_true,
    outside,
)
from eddyline.model import types as t
from eddyline.model.event_time import longest
from eddyline.model.expression import Call, Column, Expression, columns_of
from eddyline.model.predicate import Condition, Predicate
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.joins.linear import JoinedTimes, Linear, NoFixedLength, linear
from eddyline.normalize.joins.time_bounds import time_bound

ELAPSED: Final = "elapsed"

Ends = tuple[int, int]


def elapsed(times: JoinedTimes) -> Call:
    """How far the event time of source 1 lies after that of source 0: as an interval, in days, or in units of one."""
    kind = t.DAY_TIME if times.kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ) else t.LONG
    return Call(ELAPSED, times.columns, kind)


def between(low: int | None, high: int | None) -> Regions:
    """All whole numbers from `low` to `high`, both of which belong to it; None is no limit.

    >>> print(between(3, 5), "|", between(None, 5), "|", between(5, 3))
    [3, 5] | (-inf, 5] | nothing
    """
    if low is not None and high is not None and low > high:
        return Regions()
    cuts: list[Cut] = [(low, 0)] if low is not None else []
    cuts += [(high, 1)] if high is not None else []
    return Regions(low is None, tuple(cuts))


def ends_of(column: Column) -> Ends:
    """The least and the greatest event time that is joined."""
    low, high = t.RANGE[column.type]
    most = longest(column.type) - 1
    return max(low, -most), min(high, most)


def event_times_of(times: JoinedTimes) -> Fact:
    """The fact about the event times of two sources."""

    def event_times(subjects: Subjects) -> Iterator[Predicate]:
        """`t.ts - q.ts <= 5` and `q.ts <= 3` give `t.ts <= 8`; `q.ts < t.ts` is `t.ts - q.ts >= 1`."""
        yield from _are_known(times)
        yield from _bounds(subjects, times)
        names = {column.name for column in times.columns}
        for call in subjects.calls():
            if call.function != ELAPSED and columns_of(call) == names:
                yield from _comparison(call, times)
                yield from _sum(subjects, call, times)

    return event_times


def _are_known(times: JoinedTimes) -> Iterator[Predicate]:
    """Tuples without an event time, or with one that is out of range, are in no pair."""
    for column in times.columns:
        yield inside(column, between(*ends_of(column)))
    yield filled(elapsed(times))


def _bounds(subjects: Subjects, times: JoinedTimes) -> Iterator[Predicate]:
    """The first time plus the distance is the second time: bounds of two of them are bounds of the third."""
    first, second = (_Amount(subjects, column, ends_of(column)) for column in times.columns)
    (least, greatest), (earliest, latest) = first.ends, second.ends
    distance = _Amount(subjects, elapsed(times), (earliest - greatest, latest - least))
    yield distance.at_most(distance.ends[1])
    yield distance.at_least(distance.ends[0])
    for one, other in product(first.lows, distance.lows):
        yield from second.at_least_if(one + other, first.at_least(one), distance.at_least(other))
    for one, other in product(first.highs, distance.highs):
        yield from second.at_most_if(one + other, first.at_most(one), distance.at_most(other))
    for one, other in product(second.lows, distance.highs):
        yield from first.at_least_if(one - other, second.at_least(one), distance.at_most(other))
    for one, other in product(second.highs, distance.lows):
        yield from first.at_most_if(one - other, second.at_most(one), distance.at_least(other))
    for one, other in product(second.lows, first.highs):
        yield from distance.at_least_if(one - other, second.at_least(one), first.at_most(other))
    for one, other in product(second.highs, first.lows):
        yield from distance.at_most_if(one - other, second.at_most(one), first.at_least(other))


class _Amount:
    """A subject that is a whole number between two ends; `lows` and `highs` are the bounds that conditions name for it."""

    def __init__(self, subjects: Subjects, subject: Expression, ends: Ends) -> None:
        self.subject = subject
        self.ends = ends
        places = {value + side for value, side in subjects.cuts(subject)}  # each just below a whole number
        self.lows = sorted({ends[0], *places})
        self.highs = sorted({ends[1], *(place - 1 for place in places)})

    def at_least(self, low: int) -> Condition:
        return inside(self.subject, between(low, None))

    def at_most(self, high: int) -> Condition:
        return inside(self.subject, between(None, high))

    def at_least_if(self, low: int, *premises: Condition) -> Iterator[Predicate]:
        if low > self.ends[0]:
            yield any_of(*map(_not, premises), self.at_least(low))

    def at_most_if(self, high: int, *premises: Condition) -> Iterator[Predicate]:
        if high < self.ends[1]:
            yield any_of(*map(_not, premises), self.at_most(high))


def _not(condition: Condition) -> Condition:
    return outside(condition.subject, condition.regions)


def _comparison(call: Call, times: JoinedTimes) -> Iterator[Predicate]:
    """A comparison of event times is true within a window; where nothing is rounded and nothing fails, exactly there."""
    bound = time_bound(call, times)
    if bound is None or (bound.low is None and bound.high is None):
        return
    distance, window = elapsed(times), between(bound.low, bound.high)
    yield any_of(is_not_true(call), inside(distance, window))
    if bound.condition is None:
        yield any_of(is_true(call), outside(distance, window))
        yield filled(call)


def _sum(subjects: Subjects, call: Call, times: JoinedTimes) -> Iterator[Predicate]:
    """A multiple of the distance, plus a constant, lies below a cut where the distance lies below another."""
    found = _exact_sum(call, times)
    if found is None:
        return
    distance = elapsed(times)
    yield filled(call)
    for cut in subjects.cuts(call):
        below = Regions(True, (cut,))
        match = _distances_below(found, cut)
        yield any_of(outside(call, below), inside(distance, match))
        yield any_of(inside(call, below), outside(distance, match))


def _exact_sum(call: Call, times: JoinedTimes) -> Linear | None:
    try:
        found = linear(call, times)
    except NoFixedLength:
        return None
    if found is None or found.can_fail or found.rounding or found.clock_changes or call.type in t.FRACTIONAL:
        return None
    before, factor = found.factors
    return found if before == -factor and factor else None


def _distances_below(found: Linear, cut: Cut) -> Regions:
    """The distances for which a sum is less than a value, or for a cut above the value at most that."""
    value, closed = cut
    factor = found.factors[1]
    limit = (Fraction(value) - found.constant) / factor
    if factor > 0:
        return between(None, floor(limit) if closed else ceil(limit) - 1)
    return between(ceil(limit) if closed else floor(limit) + 1, None)

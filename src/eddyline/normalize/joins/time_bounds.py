"""Comparisons of two event times as bounds of how far one lies after the other.

    t.ts <= q.ts + INTERVAL 5 SECONDS        time of t - time of q  <=   5,000,000
    q.ts - INTERVAL 1 MINUTE < t.ts          time of t - time of q  >= -59,999,999          the ends belong to the bounds

In zones whose clocks are set forward and back, `INTERVAL 24 HOURS` is a day of the calendar and `ts - ts` counts on the wall
clock. Such bounds are widened by the largest change that can lie between, and the comparison remains to be checked.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Final

from eddyline.model.expression import Call, Expression
from eddyline.normalize.joins.clock_changes import all_changes, largest_change
from eddyline.normalize.joins.linear import JoinedTimes, Linear, NoFixedLength, linear
from eddyline.normalize.joins.parts import TimeBound
from eddyline.normalize.rules.orient_comparison import MIRRORED

Limits = tuple[int | None, int | None]


def time_bound(comparison: Expression, times: JoinedTimes) -> TimeBound | None:
    """What a comparison says about the distance of two event times; None if it is about something else.

    >>> from eddyline.model.expression import Column, Literal
    >>> from eddyline.model.types import BOOLEAN, LONG
    >>> a, b = Column("a.n", LONG), Column("b.n", LONG)
    >>> less = Call("lt", (Call("sub", (b, a), LONG), Literal(3, LONG)), BOOLEAN)
    >>> time_bound(less, JoinedTimes((a, b), LONG, "UTC")).high
    2
    """
    if not isinstance(comparison, Call) or comparison.function not in _LIMITS:
        return None
    left, right = comparison.arguments
    try:
        sums = linear(left, times), linear(right, times)
    except NoFixedLength:
        return TimeBound(None, None, comparison, has_months=True)
    if sums[0] is None or sums[1] is None:
        return None
    difference = sums[0].minus(sums[1])
    if comparison.function == "null_safe_eq" and sums[0].can_fail and sums[1].can_fail:
        # two sums that have no value are equal, whatever they were of
        return _unlimited(comparison, difference)
    return _bound(comparison, difference, times)


def _bound(comparison: Call, difference: Linear, times: JoinedTimes) -> TimeBound:
    """`difference`, compared with zero, as limits. One that is no difference of event times remains as it is."""
    function = comparison.function
    if difference.factors[1] < 0:
        function, difference = MIRRORED[function], difference.times(-1)
    before, factor = difference.factors
    if before != -factor or factor == 0:
        return _unlimited(comparison, difference)
    error = difference.rounding + _error_of_clocks(difference, times)
    middle = -difference.constant / factor
    low, high = _LIMITS[function](middle - error / factor, middle + error / factor)
    is_exact = error == 0 and not difference.can_fail
    return TimeBound(low, high, None if is_exact else comparison, parameters=difference.parameters)


def _unlimited(comparison: Call, difference: Linear) -> TimeBound:
    return TimeBound(None, None, comparison, parameters=difference.parameters)


def _error_of_clocks(difference: Linear, times: JoinedTimes) -> int:
    """By how much changes of the wall clock can move the difference at most.

    Event times that are further apart than the constant and all offsets of the zone cannot be brought across the limit by
    changes between them, so that only changes within that distance count.
    """
    if not difference.clock_changes:
        return 0
    farthest = difference.clock_changes * all_changes(times.time_zone)
    within = max(difference.reach, ceil(abs(difference.constant))) + farthest
    return difference.clock_changes * largest_change(times.time_zone, within)


def _at_most(_: Fraction, latest: Fraction) -> Limits:
    return None, floor(latest)


def _less(_: Fraction, latest: Fraction) -> Limits:
    return None, ceil(latest) - 1


def _at_least(earliest: Fraction, _: Fraction) -> Limits:
    return ceil(earliest), None


def _greater(earliest: Fraction, _: Fraction) -> Limits:
    return floor(earliest) + 1, None


def _equal(earliest: Fraction, latest: Fraction) -> Limits:
    return ceil(earliest), floor(latest)


# By operation, the limits of a value that is compared with one between `earliest` and `latest`.
_LIMITS: Final[dict[str, Callable[[Fraction, Fraction], Limits]]] = {
    "lt": _less,
    "le": _at_most,
    "gt": _greater,
    "ge": _at_least,
    "eq": _equal,
    "null_safe_eq": _equal,  # tuples whose event time is NULL are not joined
}

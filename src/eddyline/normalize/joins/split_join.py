"""The predicate of a join as alternatives, each of them parts that all have to hold.

    q.symbol = t.symbol AND (q.price < 10 OR q.size > 5 OR t.price < 10)

    alternative 1    key  q.symbol = t.symbol        side of q  q.price < 10 OR q.size > 5
    alternative 2    key  q.symbol = t.symbol        side of t  t.price < 10

NOT goes down to the comparisons, which is exact in three-valued logic, and so is AND over OR taken apart. What reads one
source stays whole. An OR that gives too many alternatives stays whole, too, and is checked pair by pair; what follows from it
about each source, the key and the time stands beside it. So does an OR with an alternative about which nothing but such checks
is known: to take it apart would only find more pairs, and some of them twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final, NamedTuple

from eddyline.functions.comparison import conjunction, disjunction, negation
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression
from eddyline.model.join import Source
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.normalize.joins.parts import (
    KeyCondition,
    OtherCondition,
    Part,
    Parts,
    SideCondition,
    TimeBound,
    needs_spark,
    sources_of,
)
from eddyline.normalize.joins.time_bounds import time_bound
from eddyline.normalize.rules.fold_constants import fold_constants
from eddyline.normalize.rules.split_in import split_in

MAX_BRANCHES: Final = 16  # each is two roles, which tuples carry in their lineage

_OPPOSITE: Final = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
NESTED: Final = (t.ArrayType, t.MapType, t.StructType)

Alternatives = list[Parts]
Reads = Callable[[Expression], frozenset[int]]


class _Condition(NamedTuple):
    """A condition as it is written, and its alternatives."""

    expression: Expression
    alternatives: Alternatives


def split_join(predicate: Expression, sources: tuple[Source, ...], times: JoinedTimes) -> Alternatives:
    """The alternatives of a join, at most `MAX_BRANCHES`; it holds iff all parts of one of them do."""
    reads = partial(sources_of, sources=sources)
    pending: list[tuple[Expression, bool, bool]] = [(split_in(predicate, times.time_zone), False, False)]
    built: list[_Condition] = []
    while pending:
        current, negated, parts_are_built = pending.pop()
        if parts_are_built:
            start = len(built) - len(current.arguments)
            built[start:] = [_junction(current, negated, built[start:])]
        elif not isinstance(current, Call) or not _is_connective(current) or len(reads(current)) < 2:
            expression = _signed(current, negated)
            built.append(_Condition(expression, [(_part(expression, reads, times),)]))
        elif current.function == "not":
            pending.append((current.arguments[0], not negated, False))
        else:
            pending.append((current, negated, True))
            pending.extend([(part, negated, False) for part in reversed(current.arguments)])
    return built[0].alternatives


def _is_connective(call: Call) -> bool:
    return call.function in ("and", "or", "not")


def _signed(expression: Expression, negated: bool) -> Expression:
    """The expression or its opposite."""
    if not negated:
        return expression
    if isinstance(expression, Call) and expression.function in _OPPOSITE:
        return Call(_OPPOSITE[expression.function], expression.arguments, expression.type)
    return negation(expression)


def _part(expression: Expression, reads: Reads, times: JoinedTimes) -> Part:
    """What one condition is to the join."""
    read = reads(expression)
    if needs_spark(expression):
        return OtherCondition(expression)
    if len(read) < 2:
        return SideCondition(next(iter(read), 0), expression)
    folded = fold_constants(expression, times.time_zone)
    key = _key(folded, reads)
    bound = time_bound(folded, times)
    return key or OtherCondition(folded) if bound is None else replace(bound, key=key)


def _key(expression: Expression, reads: Reads) -> KeyCondition | None:
    """An equality of two expressions, each of another source; values that contain others are no keys."""
    if not isinstance(expression, Call) or expression.function not in ("eq", "null_safe_eq"):
        return None
    left, right = expression.arguments
    if isinstance(left.type, NESTED) or len(reads(left)) != 1 or len(reads(right)) != 1:
        return None
    in_order = (left, right) if 0 in reads(left) else (right, left)
    return KeyCondition(in_order, expression.function == "null_safe_eq")


def _junction(call: Expression, negated: bool, parts: list[_Condition]) -> _Condition:
    assert isinstance(call, Call), "only calls have parts"
    expression = _signed(call, negated)
    is_and = (call.function == "and") != negated
    return _Condition(expression, _all(parts) if is_and else _any(expression, parts))


def _all(parts: list[_Condition]) -> Alternatives:
    """One alternative of each part, in all combinations, while there are not too many.

    First come the parts that have no alternatives, then those that give keys and times, which no branch can do without.
    """
    combined: Alternatives = [()]
    for expression, alternatives in sorted(parts, key=_urgency):
        fits = len(combined) * len(alternatives) <= MAX_BRANCHES
        choices = alternatives if fits else [_whole(expression, alternatives)]
        combined = [(*before, *choice) for before, choice in product(combined, choices)]
    return combined


def _urgency(condition: _Condition) -> tuple[bool, int]:
    alternatives = condition.alternatives
    ties = all(any(isinstance(part, KeyCondition | TimeBound) for part in parts) for parts in alternatives)
    return len(alternatives) > 1 and not ties, len(alternatives)


def _any(expression: Expression, parts: list[_Condition]) -> Alternatives:
    alternatives = _sides_together(parts)
    is_known = all(any(not isinstance(part, OtherCondition) for part in each) for each in alternatives)
    if is_known and len(alternatives) <= MAX_BRANCHES:
        return alternatives
    return [_whole(expression, alternatives)]


def _sides_together(parts: list[_Condition]) -> Alternatives:
    """All alternatives; those that are one source's alone as one, which stays a condition of that source."""
    sides: dict[int, list[Expression]] = {}
    found: Alternatives = []
    for part in parts:
        match part.alternatives:
            case [(SideCondition(source, expression),)]:
                sides.setdefault(source, []).append(expression)
            case alternatives:
                found += alternatives
    together: Alternatives = [
        (SideCondition(source, disjunction(tuple(expressions))),) for source, expressions in sides.items()
    ]
    return together + found


def _whole(expression: Expression, alternatives: Alternatives) -> Parts:
    """An OR that is not taken apart, and what follows from it."""
    sides = [_said_everywhere(source, alternatives) for source in (0, 1)]
    keys = [{part for part in parts if isinstance(part, KeyCondition)} for parts in alternatives]
    bounds = [part for parts in alternatives for part in parts if isinstance(part, TimeBound)]
    return (
        OtherCondition(expression),
        *[side for side in sides if side is not None],
        *[key for key in alternatives[0] if all(key in each for each in keys)],
        *([_hull(alternatives, bounds)] if bounds else []),
    )


def _said_everywhere(source: int, alternatives: Alternatives) -> SideCondition | None:
    """What all alternatives together say about one source, if each of them says something."""
    said = [
        tuple(
            [part.expression for part in parts if isinstance(part, SideCondition) and part.source == source]
        )
        for parts in alternatives
    ]
    return SideCondition(source, disjunction(tuple(map(conjunction, said)))) if all(said) else None


def window_of(parts: Parts) -> tuple[int | None, int | None]:
    """The narrowest limits of all time bounds; the window is empty if the first is above the second."""
    bounds = [part for part in parts if isinstance(part, TimeBound)]
    low = max([bound.low for bound in bounds if bound.low is not None], default=None)
    high = min([bound.high for bound in bounds if bound.high is not None], default=None)
    return low, high


def _hull(alternatives: Alternatives, bounds: list[TimeBound]) -> TimeBound:
    """The widest limits of all alternatives, but for those whose window is empty."""
    windows = [window_of(parts) for parts in alternatives]
    possible = [(low, high) for low, high in windows if low is None or high is None or low <= high]
    lows = [low for low, _ in possible if low is not None]
    highs = [high for _, high in possible if high is not None]
    return TimeBound(
        min(lows, default=1) if len(lows) == len(possible) else None,
        max(highs, default=0) if len(highs) == len(possible) else None,  # empty as well, if all are
        has_months=any(bound.has_months for bound in bounds),
        parameters=frozenset().union(*[bound.parameters for bound in bounds]),
    )

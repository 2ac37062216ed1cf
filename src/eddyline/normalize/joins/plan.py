"""From a bound join to its normal form: what of it is done once for all joins that differ only in constants.

BoundJoin --split_join--> alternatives --copy_key_conditions--> sides, keys, window, residual --values--> NormalJoin
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eddyline.errors import QueryError, SchemaError
from eddyline.functions.comparison import TRUE, conjunction
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length, length_in_units, longest
from eddyline.model.expression import Column, Expression, Literal, parameters_of, walk
from eddyline.model.join import BoundJoin, Branch, KeyPart, NormalJoin, Source, Window
from eddyline.model.predicate import NEVER
from eddyline.model.query import BoundQuery
from eddyline.normalize.constants import Values, substitute
from eddyline.normalize.explain import describe
from eddyline.normalize.joins import refusals
from eddyline.normalize.joins.copy_key_conditions import copy_key_conditions
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.normalize.joins.parts import KeyCondition, OtherCondition, Parts, SideCondition, TimeBound
from eddyline.normalize.joins.split_join import Alternatives, split_join, window_of
from eddyline.normalize.pipeline import plan
from eddyline.normalize.plan import Plan
from eddyline.normalize.rewrite import with_columns
from eddyline.normalize.rules.fold_constants import fold_constants


@dataclass(frozen=True, slots=True)
class BranchPlan:
    """One alternative of all joins of a template; only sides and residual may differ between them.

    `bound` has the conditions of each side as a query of its stream, as they were written.
    """

    bound: tuple[BoundQuery, BoundQuery]
    sides: tuple[Plan, Plan]
    keys: tuple[KeyPart, ...]
    window: Window
    residual: Expression | None

    def instantiate(self, values: Values, time_zone: str) -> Branch | None:
        """The branch for the parameters' values; None if it is never true."""
        sides = self.sides[0].instantiate(values), self.sides[1].instantiate(values)
        residual = self.residual
        if residual is not None and parameters_of(residual):
            residual = fold_constants(substitute(residual, values), time_zone)
        if isinstance(residual, Literal):
            if residual.value is not True:
                return None
            residual = None
        return None if NEVER in sides else Branch(sides, self.keys, self.window, residual)


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """The normal form of all joins of one template.

    `pinned` are the parameters whose value has to be known to plan at all, as in `Plan`: those of keys and of windows.
    """

    join: BoundJoin
    pinned: frozenset[int]
    branches: tuple[BranchPlan, ...]
    takes_join_window: bool = False

    def instantiate(self, values: Values = ()) -> NormalJoin:
        """The join for the parameters' values: `values[i]` is that of parameter i, in its Python form."""
        assert not self.pinned, "a plan with pinned parameters holds for no values"
        join = self.join
        found = [branch.instantiate(values, join.time_zone) for branch in self.branches]
        branches = tuple(dict.fromkeys(branch for branch in found if branch is not None))
        return NormalJoin(
            join.id,
            join.sql,
            _pair(join),
            branches,
            join.outputs,
            join.time_zone,
            self.takes_join_window,
        )


def plan_join(join: BoundJoin, streams: Mapping[str, Stream], join_window: Length | None = None) -> JoinPlan:
    """Everything about a join's normal form that its parameters' values do not decide, or a `QueryError`.

    `streams` are by their names, as declared. A join that names no time bound takes `join_window`, if there is one.
    """
    times = _joined_times(join, streams)
    alternatives = split_join(join.predicate, join.sources, times)
    takes_join_window = join_window is not None and not _names_time(alternatives)
    if join_window is not None and takes_join_window:
        around = _window_around(join_window, join, times)
        alternatives = [(*parts, around) for parts in alternatives]
    branches = [_branch(parts, join, times, len(alternatives)) for parts in alternatives]
    pinned = [_pinned(parts) for parts in alternatives]
    pinned += [side.pinned for branch in branches if branch is not None for side in branch.sides]
    planned = tuple(branch for branch in branches if branch is not None)
    return JoinPlan(join, frozenset().union(*pinned), planned, takes_join_window)


def _pair(join: BoundJoin) -> tuple[Source, Source]:
    first, second = join.sources
    return first, second


def _joined_times(join: BoundJoin, streams: Mapping[str, Stream]) -> JoinedTimes:
    first, second = [refusals.event_time_of(streams[source.stream], join) for source in join.sources]
    both_are_whole_numbers = first.type in t.INTEGRAL and second.type in t.INTEGRAL
    if first.type != second.type and not both_are_whole_numbers:
        raise refusals.different_types(join, first.type, second.type)
    return JoinedTimes.of(join.sources, (first, second), join.time_zone)


def _window_around(length: Length, join: BoundJoin, times: JoinedTimes) -> TimeBound:
    """What `join_window` says of two event times, whichever comes first."""
    try:
        units = length_in_units(length, times.kind, "join_window")
    except SchemaError as error:  # it may well fit the event times of other joins
        raise QueryError(error.message, sql=join.sql, hint=error.hint) from error
    return TimeBound(-units, units)


def _names_time(alternatives: Alternatives) -> bool:
    return any(isinstance(part, TimeBound) for parts in alternatives for part in parts)


def _pinned(parts: Parts) -> frozenset[int]:
    keys = [expression for key in _keys(parts) for expression in key.expressions]
    bounds = [part.parameters for part in parts if isinstance(part, TimeBound)]
    return frozenset().union(*map(parameters_of, keys), *bounds)


def _branch(parts: Parts, join: BoundJoin, times: JoinedTimes, alternatives: int) -> BranchPlan | None:
    """The plan of one alternative; None if its window is empty."""
    low, high = window_of(parts)
    if low is not None and high is not None and low > high:
        return None
    keys = _keys(parts)
    if not keys:
        raise refusals.no_key(join, parts, alternatives)
    if low is None or high is None:
        raise refusals.no_window(join, parts, alternatives, times)
    if max(-low, high) >= longest(times.kind):
        raise refusals.too_long(join)
    sides = copy_key_conditions([part for part in parts if isinstance(part, SideCondition)], keys)
    first, second = (_side(number, sides, join) for number in (0, 1))
    return BranchPlan(
        (first, second),
        (plan(first), plan(second)),
        _key_parts(keys, join),
        Window(low, high),
        _residual(parts, join),
    )


def _keys(parts: Parts) -> list[KeyCondition]:
    """The keys of an alternative; equal event times are one only if there is no other, so that SteMs can be shared."""
    keys = list(dict.fromkeys(part for part in parts if isinstance(part, KeyCondition)))
    strict = {key.expressions for key in keys if not key.null_safe}
    keys = [key for key in keys if not key.null_safe or key.expressions not in strict]
    times = [part.key for part in parts if isinstance(part, TimeBound) and part.key is not None]
    return keys or times[:1]


def _key_parts(keys: Iterable[KeyCondition], join: BoundJoin) -> tuple[KeyPart, ...]:
    """Keys over the streams' own columns, in an order that does not depend on how the join is written."""
    streams = [source.stream for source in join.sources]
    found = [
        KeyPart((_own_columns(key.expressions[0]), _own_columns(key.expressions[1])), key.null_safe)
        for key in keys
    ]

    def rank(part: KeyPart) -> list[tuple[str, str]]:
        return sorted(zip(streams, map(describe, part.expressions), strict=True))

    return tuple(sorted(found, key=rank))


def _side(number: int, sides: Iterable[SideCondition], join: BoundJoin) -> BoundQuery:
    conditions = tuple([_own_columns(side.expression) for side in sides if side.source == number])
    predicate = conjunction(conditions) if conditions else TRUE
    stream = join.sources[number].stream
    return BoundQuery(join.id, join.sql, stream, predicate, (), join.time_zone)


def _own_columns(expression: Expression) -> Expression:
    """An expression over the virtual source that reads one source, over the columns of that one."""
    columns = [node for node in walk(expression) if isinstance(node, Column)]
    return with_columns(
        expression, {column.name: Column(column.name.partition(".")[2], column.type) for column in columns}
    )


def _residual(parts: Parts, join: BoundJoin) -> Expression | None:
    left = [part.expression for part in parts if isinstance(part, OtherCondition)]
    left += [part.condition for part in parts if isinstance(part, TimeBound) and part.condition is not None]
    return fold_constants(conjunction(tuple(dict.fromkeys(left))), join.time_zone) if left else None

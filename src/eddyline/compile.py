"""SQL text to normal form, with parsing, binding and planning shared by queries that differ only in constants."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from eddyline.errors import PASSED_ON, InternalError, QueryError
from eddyline.functions.context import Context
from eddyline.functions.java_regex import needs_backtracking
from eddyline.functions.special_times import special_time
from eddyline.model.catalog import Stream, distinct_streams
from eddyline.model.event_time import Length, settled_length
from eddyline.model.expression import (
    EXTERNAL,
    SPARK_TEXT,
    Call,
    Expression,
    Literal,
    Parameter,
    externals_of,
    parameters_of,
    walk,
)
from eddyline.model.join import BoundJoin, Normal, NormalJoin, role_of
from eddyline.model.predicate import conditions_of
from eddyline.model.query import BoundQuery, NormalQuery, Query
from eddyline.model.query_state import Verdict
from eddyline.normalize import JoinPlan, Plan, digest, plan, plan_join
from eddyline.sql.bind import bind, bind_text
from eddyline.sql.resolver import Resolver
from eddyline.sql.spark_only.functions import spark_functions
from eddyline.sql.template import Split, negated, split

MAX_SHAPES: Final = 10_000  # shapes kept; the one unused for longest goes first
Bound = BoundQuery | BoundJoin


@dataclass(slots=True)
class _PlannedQuery:
    """A bound query and its plan, for one combination of the pinned constants."""

    bound: Bound
    plan: Plan | JoinPlan


@dataclass(slots=True)
class _QueryShape:
    """What is known of all queries of one shape.

    `pinned` numbers the constants whose value the plan depends on (a format, a digit count, part of a subject): there
    is one plan for each combination of their values. `signs` numbers those that stand behind a minus.
    """

    pinned: tuple[int, ...]
    signs: tuple[int, ...]
    prepared: dict[tuple[object, ...], _PlannedQuery] = field(default_factory=dict)


class Compiler:
    """Compiles queries against a set of streams; with a resolver also those that only Spark can compute.

    Threads may share it: what it remembers is looked up and entered under a lock, the work is done outside of it. Two
    threads that meet a shape at the same time both study it, with the same outcome.

    >>> import pyarrow as pa
    >>> compiler = Compiler([Stream("quotes", pa.schema([("price", pa.float64())]))])
    >>> print(compiler.compile(Query("cheap", "SELECT * FROM quotes WHERE price < 10")).predicate.regions)
    (-inf, 10.0)
    """

    def __init__(
        self,
        streams: Iterable[Stream],
        *,
        time_zone: str = "UTC",
        resolver: Resolver | None = None,
        join_window: Length | None = None,
    ) -> None:
        """`join_window` is the window of joins that name none: event times differ by at most so much."""
        self.streams = distinct_streams(streams)
        self.time_zone = time_zone
        self.resolver = resolver
        self.join_window = settled_length(join_window, "join_window")
        self._by_name = {stream.name: stream for stream in self.streams}
        self._shapes: dict[tuple[object, ...], _QueryShape | None] = {}
        self._remembering = threading.Lock()

    def redeclared(self, streams: Iterable[Stream], join_window: Length | None) -> Compiler:
        """A compiler for other streams or another join window, all else being the same."""
        return Compiler(streams, time_zone=self.time_zone, resolver=self.resolver, join_window=join_window)

    def member(self, query: Query) -> NormalQuery:
        """What a segment is made of: a query of one stream, or one role of a join, which its name tells."""
        role = role_of(query.id)
        normal = self.compile(query if role is None else Query(role[0], query.sql))
        if isinstance(normal, NormalJoin):
            assert role is not None, "a join itself is in no segment, its roles are"
            return normal.role(*role[1:])
        return normal

    def selection(self, query: Query, who: str) -> NormalQuery:
        """A query of one stream in normal form, for somebody who does not evaluate joins: these are refused."""
        normal = self.compile(query)
        if isinstance(normal, NormalJoin):
            raise QueryError(
                f"it joins streams, which {who} does not do",
                query=query.id,
                hint="joins are evaluated by Engine and QuerySet.join",
            )
        return normal

    def compile(self, query: Query) -> Normal:
        """A query in normal form, or a `QueryError`; an `InternalError` where Eddyline itself fails."""
        try:
            return self._compile(query)
        except PASSED_ON:
            raise
        except Exception as error:
            raise InternalError(error, query.id, query.sql) from error

    def _compile(self, query: Query) -> Normal:
        found = split(query.sql)
        if found is None or not found.values or any(map(_is_special, found.values)):
            return self._compile_alone(query)
        key = (found.pieces, found.types)
        is_known, shape = self._recall(key)
        if not is_known:
            # The first of a shape goes the plain way: a shape that never comes back is not worth preparing.
            normal = self._compile_alone(query)
            self._remember(key, None)
            return normal
        try:
            if shape is None:
                shape = self._study(query, found)
                self._remember(key, shape)
            return self._instantiate(query, found, shape)
        except QueryError:
            if self.resolver is None:
                raise
            return self._compile_alone(query)  # other constants may have made it a query for Spark alone

    def bind(self, query: Query) -> Bound:
        """A query with names and types settled."""
        return bind(query, self.streams, time_zone=self.time_zone, resolver=self.resolver)

    def check(self, query: Query) -> Verdict:
        """Whether a query may be registered: a `QueryError` if not.

        One that needs what only Spark has is let in for the Spark runtime: verified if there is a resolver to ask.
        """
        return self.examine(query)[0]

    def examine(self, query: Query) -> tuple[Verdict, Normal | None]:
        """The verdict of `check`, and the normal form; None where it needs Spark, and nobody is there to ask."""
        try:
            normal = self.compile(query)
            names, found = needs_spark(normal), digest(normal)
            if not names:
                return Verdict(digest=found), normal
            note = f"Spark runtime only: {', '.join(names)}"
            return Verdict(spark_only=True, note=note, digest=found), normal
        except QueryError:
            if self.resolver is not None:
                raise
            names = spark_functions(query, self.streams, time_zone=self.time_zone)
            if not names:
                raise
            listed = ", ".join(names)
            note = f"Spark runtime only, and unverified: only Spark has {listed}"
            return Verdict(spark_only=True, note=note), None

    def _compile_alone(self, query: Query) -> Normal:
        bound = self.bind(query)
        return _normal(query, bound, self._plan(query, bound), ())

    def _plan(self, query: Query, bound: Bound) -> Plan | JoinPlan:
        return plan(bound) if isinstance(bound, BoundQuery) else self.plan_join(query, bound)

    def plan_join(self, query: Query, bound: BoundJoin) -> JoinPlan:
        """How the normal form of a bound join comes about, or a `QueryError`."""
        try:
            return plan_join(bound, self._by_name, self.join_window)
        except QueryError as error:
            error.query, error.sql = query.id, query.sql
            raise

    def _recall(self, key: tuple[object, ...]) -> tuple[bool, _QueryShape | None]:
        """Whether a shape was met before, and what is known of it; it is the last one to be forgotten now."""
        with self._remembering:
            if key not in self._shapes:
                return False, None
            shape = self._shapes[key] = self._shapes.pop(key)
            return True, shape

    def _remember(self, key: tuple[object, ...], shape: _QueryShape | None) -> None:
        with self._remembering:
            self._shapes[key] = shape or self._shapes.get(key)
            if len(self._shapes) > MAX_SHAPES:
                del self._shapes[next(iter(self._shapes))]

    def _study(self, query: Query, found: Split) -> _QueryShape:
        """Bind with every constant as a parameter, to see which of them matter to more than regions.

        A constant that is pinned may let others be folded into a subject, so this goes on until nothing is pinned.
        """
        everything = range(len(found.values))
        bound, pinned = self._bind(query, found, everything)
        outputs = {index for output in bound.outputs for index in parameters_of(output.expression)}
        free = parameters_of(bound.predicate) - pinned - outputs
        while True:
            bound, pinned = self._bind(query, found, sorted(free))
            held = (pinned | self._plan(query, bound).pinned) & free
            if not held:
                break
            free -= held
        signs = self._signs(query, found, sorted(free), bound)
        return _QueryShape(tuple(i for i in everything if i not in free), tuple(sorted(signs & free)))

    def _signs(self, query: Query, found: Split, free: Sequence[int], bound: Bound) -> set[int]:
        """The constants that stand behind a minus. Zero is the same with it and without: one stands in for it here."""
        zeros = [index for index in free if found.values[index] == 0]
        if zeros:
            text, spans = query.sql, found.spans()
            for index in zeros:
                end = spans[index][1]
                text = f"{text[: end - 1]}1{text[end:]}"
            shown = split(text)
            assert shown is not None and shown.types == found.types, "the last digit changes no type"
            bound, _ = self._bind(Query(query.id, text), shown, free)
            found = shown
        return {
            e.index
            for e in walk(bound.predicate)
            if isinstance(e, Parameter) and e.value != found.values[e.index]
        }

    def _bind(self, query: Query, found: Split, chosen: Sequence[int]) -> tuple[Bound, set[int]]:
        spans = found.spans()
        parameters = {spans[index][1]: (spans[index][0], index) for index in chosen}
        context = Context(self.time_zone)
        bound = bind_text(query, self.streams, context, resolver=self.resolver, parameters=parameters)
        return bound, context.pinned

    def _instantiate(self, query: Query, found: Split, shape: _QueryShape) -> Normal:
        values = found.values
        key = tuple([values[index] for index in shape.pinned])
        prepared = shape.prepared.get(key)
        if prepared is None:
            prepared = self._prepare(query, found, shape, key)
        if prepared is None:
            return self._compile_alone(query)
        if shape.signs:
            signed = list(values)
            for index in shape.signs:
                signed[index] = negated(signed[index])
            values = tuple(signed)
        return _normal(query, prepared.bound, prepared.plan, values)

    def _prepare(
        self, query: Query, found: Split, shape: _QueryShape, key: tuple[object, ...]
    ) -> _PlannedQuery | None:
        """The plan for one combination of pinned values; None where these make yet another constant matter."""
        free = [index for index in range(len(found.values)) if index not in shape.pinned]
        try:
            bound, pinned = self._bind(query, found, free)
        except QueryError as error:
            error.query = query.id
            raise
        prepared = _PlannedQuery(bound, self._plan(query, bound))
        if pinned or prepared.plan.pinned:
            return None
        if len(shape.prepared) >= MAX_SHAPES:
            shape.prepared.clear()
        shape.prepared[key] = prepared
        return prepared


def _is_special(value: object) -> bool:
    """Whether a constant may mean more to binding than its type says, so that it shares no plan with others."""
    return isinstance(value, str) and special_time(value) is not None


def _normal(query: Query, bound: Bound, prepared: Plan | JoinPlan, values: tuple[object, ...]) -> Normal:
    if isinstance(prepared, JoinPlan):
        return replace(prepared.instantiate(values), id=query.id, sql=query.sql)
    predicate = prepared.instantiate(values)
    return NormalQuery(query.id, query.sql, bound.stream, predicate, bound.outputs, bound.time_zone)


def needs_spark(query: Normal) -> list[str]:
    """What a query has that only Spark can compute: names of functions, pieces of text."""
    calls = dict.fromkeys(call for expression in _expressions(query) for call in externals_of(expression))
    return list(dict.fromkeys(_title(call) for call in calls))


def costly_patterns(query: Normal) -> list[str]:
    """The regular expressions of a query that need backtracking."""
    parts = (part for expression in _expressions(query) for part in walk(expression))
    calls = [part for part in parts if isinstance(part, Call) and part.function == "rlike"]
    patterns = [str(call.arguments[1].value) for call in calls if isinstance(call.arguments[1], Literal)]
    return [pattern for pattern in dict.fromkeys(patterns) if needs_backtracking(pattern)]


def _expressions(query: Normal) -> list[Expression]:
    if isinstance(query, NormalJoin):
        subjects = list(query.expressions())
    else:
        subjects = [condition.subject for condition in conditions_of(query.predicate)]
    return [*subjects, *(output.expression for output in query.outputs)]


def _title(call: Call) -> str:
    if call.function != SPARK_TEXT:
        return call.function.removeprefix(EXTERNAL)
    text = call.arguments[0]
    assert isinstance(text, Literal), "what only Spark can read is kept as text"
    return str(text.value)

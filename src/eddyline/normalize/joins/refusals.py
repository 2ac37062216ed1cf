"""Why a join is refused, and what to write instead."""

from __future__ import annotations

from eddyline.errors import QueryError
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.event_time import EventTime
from eddyline.model.expression import Call
from eddyline.model.join import BoundJoin
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.normalize.joins.parts import OtherCondition, Parts, TimeBound
from eddyline.normalize.joins.split_join import MAX_BRANCHES, NESTED, window_of


def event_time_of(stream: Stream, join: BoundJoin) -> EventTime:
    """The event time of a joined stream, with a lateness, or a `QueryError`."""
    times = stream.times
    if times is None and stream.event_time is not None:
        kind = stream.types.get(stream.event_time, stream.schema.field(stream.event_time).type)
        raise QueryError(
            f'the event time "{stream.event_time}" of stream "{stream.name}" has the type {kind}',
            sql=join.sql,
            hint="joins need a timestamp, a date or a whole number",
        )
    if times is None:
        declare = (
            'Stream(..., event_time="ts", lateness="10 seconds"); in a shell --event-time and --lateness'
        )
        raise QueryError(f'stream "{stream.name}" has no event time', sql=join.sql, hint=declare)
    if times.lateness is None:
        example = "10" if times.type in t.INTEGRAL else '"1 day"' if times.type == t.DATE else '"10 seconds"'
        declare = f'Stream(..., event_time="{times.column}", lateness={example}); in a shell --lateness'
        raise QueryError(f'stream "{stream.name}" declares no lateness', sql=join.sql, hint=declare)
    return times


def different_types(join: BoundJoin, first: t.DataType, second: t.DataType) -> QueryError:
    """Event times that have no distance from one another."""
    return QueryError(
        f"the event times of {_named(join)} have different types ({first}, {second})",
        sql=join.sql,
        hint="declare event times of one type",
    )


def no_key(join: BoundJoin, parts: Parts, alternatives: int) -> QueryError:
    """Sources of which all tuples would have to be compared with all."""
    first, second = (source.alias for source in join.sources)
    nested = [part for part in parts if isinstance(part, OtherCondition) and _is_nested_equality(part)]
    hint = f"add {first}.column = {second}.column"
    if nested:
        hint += "; arrays, maps and structs are no keys, but their elements and fields are"
    elif any(_is_or(part) for part in parts):
        hint += (
            f", or an equality that all alternatives of OR have (beyond {MAX_BRANCHES} they are taken as one)"
        )
    return QueryError(
        f"{_named(join)} are joined without an equality{_somewhere(alternatives)}", sql=join.sql, hint=hint
    )


def no_window(join: BoundJoin, parts: Parts, alternatives: int, times: JoinedTimes) -> QueryError:
    """Tuples of which nobody could say when they are no longer needed."""
    if any(isinstance(part, TimeBound) and part.has_months for part in parts):
        return QueryError(
            "a window needs a fixed length", sql=join.sql, hint="months differ in length: give days"
        )
    before, after = (column.name for column in times.columns)
    length = (
        "5"
        if times.kind in t.INTEGRAL
        else "INTERVAL 5 DAYS"
        if times.kind == t.DATE
        else "INTERVAL 5 SECONDS"
    )
    low, high = window_of(parts)
    hint = (
        f"add {after} BETWEEN {before} - {length} AND {before}, or set join_window; in a shell --join-window"
    )
    if low is not None:
        hint = f"add {after} <= {before} + {length}"
    elif high is not None:
        hint = f"add {after} >= {before} - {length}"
    message = f"{_named(join)} are not bound in time{_somewhere(alternatives)}, so nothing could be forgotten"
    return QueryError(message, sql=join.sql, hint=hint)


def too_long(join: BoundJoin) -> QueryError:
    """A window that reaches beyond all event times."""
    return QueryError("the window is too long", sql=join.sql, hint="give a length that you mean to wait for")


def _named(join: BoundJoin) -> str:
    return " and ".join(f'"{source.alias}"' for source in join.sources)


def _somewhere(alternatives: int) -> str:
    return " in one alternative of OR" if alternatives > 1 else ""


def _is_nested_equality(part: OtherCondition) -> bool:
    call = part.expression
    is_equality = isinstance(call, Call) and call.function in ("eq", "null_safe_eq")
    return is_equality and isinstance(call.arguments[0].type, NESTED)


def _is_or(part: object) -> bool:
    expression = part.expression if isinstance(part, OtherCondition) else None
    return isinstance(expression, Call) and expression.function == "or"

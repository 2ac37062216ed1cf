"""Which function of this package stands for which canonical operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eddyline.model.expression import Call
from eddyline.reference import casts, compare, logic, nested, text
from eddyline.reference.numbers import arithmetic
from eddyline.reference.regex.parse import rlike
from eddyline.reference.times import datetimes
from eddyline.reference.times.datetime_format import parse_timestamp

Function = Callable[..., Any]
Operation = Callable[[Call, str, list[Any]], Any]  # the call, the session time zone, the arguments' values


def _plain(function: Function) -> Operation:
    """What looks at nothing but the values."""
    return lambda call, time_zone, values: function(*values)


def _by_result(function: Function) -> Operation:
    """What also wants the result's type, first."""
    return lambda call, time_zone, values: function(call.type, *values)


def _by_argument(function: Function) -> Operation:
    """What also wants its first argument's type, first."""
    return lambda call, time_zone, values: function(call.arguments[0].type, *values)


def _on_clock(function: Function) -> Operation:
    """What also wants the wall clock of its last argument, a timestamp, first."""
    return lambda call, time_zone, values: function(
        datetimes.clock(call.arguments[-1].type, time_zone), *values
    )


def _cast(call: Call, time_zone: str, values: list[Any]) -> Any:
    return casts.cast(call.arguments[0].type, call.type, values[0], time_zone)


def _time_add(call: Call, time_zone: str, values: list[Any]) -> Any:
    timestamp, interval = (argument.type for argument in call.arguments)
    return datetimes.time_add(datetimes.clock(timestamp, time_zone), interval, *values)


def _parse_timestamp(call: Call, time_zone: str, values: list[Any]) -> Any:
    return parse_timestamp(datetimes.clock(call.type, time_zone), *values)


# These evaluate their arguments themselves, and not all of them.
LAZY: Final[Mapping[str, Callable[[Call, logic.Value], object]]] = {
    "and": logic.and_,
    "or": logic.or_,
    "in": logic.in_,
    "coalesce": logic.coalesce,
    "if": logic.if_,
    "case": logic.case,
}

# These take NULL as a value.
TOLERANT: Final[Mapping[str, Operation]] = {
    "is_null": _plain(lambda value: value is None),
    "null_safe_eq": _by_argument(compare.eq),
    "isnan": _plain(arithmetic.isnan),
    "greatest": _by_result(compare.greatest),
    "least": _by_result(compare.least),
}

# These give NULL if an argument is NULL.
STRICT: Final[Mapping[str, Operation]] = {
    "not": _plain(lambda value: not value),
    "eq": _by_argument(compare.eq),
    "lt": _by_argument(compare.lt),
    "le": _by_argument(compare.le),
    "gt": _by_argument(compare.gt),
    "ge": _by_argument(compare.ge),
    "like": _plain(text.like),
    "rlike": _plain(rlike),
    "contains": _plain(text.contains),
    "startswith": _plain(text.startswith),
    "endswith": _plain(text.endswith),
    "length": _plain(text.length),
    "lower": _plain(text.lower),
    "upper": _plain(text.upper),
    "trim": _plain(text.trim),
    "ltrim": _plain(text.ltrim),
    "rtrim": _plain(text.rtrim),
    "trim_chars": _plain(text.trim_chars),
    "ltrim_chars": _plain(text.ltrim_chars),
    "rtrim_chars": _plain(text.rtrim_chars),
    "substring": _plain(text.substring),
    "left": _plain(text.left),
    "right": _plain(text.right),
    "concat": _plain(nested.concat),
    "add": _by_result(arithmetic.add),
    "sub": _by_result(arithmetic.sub),
    "mul": _by_result(arithmetic.mul),
    "div": _by_result(arithmetic.div),
    "int_div": _by_argument(arithmetic.int_div),
    "mod": _by_result(arithmetic.mod),
    "neg": _by_result(arithmetic.neg),
    "abs": _by_result(arithmetic.abs_),
    "floor": _by_result(arithmetic.floor),
    "ceil": _by_result(arithmetic.ceil),
    "round": _by_result(arithmetic.round_),
    "cast": _cast,
    "try_cast": _cast,
    "get_field": _by_argument(nested.get_field),
    "element": _plain(nested.element),
    "map_value": _by_argument(nested.map_value),
    "array_contains": _by_argument(nested.array_contains),
    "size": _plain(len),
    "year": _plain(datetimes.year),
    "month": _plain(datetimes.month),
    "day": _plain(datetimes.day),
    "dayofweek": _plain(datetimes.dayofweek),
    "hour": _on_clock(datetimes.hour),
    "minute": _on_clock(datetimes.minute),
    "second": _on_clock(datetimes.second),
    "date_trunc": _on_clock(datetimes.date_trunc),
    "date_add": _plain(datetimes.date_add),
    "date_sub": _plain(datetimes.date_sub),
    "date_add_months": _plain(datetimes.date_add_months),
    "datediff": _plain(datetimes.datediff),
    "time_add": _time_add,
    "subtract_dates": _plain(datetimes.subtract_dates),
    "subtract_times": _on_clock(datetimes.subtract_times),
    "unix_timestamp": _plain(datetimes.unix_timestamp),
    "parse_timestamp": _parse_timestamp,
}

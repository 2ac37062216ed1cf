"""Binding of the functions on dates and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eddyline.functions import time_formats
from eddyline.functions.casts import explicit_cast
from eddyline.functions.coercion import TypeMismatch, cast, implicit
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

Arguments = tuple[Expression, ...]
Build = Callable[[Arguments, Context], Expression]
_TIMES = (t.TIMESTAMP, t.TIMESTAMP_NTZ)
DEFAULT_FORMAT: Final = "yyyy-MM-dd HH:mm:ss"


def _date_part(operation: str) -> Build:
    return lambda a, _: Call(operation, (implicit(a[0], t.DATE, operation, 0),), t.INT)


def _time_part(operation: str) -> Build:
    def build(a: Arguments, _: Context) -> Expression:
        moment = a[0] if a[0].type in _TIMES else implicit(a[0], t.TIMESTAMP, operation, 0)
        return Call(operation, (moment,), t.INT)

    return build


def _date_trunc(a: Arguments, _: Context) -> Expression:
    unit = implicit(a[0], t.STRING, "date_trunc", 0)
    return Call("date_trunc", (unit, implicit(a[1], t.TIMESTAMP, "date_trunc", 1)), t.TIMESTAMP)


def _shift(operation: str) -> Build:
    def build(a: Arguments, _: Context) -> Expression:
        if a[1].type not in (t.INT, t.SHORT, t.BYTE, t.STRING, t.VOID):
            raise TypeMismatch(f"{operation} wants int days as argument 2, not {a[1].type}", argument=1)
        return Call(operation, (implicit(a[0], t.DATE, operation, 0), cast(a[1], t.INT)), t.DATE)

    return build


def _datediff(a: Arguments, _: Context) -> Expression:
    return Call("datediff", tuple(implicit(d, t.DATE, "datediff", i) for i, d in enumerate(a)), t.INT)


def _format(expression: Expression, what: str, context: Context) -> Literal | None:
    """A literal format from the accepted subset; None where it is NULL."""
    pattern = context.constant(expression, what, 1)
    if pattern is None:
        return None
    if not isinstance(pattern, str):
        raise TypeMismatch(f"{what} wants a format in quotes as argument 2", argument=1)
    reason = time_formats.check(pattern)
    if reason is not None:
        raise TypeMismatch(
            f"{what} format {pattern!r} has {reason}, which is not supported",
            hint="for example 'yyyy-MM-dd HH:mm:ss'",
            argument=1,
        )
    return Literal(pattern, t.STRING)


def _parsed(text: Expression, pattern: Expression, what: str, context: Context) -> Expression:
    accepted = _format(pattern, what, context)
    if accepted is None:
        return Literal(None, t.TIMESTAMP)
    return Call("parse_timestamp", (implicit(text, t.STRING, what, 0), accepted), t.TIMESTAMP)


def _to_date(a: Arguments, context: Context) -> Expression:
    value = a[0]
    if value.type not in (t.DATE, *_TIMES):
        value = implicit(value, t.STRING, "to_date", 0)
        if len(a) == 2:
            value = _parsed(value, a[1], "to_date", context)
    return cast(value, t.DATE)


def _to_timestamp(a: Arguments, context: Context) -> Expression:
    value = a[0]
    if value.type in (t.DATE, *_TIMES) or t.is_numeric(value.type):
        if len(a) == 2 and t.is_numeric(value.type):
            raise TypeMismatch(f"to_timestamp takes a format with text, not with {value.type}", argument=0)
        return explicit_cast(value, t.TIMESTAMP, lenient=False)
    value = implicit(value, t.STRING, "to_timestamp", 0)
    return _parsed(value, a[1], "to_timestamp", context) if len(a) == 2 else cast(value, t.TIMESTAMP)


def _unix_timestamp(a: Arguments, context: Context) -> Expression:
    if not a:
        raise TypeMismatch(
            "unix_timestamp() without an argument is the current time, which is not deterministic",
            hint="give it a column: unix_timestamp(happened)",
        )
    value = a[0]
    if value.type in (t.DATE, *_TIMES):
        moment = cast(value, t.TIMESTAMP) if value.type == t.DATE else value
        return Call("unix_timestamp", (moment,), t.LONG)
    if value.type not in (t.STRING, t.VOID):
        raise TypeMismatch(f"unix_timestamp wants a date, a timestamp or text, not {value.type}", argument=0)
    pattern = a[1] if len(a) == 2 else Literal(DEFAULT_FORMAT, t.STRING)
    return Call("unix_timestamp", (_parsed(value, pattern, "unix_timestamp", context),), t.LONG)


ROWS: Final[tuple[tuple[Any, ...], ...]] = (
    ("year", "year(date)", 1, 1, _date_part("year"), "dates and times"),
    ("month", "month(date)", 1, 1, _date_part("month"), "dates and times"),
    ("day", "day(date)", 1, 1, _date_part("day"), "dates and times"),
    ("dayofmonth", "dayofmonth(date)", 1, 1, _date_part("day"), "dates and times"),
    ("dayofweek", "dayofweek(date)", 1, 1, _date_part("dayofweek"), "dates and times"),
    ("hour", "hour(timestamp)", 1, 1, _time_part("hour"), "dates and times"),
    ("minute", "minute(timestamp)", 1, 1, _time_part("minute"), "dates and times"),
    ("second", "second(timestamp)", 1, 1, _time_part("second"), "dates and times"),
    ("date_trunc", "date_trunc(unit, timestamp)", 2, 2, _date_trunc, "dates and times"),
    ("date_add", "date_add(date, days)", 2, 2, _shift("date_add"), "dates and times"),
    ("dateadd", "dateadd(date, days)", 2, 2, _shift("date_add"), "dates and times"),
    ("date_sub", "date_sub(date, days)", 2, 2, _shift("date_sub"), "dates and times"),
    ("datediff", "datediff(end, start)", 2, 2, _datediff, "dates and times"),
    ("date_diff", "date_diff(end, start)", 2, 2, _datediff, "dates and times"),
    ("unix_timestamp", "unix_timestamp(time [, format])", 0, 2, _unix_timestamp, "dates and times"),
    ("to_unix_timestamp", "to_unix_timestamp(time [, format])", 1, 2, _unix_timestamp, "dates and times"),
    ("to_date", "to_date(text [, format])", 1, 2, _to_date, "dates and times"),
    ("to_timestamp", "to_timestamp(text [, format])", 1, 2, _to_timestamp, "dates and times"),
)

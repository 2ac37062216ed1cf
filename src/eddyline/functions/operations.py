"""The canonical operations: what a bound `Call` may name, what it means, and how Spark is asked for the same.

Arguments have been coerced before: an operation never converts. Unless noted, an operation is *strict*: a NULL argument
gives NULL. Where it *fails* for a tuple (overflow, division by zero, text that is no number) it yields NULL there, and
the failure is counted; `try_sql` is Spark's own form with that behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Operation:
    """One canonical operation.

    `sql` and `try_sql` are templates of Spark SQL over rendered arguments: `{0}`, `{1}`, ..., `{*}` for all of them
    with commas, `{type}` for the result type, `{smallest}` for the least value of the first argument's type.
    `try_sql` is None where the operation cannot fail; an `integral` form holds for whole numbers only, `sql` being
    right for the others.
    """

    name: str
    meaning: str
    sql: str
    try_sql: str | None = None
    strict: bool = True
    integral: bool = False


def _table(*operations: Operation) -> dict[str, Operation]:
    return {operation.name: operation for operation in operations}


OPERATIONS: Final = _table(
    # Logic, three-valued: and/or take any number of arguments and do not stop at NULL.
    Operation("and", "false if any is false, else NULL if any is NULL, else true", "({*})", strict=False),
    Operation("or", "true if any is true, else NULL if any is NULL, else false", "({*})", strict=False),
    Operation("not", "the opposite; NULL stays NULL", "(NOT {0})"),
    Operation("is_null", "whether the argument is NULL; never NULL itself", "({0} IS NULL)", strict=False),
    # Comparison of two values of one type. NaN equals NaN and is above everything else, -0.0 equals 0.0; strings and
    # binaries by bytes; arrays and structs element by element, NULL elements lowest.
    Operation("eq", "equal", "({0} = {1})"),
    Operation("lt", "less", "({0} < {1})"),
    Operation("le", "less or equal", "({0} <= {1})"),
    Operation("gt", "greater", "({0} > {1})"),
    Operation("ge", "greater or equal", "({0} >= {1})"),
    Operation(
        "null_safe_eq", "equal, with NULL equal to NULL; never NULL itself", "({0} <=> {1})", strict=False
    ),
    Operation(
        "in",
        "true if the first equals another, else NULL if any is NULL, else false",
        "({0} IN ({1*}))",
        strict=False,
    ),
    # Text.
    Operation(
        "like", "text, pattern with % and _, escape character (a literal)", "({0} LIKE {1} ESCAPE {2})"
    ),
    Operation("rlike", "text contains a match of the Java regular expression", "({0} RLIKE {1})"),
    Operation("contains", "text or bytes occur in the first", "contains({*})"),
    Operation("startswith", "the first starts with the second", "startswith({*})"),
    Operation("endswith", "the first ends with the second", "endswith({*})"),
    Operation("length", "code points of a string, bytes of a binary; int", "length({0})"),
    Operation("lower", "lower case as in Java, full Unicode", "lower({0})"),
    Operation("upper", "upper case as in Java, full Unicode", "upper({0})"),
    Operation("trim", "without leading and trailing spaces (only U+0020)", "trim({0})"),
    Operation("ltrim", "without leading spaces (only U+0020)", "ltrim({0})"),
    Operation("rtrim", "without trailing spaces (only U+0020)", "rtrim({0})"),
    Operation("trim_chars", "text, set of characters to take off both ends", "trim(BOTH {1} FROM {0})"),
    Operation("ltrim_chars", "text, set of characters to take off the start", "trim(LEADING {1} FROM {0})"),
    Operation("rtrim_chars", "text, set of characters to take off the end", "trim(TRAILING {1} FROM {0})"),
    Operation(
        "substring",
        "text or bytes, start (from 1; 0 as 1; negative from the end), length; all int",
        "substring({*})",
    ),
    Operation("left", "first n characters or bytes; none if n <= 0", "left({*})"),
    Operation("right", "last n characters or bytes; none if n <= 0", "right({*})"),
    Operation("concat", "all arguments (strings, binaries or arrays) one after the other", "concat({*})"),
    # Arithmetic. Integral: both of the result type. Decimals: computed exactly, rounded half up to the result's scale.
    Operation("add", "sum; fails on overflow", "({0} + {1})", "try_add({*})"),
    Operation("sub", "difference; fails on overflow", "({0} - {1})", "try_subtract({*})"),
    Operation("mul", "product; fails on overflow", "({0} * {1})", "try_multiply({*})"),
    Operation(
        "div", "quotient of two doubles or decimals; fails on zero divisor", "({0} / {1})", "try_divide({*})"
    ),
    Operation(
        "int_div",
        "bigint quotient of two bigints or decimals, towards zero; fails on zero divisor and overflow",
        "({0} div {1})",
        "(CASE WHEN {1} = 0L THEN NULL WHEN {0} = {smallest} AND {1} = -1L THEN NULL ELSE {0} div {1} END)",
    ),
    Operation(
        "mod", "remainder with the sign of the dividend; fails on zero divisor", "({0} % {1})", "try_mod({*})"
    ),
    Operation(
        "neg",
        "negated; fails for the smallest integer",
        "(- {0})",
        "(CASE WHEN {0} = {smallest} THEN NULL ELSE (- {0}) END)",
        integral=True,
    ),
    Operation(
        "abs",
        "without sign; fails for the smallest integer",
        "abs({0})",
        "(CASE WHEN {0} = {smallest} THEN NULL ELSE abs({0}) END)",
        integral=True,
    ),
    Operation(
        "floor", "double to bigint (clipped, NaN gives 0), bigint as it is, decimal to scale 0", "floor({0})"
    ),
    Operation(
        "ceil", "double to bigint (clipped, NaN gives 0), bigint as it is, decimal to scale 0", "ceil({0})"
    ),
    Operation(
        "round",
        "half up to a literal number of digits after the point (negative: before it); integral types fail on overflow",
        "round({0}, {1})",
        "try_cast(round(CAST({0} AS DECIMAL(38,0)), {1}) AS {type})",
        integral=True,
    ),
    Operation("isnan", "whether a double or float is NaN; false for NULL", "isnan({0})", strict=False),
    # Choice. All alternatives have the result type.
    Operation("coalesce", "the first that is not NULL", "coalesce({*})", strict=False),
    Operation("if", "second if the first is true, else third", "if({*})", strict=False),
    Operation(
        "case", "condition, value, ..., [otherwise]: value of the first true condition", "CASE", strict=False
    ),
    Operation("greatest", "the largest of those that are not NULL", "greatest({*})", strict=False),
    Operation("least", "the smallest of those that are not NULL", "least({*})", strict=False),
    # Conversion.
    Operation(
        "cast",
        "to the result type; fails where the value has no such form",
        "CAST({0} AS {type})",
        "try_cast({0} AS {type})",
    ),
    Operation("try_cast", "as cast, but its failures are not counted", "try_cast({0} AS {type})"),
    # Nested values.
    Operation("get_field", "field of a struct, named by a literal", "{0}.{field}"),
    Operation("element", "element of an array, from 0; fails outside", "{0}[{1}]", "get({0}, {1})"),
    Operation("map_value", "value of a map under a key, NULL where the key is missing", "{0}[{1}]"),
    Operation(
        "array_contains",
        "true if an element equals, else NULL if any is NULL, else false",
        "array_contains({*})",
    ),
    Operation("size", "number of elements of an array or map; int", "size({0})"),
    # Dates and times. Fields and truncation of a timestamp are those of the session time zone's wall clock.
    Operation("year", "of a date", "year({0})"),
    Operation("month", "of a date, 1 to 12", "month({0})"),
    Operation("day", "of a date, 1 to 31", "day({0})"),
    Operation("dayofweek", "of a date, 1 is Sunday", "dayofweek({0})"),
    Operation("hour", "of a timestamp with or without zone", "hour({0})"),
    Operation("minute", "of a timestamp with or without zone", "minute({0})"),
    Operation("second", "of a timestamp with or without zone", "second({0})"),
    Operation(
        "date_trunc", "unit (string; NULL where unknown), timestamp: start of the unit", "date_trunc({*})"
    ),
    Operation("date_add", "date and days (int)", "date_add({*})"),
    Operation("date_sub", "date and days (int)", "date_sub({*})"),
    Operation(
        "date_add_months",
        "date and a year-month interval; last day of month kept inside",
        "({0} + {1})",
        "try_add({*})",
    ),
    Operation("datediff", "days from the second date to the first; int", "datediff({*})"),
    Operation("time_add", "timestamp (with or without zone) and an interval", "({0} + {1})", "try_add({*})"),
    Operation(
        "subtract_dates", "first date minus second as a day-time interval", "({0} - {1})", "try_subtract({*})"
    ),
    Operation(
        "subtract_times",
        "first timestamp minus second on the wall clock, day-time",
        "({0} - {1})",
        "try_subtract({*})",
    ),
    Operation(
        "unix_timestamp",
        "whole seconds since 1970 of a timestamp with or without zone, towards zero; bigint",
        "unix_timestamp({0})",
    ),
    Operation(
        "parse_timestamp",
        "text and a literal format of letters yyyy MM dd HH mm ss SSS... and separators; fails where it does not fit",
        "to_timestamp({*})",
        "try_to_timestamp({*})",
    ),
)

"""The accepted functions, one row each: name, arguments, and how a call becomes canonical operations.

lower(name)          name STRING                 ->  lower(name)
nvl(a, b)            a INT, b DECIMAL(2,1)       ->  coalesce(cast(a AS DECIMAL(11,1)), cast(b AS ...))
year(happened)       happened TIMESTAMP          ->  year(cast(happened AS DATE))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eddyline.functions import dates, java_regex, texts
from eddyline.functions.arithmetic import negate, signed
from eddyline.functions.casts import explicit_cast
from eddyline.functions.coercion import TypeMismatch, adjusted, cast, implicit, to_common
from eddyline.functions.comparison import (
    UNKNOWN,
    between,
    compare,
    condition,
    conjunction,
    disjunction,
    negation,
)
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

Arguments = tuple[Expression, ...]
Build = Callable[[Arguments, Context], Expression]
ANY_NUMBER: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Function:
    """One accepted function: how it is called, between how many arguments it takes, and what it becomes."""

    name: str
    signature: str
    least: int
    most: int
    build: Build
    group: str


def _absolute(a: Arguments, _: Context) -> Expression:
    operand = signed(a[0], "abs")
    return Call("abs", (operand,), operand.type)


def _whole(operation: str) -> Build:
    def build(a: Arguments, _: Context) -> Expression:
        operand = a[0]
        if isinstance(operand.type, t.DecimalType):
            digits = operand.type.precision - operand.type.scale
            kind = adjusted(digits + (1 if operand.type.scale else 0), 0)
            return Call(operation, (operand,), kind)
        if operand.type != t.LONG:
            operand = implicit(operand, t.DOUBLE, operation, 0)
        return Call(operation, (operand,), t.LONG)

    return build


def _round(a: Arguments, context: Context) -> Expression:
    operand = a[0] if t.is_numeric(a[0].type) else implicit(a[0], t.DOUBLE, "round", 0)
    digits = context.constant(a[1], "round", 1) if len(a) == 2 else 0
    if digits is None:
        return Literal(None, operand.type)
    try:
        scale = int(str(digits))
    except ValueError:
        raise TypeMismatch("round wants a whole number of digits as argument 2", argument=1) from None
    if not t.RANGE[t.INT][0] <= scale <= t.RANGE[t.INT][1]:
        raise TypeMismatch("round wants a number of digits that is an int as argument 2", argument=1)
    scale = max(-400, min(scale, 400))  # no number has digits beyond, and powers of ten would fill the memory
    kind = operand.type
    if isinstance(kind, t.DecimalType):
        kind = _rounded_decimal(kind, scale)
    return Call("round", (operand, Literal(scale, t.INT)), kind)


def _rounded_decimal(kind: t.DecimalType, scale: int) -> t.DecimalType:
    """Spark's type of a rounded decimal: one more digit in front for the carry."""
    whole = kind.precision - kind.scale + 1
    if scale < 0:
        return t.DecimalType(min(max(whole, -scale + 1), t.MAX_PRECISION), 0)
    kept = min(kind.scale, scale)
    return t.DecimalType(min(whole + kept, t.MAX_PRECISION), kept)


def _coalesce(a: Arguments, _: Context) -> Expression:
    values = to_common(a, "coalesce")
    return values[0] if len(values) == 1 else Call("coalesce", values, values[0].type)


def _nullif(a: Arguments, context: Context) -> Expression:
    equal = compare("eq", a[0], a[1], context)
    return Call("if", (equal, Literal(None, a[0].type), a[0]), a[0].type)


def _nvl2(a: Arguments, _: Context) -> Expression:
    values = to_common(a[1:], "nvl2")
    present = negation(Call("is_null", (a[0],), t.BOOLEAN))
    return Call("if", (present, *values), values[0].type)


def _if(a: Arguments, _: Context) -> Expression:
    if a[0].type not in (t.BOOLEAN, t.VOID):
        raise TypeMismatch(f"if wants a condition as argument 1, not {a[0].type}", argument=0)
    values = to_common(a[1:], "if")
    return Call("if", (cast(a[0], t.BOOLEAN), *values), values[0].type)


def case(branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression | None) -> Expression:
    """CASE WHEN ... THEN ... [ELSE ...] END, all results in one type."""
    assert all(test.type == t.BOOLEAN for test, _ in branches), "the binder checks the conditions"
    results = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
    values = to_common(tuple(results), "CASE")
    arguments = [part for (test, _), value in zip(branches, values, strict=False) for part in (test, value)]
    if otherwise is not None:
        arguments.append(values[-1])
    return Call("case", tuple(arguments), values[0].type)


def _extreme(operation: str) -> Build:
    def build(a: Arguments, _: Context) -> Expression:
        values = to_common(a, operation, promote_strings=False)
        if not t.is_orderable(values[0].type):
            raise TypeMismatch(f"{operation} cannot compare values of type {values[0].type}")
        return Call(operation, values, values[0].type)

    return build


def _isnan(a: Arguments, _: Context) -> Expression:
    operand = a[0] if a[0].type == t.FLOAT else implicit(a[0], t.DOUBLE, "isnan", 0)
    return Call("isnan", (operand,), t.BOOLEAN)


def _array_contains(a: Arguments, _: Context) -> Expression:
    if not isinstance(a[0].type, t.ArrayType):
        raise TypeMismatch(f"array_contains wants an array as argument 1, not {a[0].type}", argument=0)
    if a[1].type == t.VOID:
        raise TypeMismatch("array_contains cannot look for NULL", argument=1)
    element, value = Literal(None, a[0].type.element), a[1]
    kinds = to_common((Literal(None, value.type), element), "array_contains", promote_strings=False)
    kind = kinds[0].type
    if not t.is_orderable(kind):
        raise TypeMismatch(f"array_contains cannot compare values of type {kind}")
    return Call("array_contains", (cast(a[0], t.ArrayType(kind)), cast(value, kind)), t.BOOLEAN)


def _size(a: Arguments, _: Context) -> Expression:
    if a[0].type == t.VOID:
        return Literal(None, t.INT)
    if not isinstance(a[0].type, t.ArrayType | t.MapType):
        raise TypeMismatch(
            f"size wants an array or a map, not {a[0].type}", hint="length() measures text", argument=0
        )
    return Call("size", a, t.INT)


def like(value: Expression, pattern: Expression, escape: str) -> Expression:
    """`value LIKE pattern ESCAPE escape`."""
    text, wanted = implicit(value, t.STRING, "LIKE", 0), implicit(pattern, t.STRING, "LIKE", 1)
    return Call("like", (text, wanted, Literal(escape, t.STRING)), t.BOOLEAN)


def ilike(value: Expression, pattern: Expression, escape: str) -> Expression:
    """`value ILIKE pattern`: both in lower case, as Spark defines it."""
    text, wanted = implicit(value, t.STRING, "ILIKE", 0), implicit(pattern, t.STRING, "ILIKE", 1)
    return like(Call("lower", (text,), t.STRING), Call("lower", (wanted,), t.STRING), escape)


def rlike(value: Expression, pattern: Expression, context: Context) -> Expression:
    """`value RLIKE pattern`; the pattern is a constant of the accepted subset of Java's regular expressions."""
    text, wanted = implicit(value, t.STRING, "RLIKE", 0), implicit(pattern, t.STRING, "RLIKE", 1)
    source = context.constant(pattern, "RLIKE", 1)
    if source is None:
        return UNKNOWN
    assert isinstance(wanted, Literal) or pattern.type != t.STRING, "a text constant stays a constant"
    unsupported = java_regex.check(str(source))
    if unsupported is not None:
        raise TypeMismatch(
            f"RLIKE pattern has {unsupported.name} at character {unsupported.offset + 1}",
            hint="docs/sql.md lists what a pattern may contain",
            argument=1,
        )
    return Call("rlike", (text, wanted), t.BOOLEAN)


def element(base: Expression, key: Expression) -> Expression:
    """`base[key]`: an element of an array (from 0), the value of a map, or a field of a struct."""
    if isinstance(base.type, t.ArrayType):
        if not (t.is_integral(key.type) or key.type == t.VOID):
            raise TypeMismatch(f"an array is indexed by a whole number, not {key.type}", argument=1)
        return Call(
            "element",
            (base, cast(key, t.LONG) if key.type == t.LONG else cast(key, t.INT)),
            base.type.element,
        )
    if isinstance(base.type, t.MapType):
        return Call("map_value", (base, implicit(key, base.type.key, "a map", 1)), base.type.value)
    if isinstance(base.type, t.StructType) and isinstance(key, Literal) and key.type == t.STRING:
        return field(base, str(key.value))
    raise TypeMismatch(f"{base.type} has no elements", hint="only arrays, maps and structs have", argument=0)


def field(base: Expression, name: str) -> Expression:
    """`base.name`: a field of a struct, or the value of a map with text keys; names of fields without case."""
    if isinstance(base.type, t.MapType):
        return element(base, Literal(name, t.STRING))
    if not isinstance(base.type, t.StructType):
        raise TypeMismatch(
            f'"{name}" cannot be taken out of {base.type}', hint="only structs and maps have fields"
        )
    found = [(spelling, kind) for spelling, kind in base.type.fields if spelling.lower() == name.lower()]
    if len(found) != 1:
        known = ", ".join(f'"{spelling}"' for spelling, _ in base.type.fields)
        problem = "has no field" if not found else "has more than one field"
        raise TypeMismatch(f'the struct {problem} "{name}"', hint=f"its fields are {known}")
    spelling, kind = found[0]
    return Call("get_field", (base, Literal(spelling, t.STRING)), kind)


def _like_function(make: Callable[[Expression, Expression, str], Expression]) -> Build:
    def build(a: Arguments, context: Context) -> Expression:
        escape = context.constant(a[2], "LIKE", 2) if len(a) == 3 else "\\"
        if not isinstance(escape, str) or len(escape) != 1:
            raise TypeMismatch("the escape of LIKE is one character", argument=2)
        return make(a[0], a[1], escape)

    return build


def _conversion(kind: t.DataType) -> Build:
    return lambda a, _: explicit_cast(a[0], kind, lenient=False)


_ROWS: Final = (
    ("abs", "abs(number)", 1, 1, _absolute, "numbers"),
    ("ceil", "ceil(number)", 1, 1, _whole("ceil"), "numbers"),
    ("ceiling", "ceiling(number)", 1, 1, _whole("ceil"), "numbers"),
    ("floor", "floor(number)", 1, 1, _whole("floor"), "numbers"),
    ("round", "round(number [, digits])", 1, 2, _round, "numbers"),
    ("negative", "negative(number)", 1, 1, lambda a, _: negate(a[0], "negative"), "numbers"),
    ("isnan", "isnan(number)", 1, 1, _isnan, "numbers"),
    ("greatest", "greatest(a, b, ...)", 2, ANY_NUMBER, _extreme("greatest"), "choice"),
    ("least", "least(a, b, ...)", 2, ANY_NUMBER, _extreme("least"), "choice"),
    ("coalesce", "coalesce(a, ...)", 1, ANY_NUMBER, _coalesce, "choice"),
    ("nvl", "nvl(a, b)", 2, 2, _coalesce, "choice"),
    ("ifnull", "ifnull(a, b)", 2, 2, _coalesce, "choice"),
    ("nvl2", "nvl2(a, if_not_null, if_null)", 3, 3, _nvl2, "choice"),
    ("nullif", "nullif(a, b)", 2, 2, _nullif, "choice"),
    ("if", "if(condition, then, otherwise)", 3, 3, _if, "choice"),
    ("isnull", "isnull(a)", 1, 1, lambda a, _: Call("is_null", a, t.BOOLEAN), "conditions"),
    ("isnotnull", "isnotnull(a)", 1, 1, lambda a, _: negation(Call("is_null", a, t.BOOLEAN)), "conditions"),
    ("between", "between(a, low, high)", 3, 3, lambda a, c: between(a[0], a[1], a[2], c), "conditions"),
    (
        "equal_null",
        "equal_null(a, b)",
        2,
        2,
        lambda a, c: compare("null_safe_eq", a[0], a[1], c),
        "conditions",
    ),
    ("like", "like(text, pattern [, escape])", 2, 3, _like_function(like), "conditions"),
    ("ilike", "ilike(text, pattern [, escape])", 2, 3, _like_function(ilike), "conditions"),
    ("rlike", "rlike(text, pattern)", 2, 2, lambda a, c: rlike(a[0], a[1], c), "conditions"),
    ("regexp", "regexp(text, pattern)", 2, 2, lambda a, c: rlike(a[0], a[1], c), "conditions"),
    ("regexp_like", "regexp_like(text, pattern)", 2, 2, lambda a, c: rlike(a[0], a[1], c), "conditions"),
    *texts.ROWS,
    *dates.ROWS,
    ("array_contains", "array_contains(array, value)", 2, 2, _array_contains, "nested values"),
    ("size", "size(array or map)", 1, 1, _size, "nested values"),
    ("cardinality", "cardinality(array or map)", 1, 1, _size, "nested values"),
    ("string", "string(a)", 1, 1, _conversion(t.STRING), "conversion"),
    ("boolean", "boolean(a)", 1, 1, _conversion(t.BOOLEAN), "conversion"),
    ("tinyint", "tinyint(a)", 1, 1, _conversion(t.BYTE), "conversion"),
    ("smallint", "smallint(a)", 1, 1, _conversion(t.SHORT), "conversion"),
    ("int", "int(a)", 1, 1, _conversion(t.INT), "conversion"),
    ("bigint", "bigint(a)", 1, 1, _conversion(t.LONG), "conversion"),
    ("float", "float(a)", 1, 1, _conversion(t.FLOAT), "conversion"),
    ("double", "double(a)", 1, 1, _conversion(t.DOUBLE), "conversion"),
    ("decimal", "decimal(a)", 1, 1, _conversion(t.DecimalType(10, 0)), "conversion"),
    ("binary", "binary(a)", 1, 1, _conversion(t.BINARY), "conversion"),
    ("date", "date(a)", 1, 1, _conversion(t.DATE), "conversion"),
    ("timestamp", "timestamp(a)", 1, 1, _conversion(t.TIMESTAMP), "conversion"),
)

FUNCTIONS: Final = {row[0]: Function(*row) for row in _ROWS}

__all__ = [
    "FUNCTIONS",
    "Function",
    "case",
    "condition",
    "conjunction",
    "disjunction",
    "element",
    "field",
    "ilike",
    "like",
    "rlike",
]

"""Binding of the functions on text and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eddyline.functions.coercion import cast, implicit, to_common
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

Arguments = tuple[Expression, ...]
Build = Callable[[Arguments, Context], Expression]
_ALL = Literal(2**31 - 1, t.INT)


def _text(operation: str, result: t.DataType = t.STRING) -> Build:
    """A function of one text; other atomic types are written out first."""
    return lambda a, _: Call(operation, (implicit(a[0], t.STRING, operation, 0),), result)


def _length(a: Arguments, _: Context) -> Expression:
    operand = a[0] if a[0].type == t.BINARY else implicit(a[0], t.STRING, "length", 0)
    return Call("length", (operand,), t.INT)


def _trim(operation: str) -> Build:
    """trim(text), or with the characters first: trim(characters, text)."""

    def build(a: Arguments, _: Context) -> Expression:
        if len(a) == 1:
            return Call(operation, (implicit(a[0], t.STRING, operation, 0),), t.STRING)
        return trim_characters(operation, a[1], a[0])

    return build


def trim_characters(operation: str, text: Expression, characters: Expression) -> Expression:
    """A trim that takes off given characters: `trim(BOTH characters FROM text)`."""
    arguments = (implicit(text, t.STRING, operation, 1), implicit(characters, t.STRING, operation, 0))
    return Call(f"{operation}_chars", arguments, t.STRING)


def _substring(a: Arguments, _: Context) -> Expression:
    text = a[0] if a[0].type == t.BINARY else implicit(a[0], t.STRING, "substring", 0)
    start = implicit(a[1], t.INT, "substring", 1)
    length = implicit(a[2], t.INT, "substring", 2) if len(a) == 3 else _ALL
    return Call("substring", (text, start, length), text.type)


def _left(a: Arguments, _: Context) -> Expression:
    text = a[0] if a[0].type == t.BINARY else implicit(a[0], t.STRING, "left", 0)
    return Call("left", (text, implicit(a[1], t.INT, "left", 1)), text.type)


def _right(a: Arguments, _: Context) -> Expression:
    return Call("right", (implicit(a[0], t.STRING, "right", 0), implicit(a[1], t.INT, "right", 1)), t.STRING)


def concat(arguments: Arguments, context: Context) -> Expression:
    """Joined values, as by `concat` and `||`: arrays with arrays, binaries with binaries, everything else as text."""
    if not arguments:
        return Literal("", t.STRING)
    if any(isinstance(a.type, t.ArrayType) for a in arguments):
        values = to_common(arguments, "concat")
        return Call("concat", values, values[0].type)
    if all(a.type == t.BINARY for a in arguments):
        return Call("concat", arguments, t.BINARY)
    values = tuple(implicit(a, t.STRING, "concat", i) for i, a in enumerate(arguments))
    return Call("concat", values, t.STRING)


def _search(operation: str) -> Build:
    """contains, startswith, endswith: on two binaries as bytes, else as text."""

    def build(a: Arguments, _: Context) -> Expression:
        if a[0].type == t.BINARY and a[1].type in (t.BINARY, t.VOID):
            return Call(operation, (a[0], cast(a[1], t.BINARY)), t.BOOLEAN)
        values = tuple(implicit(value, t.STRING, operation, i) for i, value in enumerate(a))
        return Call(operation, values, t.BOOLEAN)

    return build


_MANY = 1_000_000

ROWS: Final[tuple[tuple[Any, ...], ...]] = (
    ("length", "length(text or binary)", 1, 1, _length, "text"),
    ("len", "len(text or binary)", 1, 1, _length, "text"),
    ("char_length", "char_length(text or binary)", 1, 1, _length, "text"),
    ("character_length", "character_length(text or binary)", 1, 1, _length, "text"),
    ("lower", "lower(text)", 1, 1, _text("lower"), "text"),
    ("lcase", "lcase(text)", 1, 1, _text("lower"), "text"),
    ("upper", "upper(text)", 1, 1, _text("upper"), "text"),
    ("ucase", "ucase(text)", 1, 1, _text("upper"), "text"),
    ("trim", "trim([BOTH | LEADING | TRAILING] [characters] [FROM] text)", 1, 2, _trim("trim"), "text"),
    ("btrim", "btrim(text)", 1, 1, _trim("trim"), "text"),
    ("ltrim", "ltrim([characters,] text)", 1, 2, _trim("ltrim"), "text"),
    ("rtrim", "rtrim([characters,] text)", 1, 2, _trim("rtrim"), "text"),
    ("substring", "substring(text or binary, start [, length])", 2, 3, _substring, "text"),
    ("substr", "substr(text or binary, start [, length])", 2, 3, _substring, "text"),
    ("left", "left(text or binary, length)", 2, 2, _left, "text"),
    ("right", "right(text, length)", 2, 2, _right, "text"),
    ("concat", "concat(a, ...)", 0, _MANY, concat, "text"),
    ("contains", "contains(text, part)", 2, 2, _search("contains"), "text"),
    ("startswith", "startswith(text, part)", 2, 2, _search("startswith"), "text"),
    ("endswith", "endswith(text, part)", 2, 2, _search("endswith"), "text"),
)

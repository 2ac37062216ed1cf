"""Type names in CAST and in DDL text: `DECIMAL(10, 2)`, `array<struct<a: int>>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from eddyline.model import types as t
from eddyline.sql.grammar.tokens import NUMBER, QUOTED, WORD

if TYPE_CHECKING:
    from eddyline.sql.grammar.cursor import Cursor

NAMES: Final = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.BYTE,
    "BYTE": t.BYTE,
    "SMALLINT": t.SHORT,
    "SHORT": t.SHORT,
    "INT": t.INT,
    "INTEGER": t.INT,
    "BIGINT": t.LONG,
    "LONG": t.LONG,
    "FLOAT": t.FLOAT,
    "REAL": t.FLOAT,
    "DOUBLE": t.DOUBLE,
    "FLOAT8": t.DOUBLE,  # not Spark's, but common where queries come from other systems
    "STRING": t.STRING,
    "VARCHAR": t.STRING,
    "CHAR": t.STRING,
    "CHARACTER": t.STRING,
    "BINARY": t.BINARY,
    "DATE": t.DATE,
    "TIMESTAMP": t.TIMESTAMP,
    "TIMESTAMP_LTZ": t.TIMESTAMP,
    "TIMESTAMP_NTZ": t.TIMESTAMP_NTZ,
}
_DECIMALS: Final = ("DECIMAL", "DEC", "NUMERIC")
_SIZED: Final = ("VARCHAR", "CHAR", "CHARACTER")


def data_type(cursor: Cursor) -> t.DataType:
    """Take a type name."""
    token = cursor.peek
    if token.kind != WORD:
        cursor.fail("a type should stand here", hint="for example INT, DOUBLE, STRING or DECIMAL(10, 2)")
    word = cursor.advance().text
    if word in _DECIMALS:
        return _decimal(cursor)
    if word in ("ARRAY", "MAP", "STRUCT"):
        with cursor.deeper():
            return _nested(cursor, word)
    if word not in NAMES:
        cursor.fail(f'"{cursor.source(token)}" is not a type', token=token, hint=f"known types: {_known()}")
    if word in _SIZED and cursor.take_symbol("("):
        _number(cursor)
        cursor.expect_symbol(")", "the length is never closed")
    return NAMES[word]


def _known() -> str:
    return (
        ", ".join(dict.fromkeys(str(kind).upper() for kind in NAMES.values())) + ", DECIMAL(p, s), ARRAY<...>"
    )


def _decimal(cursor: Cursor) -> t.DataType:
    precision, scale = 10, 0
    start = cursor.previous
    if cursor.take_symbol("("):
        precision = _number(cursor)
        scale = _number(cursor) if cursor.take_symbol(",") else 0
        cursor.expect_symbol(")", "the precision is never closed")
    if not (0 < precision <= t.MAX_PRECISION and scale <= precision):
        cursor.fail(
            f"DECIMAL({precision}, {scale}) does not exist",
            token=start,
            hint=f"precision goes from 1 to {t.MAX_PRECISION}, scale from 0 to the precision",
        )
    return t.DecimalType(precision, scale)


def _number(cursor: Cursor) -> int:
    token = cursor.peek
    if token.kind != NUMBER or not token.text.isdecimal() or len(token.text) > 9:
        cursor.fail("a whole number should stand here")
    return int(cursor.advance().text)


def _nested(cursor: Cursor, word: str) -> t.DataType:
    cursor.expect_symbol("<", f"{word} wants its types in angle brackets, such as {word}<...>")
    if word == "ARRAY":
        kind: t.DataType = t.ArrayType(data_type(cursor))
    elif word == "MAP":
        key = data_type(cursor)
        cursor.expect_symbol(",", "MAP wants two types: MAP<key, value>")
        kind = t.MapType(key, data_type(cursor))
    else:
        kind = t.StructType(fields(cursor, closing=">"))
    cursor.expect_symbol(">", f"the type {word} is never closed")
    return kind


def fields(cursor: Cursor, closing: str) -> tuple[tuple[str, t.DataType], ...]:
    """Take `name type, name: type, ...` up to a closing symbol or the end."""
    found: list[tuple[str, t.DataType]] = []
    while not cursor.at_symbol(closing):
        if cursor.peek.kind not in (WORD, QUOTED):
            cursor.fail("a column name should stand here")
        name = cursor.spelled(cursor.advance())
        cursor.take_symbol(":")
        found.append((name, data_type(cursor)))
        if cursor.take_word("NOT"):
            cursor.expect_word("NULL", "NOT wants NULL")
        if not cursor.take_symbol(","):
            break
    return tuple(found)

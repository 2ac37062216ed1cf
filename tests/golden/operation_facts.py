"""Reads `operations/*.txt`: what Spark answers for one operation and one tuple of arguments.

    [round] double, int -> double
    2.5, 0 => 3.0

    [hour] timestamp -> int | America/New_York
    0 => 19

A block's head names the operation, its arguments' types, the result's type and, unless it is UTC, the time zone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from eddyline.model import types as t
from eddyline.model.expression import Call, Column

FOLDER = Path(__file__).parent / "operations"
FILES = sorted(path.stem for path in FOLDER.glob("*.txt"))

_NAMES = {"NULL": None, "NaN": math.nan, "Infinity": math.inf}
_ATOMIC = {str(kind): kind for kind in (*t.ATOMIC, t.DAY_TIME, t.YEAR_MONTH)}
_HEAD = re.compile(r"\[(\w+)\] (.+) -> ([^|]+?)(?: \| (\S+))?")


@dataclass(frozen=True)
class Fact:
    """An operation on columns `a`, `b`, ..., their values in one row, and Spark's result."""

    call: Call
    time_zone: str
    row: dict[str, Any]
    result: Any


def facts(file: str) -> Iterator[Fact]:
    call, time_zone = None, "UTC"
    for line in (FOLDER / f"{file}.txt").read_text(encoding="utf-8").split("\n"):
        if head := _HEAD.fullmatch(line):
            call, time_zone = _call(head[1], head[2], head[3]), head[4] or "UTC"
        elif line and not line.startswith("#"):
            assert call is not None, "a head comes first"
            values, result = line.rsplit(" => ", 1)
            given = eval(f"({values},)", {}, _NAMES)
            named = zip(call.arguments, given, strict=True)
            row = {
                column.name: _value(column.type, value)
                for column, value in named
                if isinstance(column, Column)
            }
            yield Fact(call, time_zone, row, _value(call.type, eval(result, {}, _NAMES)))


def _call(function: str, arguments: str, result: str) -> Call:
    kinds = [read_type(text) for text in arguments.split(", ")]
    names = [Column(chr(ord("a") + place), kind) for place, kind in enumerate(kinds)]
    return Call(function, tuple(names), read_type(result))


def read_type(text: str) -> t.DataType:
    """A type from its name in Spark's DDL."""
    if text in _ATOMIC:
        return _ATOMIC[text]
    name, inside = text[:-1].split("(" if text.startswith("decimal") else "<", 1)
    parts = _at_top(inside)
    if name == "decimal":
        return t.DecimalType(int(parts[0]), int(parts[1]))
    if name == "array":
        return t.ArrayType(read_type(inside))
    if name == "map":
        return t.MapType(read_type(parts[0]), read_type(parts[1]))
    fields = [part.split(":", 1) for part in parts]
    return t.StructType(tuple((field, read_type(kind)) for field, kind in fields))


def _at_top(text: str) -> list[str]:
    """Split at the commas that are in no bracket."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _value(kind: t.DataType, plain: Any) -> Any:
    """What is written in a file, with decimals, which are written as text, made decimals."""
    match kind:
        case t.DecimalType() if plain is not None:
            return Decimal(plain)
        case t.ArrayType() if plain is not None:
            return [_value(kind.element, each) for each in plain]
        case t.MapType() if plain is not None:
            return [(_value(kind.key, key), _value(kind.value, each)) for key, each in plain]
        case t.StructType() if plain is not None:
            return tuple(_value(field, each) for (_, field), each in zip(kind.fields, plain, strict=True))
    return plain


def same(left: Any, right: Any) -> bool:
    """Equal to the last bit: 0.0 is not -0.0, 1 not 1.0, and a decimal has its scale; NaN is NaN."""
    return repr(left) == repr(right)

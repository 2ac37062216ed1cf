"""Spark's data types as values, and how constants of each are held in Python.

    type                 Python value of a constant
    boolean              bool
    tinyint .. bigint    int
    float, double        float (a FLOAT constant is already rounded to 32 bits)
    decimal(p, s)        decimal.Decimal with exactly s digits after the point
    string, binary       str, bytes
    date                 int, days since 1970-01-01
    timestamp            int, microseconds since 1970-01-01T00:00:00Z
    timestamp_ntz        int, microseconds since 1970-01-01T00:00:00 of the wall clock
    interval             int, microseconds (day-time) or months (year-month)
    array, map, struct   list, list of (key, value), tuple

NULL is None for every type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class DataType:
    """An atomic type; `str()` is Spark's DDL name.

    >>> str(LONG), str(DecimalType(10, 2)), str(ArrayType(INT))
    ('bigint', 'decimal(10,2)', 'array<int>')
    """

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class DecimalType(DataType):
    """Exact numbers of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __init__(self, precision: int, scale: int) -> None:
        object.__setattr__(self, "name", "decimal")
        object.__setattr__(self, "precision", precision)
        object.__setattr__(self, "scale", scale)

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class ArrayType(DataType):
    """A list of elements of one type."""

    element: DataType

    def __init__(self, element: DataType) -> None:
        object.__setattr__(self, "name", "array")
        object.__setattr__(self, "element", element)

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapType(DataType):
    """Values found by key."""

    key: DataType
    value: DataType

    def __init__(self, key: DataType, value: DataType) -> None:
        object.__setattr__(self, "name", "map")
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "value", value)

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class StructType(DataType):
    """Named fields, in order."""

    fields: tuple[tuple[str, DataType], ...]

    def __init__(self, fields: tuple[tuple[str, DataType], ...]) -> None:
        object.__setattr__(self, "name", "struct")
        object.__setattr__(self, "fields", fields)

    def __str__(self) -> str:
        return "struct<" + ",".join(f"{name}:{kind}" for name, kind in self.fields) + ">"


BOOLEAN: Final = DataType("boolean")
BYTE: Final = DataType("tinyint")
SHORT: Final = DataType("smallint")
INT: Final = DataType("int")
LONG: Final = DataType("bigint")
FLOAT: Final = DataType("float")
DOUBLE: Final = DataType("double")
STRING: Final = DataType("string")
BINARY: Final = DataType("binary")
DATE: Final = DataType("date")
TIMESTAMP: Final = DataType("timestamp")
TIMESTAMP_NTZ: Final = DataType("timestamp_ntz")
DAY_TIME: Final = DataType("interval day to second")
YEAR_MONTH: Final = DataType("interval year to month")
VOID: Final = DataType("void")  # the type of a bare NULL

INTEGRAL: Final = (BYTE, SHORT, INT, LONG)
FRACTIONAL: Final = (FLOAT, DOUBLE)
ATOMIC: Final = (BOOLEAN, *INTEGRAL, *FRACTIONAL, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ)

MAX_PRECISION: Final = 38

# Smallest and largest value of each integral type, and of those that are integers underneath.
RANGE: Final = {
    BYTE: (-(2**7), 2**7 - 1),
    SHORT: (-(2**15), 2**15 - 1),
    INT: (-(2**31), 2**31 - 1),
    LONG: (-(2**63), 2**63 - 1),
    DATE: (-(2**31), 2**31 - 1),
    TIMESTAMP: (-(2**63), 2**63 - 1),
    TIMESTAMP_NTZ: (-(2**63), 2**63 - 1),
    DAY_TIME: (-(2**63), 2**63 - 1),
    YEAR_MONTH: (-(2**31), 2**31 - 1),
}


def is_integral(kind: DataType) -> bool:
    """Whether values are integers of a fixed width.

    >>> is_integral(SHORT), is_integral(DecimalType(3, 0))
    (True, False)
    """
    return kind in INTEGRAL


def is_fractional(kind: DataType) -> bool:
    """Whether values are binary floating point."""
    return kind in FRACTIONAL


def is_numeric(kind: DataType) -> bool:
    """Whether arithmetic applies: integral, fractional or decimal."""
    return kind in INTEGRAL or kind in FRACTIONAL or isinstance(kind, DecimalType)


def is_interval(kind: DataType) -> bool:
    """Whether values are spans of time."""
    return kind in (DAY_TIME, YEAR_MONTH)


def is_orderable(kind: DataType) -> bool:
    """Whether `<` is defined: everything but maps and what contains them."""
    if isinstance(kind, MapType):
        return False
    if isinstance(kind, ArrayType):
        return is_orderable(kind.element)
    if isinstance(kind, StructType):
        return all(is_orderable(field) for _, field in kind.fields)
    return True

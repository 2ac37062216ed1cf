"""Predicates as small trees, so that every peer gets the same queries in its own language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OPERATORS: Final = ("<", "<=", ">", ">=", "=")


@dataclass(frozen=True, slots=True)
class Compare:
    """A column against a constant."""

    column: str
    operator: str
    value: int | float | str


@dataclass(frozen=True, slots=True)
class Like:
    """A string column against a pattern without escapes."""

    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Scaled:
    """A column times a constant against another column."""

    column: str
    factor: float
    operator: str
    other: str


@dataclass(frozen=True, slots=True)
class All:
    """Every part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Some part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Predicate


Predicate = Compare | Like | Scaled | All | Any | Not


def sql(predicate: Predicate) -> str:
    """The predicate as SQL text.

    >>> sql(All((Compare("a", "<", 3), Not(Any((Compare("b", "=", "x"), Like("c", "%y")))))))
    "a < 3 AND NOT (b = 'x' OR c LIKE '%y')"
    """
    match predicate:
        case Compare(column, operator, value):
            return f"{column} {operator} {_literal(value)}"
        case Like(column, pattern):
            return f"{column} LIKE {_literal(pattern)}"
        case Scaled(column, factor, operator, other):
            return f"{column} * {factor!r}D {operator} {other}"
        case All(parts):
            return " AND ".join(_inner(part) for part in parts)
        case Any(parts):
            return " OR ".join(_inner(part) for part in parts)
        case Not(part):
            return f"NOT {_inner(part)}"


def _inner(predicate: Predicate) -> str:
    text = sql(predicate)
    return text if isinstance(predicate, Compare | Like | Scaled | Not) else f"({text})"


def _literal(value: int | float | str) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)

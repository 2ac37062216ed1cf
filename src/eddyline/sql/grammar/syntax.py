"""The syntax tree: what was written, with its place in the text, before any name or type is known."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.errors import QueryError, Span
from eddyline.model import types as t


@dataclass(slots=True)
class Node:
    """A piece of an expression and where it stands."""

    span: Span


@dataclass(slots=True)
class Name(Node):
    """A column, perhaps qualified by the stream or followed by fields: `a`, `t.a`, `a.b.c`."""

    parts: tuple[str, ...]


@dataclass(slots=True)
class Constant(Node):
    """A literal whose value and type stand in the text."""

    value: object
    type: t.DataType


@dataclass(slots=True)
class Timed(Node):
    """A literal that needs the time zone to have a value: DATE'...', TIMESTAMP'...', TIMESTAMP_NTZ'...'."""

    word: str
    text: str


@dataclass(slots=True)
class Interval(Node):
    """An interval literal; `days_only` where it is written in days or weeks alone."""

    amount: int
    type: t.DataType
    days_only: bool


@dataclass(slots=True)
class Operator(Node):
    """An operator or predicate by its canonical name: `add`, `and`, `eq`, `between`, `not`, `is_null`, ..."""

    name: str
    operands: tuple[Node, ...]


@dataclass(slots=True)
class Pattern(Node):
    """LIKE and ILIKE: `quantifier` is None, "any" or "all" over the patterns; NOT belongs to each single pattern."""

    word: str
    operand: Node
    patterns: tuple[Node, ...]
    quantifier: str | None
    escape: str
    negated: bool = False


@dataclass(slots=True)
class Apply(Node):
    """A function call; `name_span` is the name's own place."""

    name: str
    arguments: tuple[Node, ...]
    name_span: Span


@dataclass(slots=True)
class CastTo(Node):
    """CAST, TRY_CAST (lenient) and `::`."""

    operand: Node
    type: t.DataType
    lenient: bool


@dataclass(slots=True)
class Case(Node):
    """CASE with or without an operand."""

    operand: Node | None
    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(slots=True)
class Subscript(Node):
    """`base[key]`."""

    base: Node
    key: Node


@dataclass(slots=True)
class FieldOf(Node):
    """`base.name` where base is not a plain name."""

    base: Node
    name: str


@dataclass(slots=True)
class Foreign(Node):
    """A piece that only Spark may be able to read, with what is wrong with it here."""

    problem: QueryError


@dataclass(slots=True)
class Star(Node):
    """`*` in a SELECT list, perhaps qualified."""

    qualifier: str | None


@dataclass(slots=True)
class Item:
    """One item of a SELECT list and its alias."""

    expression: Node
    alias: str | None


@dataclass(slots=True)
class FromStream:
    """A stream of a FROM clause and its alias; `on` and `using` say how it is joined with the stream before it."""

    name: str
    span: Span
    alias: str | None
    on: Node | None = None
    using: tuple[Name, ...] = ()


@dataclass(slots=True)
class Select:
    """A whole query."""

    items: tuple[Item, ...]
    streams: tuple[FromStream, ...]
    where: Node | None

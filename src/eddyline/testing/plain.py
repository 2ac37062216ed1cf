"""The stream `plain` and a grammar over it: the SQL on which Spark, DuckDB and most engines agree."""

from __future__ import annotations

import random
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.testing.combinators import (
    Grammar,
    Maker,
    Production,
    Spec,
    call,
    column,
    either,
    fixed,
    form,
    mixed,
    several,
)
from eddyline.testing.tree import ExpressionTree

SCHEMA: Final = pa.schema(
    [
        ("p", pa.bool_()),
        ("q", pa.bool_()),
        ("a", pa.int32()),
        ("b", pa.int32()),
        ("c", pa.int64()),
        ("d", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("t", pa.string()),
    ]
)
PLAIN: Final = Stream("plain", SCHEMA)

_DOUBLES: Final = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.5,
    7.25,
    1e10,
    5.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    3.0,
)
_TEXTS: Final = ("", "a", "b", "ab", "abc", "ABC", "Abc", " a ", "b%", "a_c", "zz", "1", "é", "日本", "😀")
_LITERALS: Final = ("'a'", "'ab'", "'abc'", "'ABC'", "''", "' a '", "'z'", "'é'", "'b%'", "'it''s'")
_PATTERNS: Final = (
    "'a%'",
    "'%b'",
    "'%b%'",
    "'_b_'",
    "'abc'",
    "'%'",
    "''",
    "'_'",
    "'a%c'",
    "'%a_'",
    "'__'",
    "'%é%'",
)


def plain_rows(seed: int, count: int) -> pa.RecordBatch:
    """Rows of `plain`: small numbers, all special doubles, short text, one value in eight NULL.

    >>> plain_rows(1, 4).num_rows
    4
    """
    random_ = random.Random(seed)
    arrays = [pa.array([_value(random_, f.type) for _ in range(count)], f.type) for f in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _value(random_: random.Random, kind: pa.DataType) -> Any:
    if random_.random() < 0.12:
        return None
    if pa.types.is_boolean(kind):
        return random_.random() < 0.5
    if pa.types.is_integer(kind):
        return random_.randint(-4, 9)
    return random_.choice(_DOUBLES if pa.types.is_floating(kind) else _TEXTS)


def _integer(maker: Maker, _: int) -> ExpressionTree:
    return ExpressionTree("literal", "", (), str(maker.random.randint(-4, 9)))


def _in(first: Spec, other: Spec) -> Production:
    item = either(first, other, fixed("NULL"))
    plain = either(first, other)

    def produce(maker: Maker, size: int) -> ExpressionTree:
        return several("in", "IN|NOT IN", first, item if maker.random.random() < 0.3 else plain, most=4)(
            maker, size
        )

    return produce


_PAIRS: Final = (
    (4, "integer", "integer"),
    (2, "integer", "double"),
    (2, "double", "double"),
    (4, "text", "text"),
)

_LEAVES: Final[dict[str, tuple[tuple[int, Production], ...]]] = {
    "boolean": ((4, column("p", "q")), (1, fixed("TRUE", "FALSE"))),
    "integer": ((3, column("a", "b", "c", "d")), (2, _integer)),
    "double": ((3, column("x", "y")), (2, fixed("0.5e0", "2.5e0", "-1e0", "5e0", "1e10", "0e0"))),
    "text": ((3, column("s", "t")), (2, fixed(*_LITERALS))),
}


def _choice(family: str) -> tuple[tuple[int, Production], ...]:
    return (
        (1, several("call list", "coalesce|greatest|least", family, family, most=2)),
        (1, call("nullif", family, family)),
        (1, form("case", "", "boolean", family, family)),
        (1, form("case", "", "boolean", family)),
    )


_PRODUCTIONS: Final[dict[str, tuple[tuple[int, Production], ...]]] = {
    "boolean": (
        (1, column("p", "q")),
        (10, form("and", "", "boolean", "boolean")),
        (10, form("or", "", "boolean", "boolean")),
        (6, form("not", "NOT", "boolean")),
        (14, mixed(lambda a, b: form("compare", "=|!=|<>|<|<=|>|>=", a, b), _PAIRS)),
        (5, mixed(lambda a, b: form("between", "BETWEEN|NOT BETWEEN", a, b, either(a, b)), _PAIRS)),
        (6, mixed(_in, _PAIRS)),
        (3, mixed(lambda a, b: form("distinct", "IS DISTINCT FROM|IS NOT DISTINCT FROM", a, b), _PAIRS)),
        (5, form("like", "LIKE|NOT LIKE", "text", fixed(*_PATTERNS))),
        (1, form("like escape", "LIKE", "text", fixed("'b!%'", "'a!_%'", "'!%'"), fixed("'!'"))),
        (3, form("is", "IS NULL|IS NOT NULL", either("boolean", "integer", "double", "text"))),
        (3, form("is", "IS TRUE|IS NOT TRUE|IS FALSE|IS NOT FALSE", "boolean")),
        (1, form("compare", "=|<>", "boolean", "boolean")),
        *_choice("boolean"),
    ),
    "integer": (
        (4, form("sum", "+|-", "integer", "integer")),
        (2, form("product", "*", "integer", "integer")),
        (1, form("product", "%", "integer", fixed("2", "3", "-3", "7"))),
        (1, form("sign", "-", "integer")),
        (1, call("abs", "integer")),
        (1, call("length", "text")),
        *_choice("integer"),
    ),
    "double": (
        (3, form("sum", "+|-", "double", either("double", "integer"))),
        (2, form("product", "*", "double", either("double", "integer"))),
        (2, form("product", "/", "integer", fixed("2", "-4", "3"))),
        (1, form("sign", "-", "double")),
        (1, call("abs", "double")),
        *_choice("double"),
    ),
    "text": (
        (2, form("sum", "||", "text", "text")),
        (1, call("trim|ltrim|rtrim", "text")),
        (1, call("substring", "text", fixed("1", "2"), fixed("0", "1", "2"))),
        *_choice("text"),
    ),
}

GRAMMAR: Final = Grammar(_LEAVES, _PRODUCTIONS, {})

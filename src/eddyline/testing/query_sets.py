"""Random sets of queries, with rows for them: of every kind, or all about one column, with constants of one pool.

Random statements seldom compare one column with many constants, or with several that lie close together or at the ends of
its range, which is what standing queries do. Sets of one pool do nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.model import types as t
from eddyline.testing.combinators import Maker
from eddyline.testing.edges import edges, float32, neighbours
from eddyline.testing.grammar import GRAMMAR
from eddyline.testing.literals import quoted
from eddyline.testing.pools import DATES, MOMENTS
from eddyline.testing.queries import draw_statement
from eddyline.testing.rows import nasty_rows, rows_of
from eddyline.testing.tree import ExpressionTree, Statement

ROWS: Final = 12  # the reference takes its time
LARGEST: Final = 300
_EQUALITIES: Final = ("=", "=", "=", "IN", "IN", "<=>", "<>", "NOT IN")
_COMPARISONS: Final = ("<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "=", "<>", "IN", "NOT IN")
_EPOCH: Final = datetime(1970, 1, 1)

Values = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """Constants of one kind for one column: what they are, and how they are written."""

    column: str
    kind: t.DataType
    draw: Callable[[random.Random], Values]
    literal: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class DrawnSet:
    """Queries and rows to match them with."""

    statements: tuple[Statement, ...]
    rows: pa.RecordBatch


def draw_set(random_: random.Random) -> DrawnSet:
    """A set of 1 to LARGEST queries, small ones as likely as large ones; half of them of one pool."""
    size = int(LARGEST ** random_.random())
    if random_.random() < 0.5:
        return one_pool_set(random_, POOLS[random_.choice(list(POOLS))], size)
    statements = tuple(draw_statement(random_) for _ in range(size))
    return DrawnSet(statements, nasty_rows(random_.randrange(2**32), ROWS))


def one_pool_set(
    random_: random.Random, pool: Pool, size: int, *, equalities: bool | None = None
) -> DrawnSet:
    """Queries about the column of a pool; `equalities`: whether by equality alone, which is drawn if not given.

    The rows have some of the constants in the column, values beside them, and NULL.
    """
    constants = pool.draw(random_)
    only = random_.random() < 0.5 if equalities is None else equalities
    words = _EQUALITIES if only else _COMPARISONS
    maker = Maker(GRAMMAR, random_)
    statements = tuple(Statement(_where(maker, pool, constants, words)) for _ in range(size))
    values = [random_.choice(constants) for _ in range(ROWS - 2)]
    beside = [random_.choice(neighbours(pool.kind, value)) for value in values]
    mixed = [*(random_.choice(pair) for pair in zip(values, beside, strict=True)), None, *beside[:1]]
    rows = nasty_rows(random_.randrange(2**32), ROWS)
    place = rows.schema.get_field_index(pool.column)
    column = rows_of(*({pool.column: value} for value in mixed)).column(place)
    return DrawnSet(statements, rows.set_column(place, rows.schema.field(place), column))


def _where(maker: Maker, pool: Pool, constants: Values, words: Sequence[str]) -> ExpressionTree:
    condition = _condition(maker.random, pool, constants, words)
    draw = maker.random.random()
    if draw < 0.7:
        return condition
    other = _condition(maker.random, pool, constants, words) if draw < 0.85 else maker.make("boolean", 3)
    return ExpressionTree(maker.random.choice(("and", "or")), "boolean", (condition, other))


def _condition(random_: random.Random, pool: Pool, constants: Values, words: Sequence[str]) -> ExpressionTree:
    word = random_.choice(words)
    form, most = {"IN": ("in", 8), "BETWEEN": ("between", 2)}.get(word.removeprefix("NOT "), ("compare", 1))
    count = random_.randint(1, most) if form == "in" else most
    literals = [
        ExpressionTree("literal", "", (), pool.literal(random_.choice(constants))) for _ in range(count)
    ]
    return ExpressionTree(form, "boolean", (ExpressionTree("column", "", (), pool.column), *literals), word)


def _stretch(values: Values) -> Callable[[random.Random], Values]:
    """All values, one half of them, which are those of one sign, or some that lie together."""

    def draw(random_: random.Random) -> Values:
        places = [
            random_.choice((0, len(values) // 2, random_.randrange(len(values)), len(values))) for _ in "ab"
        ]
        return values[min(places) : max(places)] or values

    return draw


def _edges(kind: t.DataType) -> Callable[[random.Random], Values]:
    """Values over the range of a type, or ordinary ones with one of those."""
    stretch = _stretch(edges(kind))

    def draw(random_: random.Random) -> Values:
        extreme = stretch(random_)
        if random_.random() < 0.5:
            return extreme
        first = random_.randrange(100)
        plain = [_held(kind, first + n) for n in range(random_.randint(1, 60)) if first + n < 127]
        return [*plain, random_.choice(extreme)]

    return draw


def _held(kind: t.DataType, number: int) -> Any:
    """A tenth of a number if the type has such, else the number."""
    if isinstance(kind, t.DecimalType):
        return Decimal(number).scaleb(-1)
    tenth = number / 10
    return {t.FLOAT: float32(tenth), t.DOUBLE: tenth}.get(kind, number)


def _numbered(write: Callable[[int], str], count: int = 3000) -> Callable[[random.Random], Values]:
    """Some texts of a numbered kind, in a row or from anywhere."""

    def draw(random_: random.Random) -> Values:
        size, first = random_.randint(1, min(count, 120)), random_.choice((0, random_.randrange(count)))
        numbers = (
            range(first, first + size)
            if random_.random() < 0.5
            else [random_.randrange(count) for _ in range(size)]
        )
        return [write(number % count) for number in numbers]

    return draw


def _moment(micros: int) -> str:
    return str(_EPOCH + timedelta(microseconds=micros))


def _fraction(kind: str) -> Callable[[float], str]:
    return lambda value: f"CAST('{value!r}' AS {kind})"


_TEXTS: Final[dict[str, Callable[[random.Random], Values]]] = {
    "numbers": _numbered(str),
    "decimals": _numbered(lambda n: f"{n // 10}.{n % 10}"),
    "halves": _numbered(lambda n: f"{n}.5"),
    "percents": _numbered(lambda n: f"{n}%"),
    "hexadecimal numbers": _numbered(lambda n: f"{n:04x}"),
    "dates as text": _numbered(lambda n: str(date(2020, 1, 1) + timedelta(days=n))),
    "paths": _numbered(lambda n: f"/var/log/{n % 7}/{n}.log"),
    "versions": _numbered(lambda n: f"{n // 100}.{n // 10 % 10}.{n % 10}"),
    "blanks": _numbered(lambda n: " " * (n % 40) + "a" * (n // 40 % 2), 80),
    "zero bytes": _numbered(lambda n: "\0" * (n % 20) + "a" * (n // 20), 60),
    "characters": _numbered(lambda n: chr(33 + n), 20_000),
    "accents": _numbered(lambda n: "éß😀x"[n % 4] * (n // 4 % 9) + str(n // 36)),
    "long beginnings": _numbered(lambda n: f"https://example.org/catalogue/item/{n}"),
    "long ends": _numbered(lambda n: f"{n} and then the same for every one of them"),
    "every length": _stretch(edges(t.STRING)),
}
POOLS: Final[dict[str, Pool]] = {
    **{name: Pool("s1", t.STRING, draw, quoted) for name, draw in _TEXTS.items()},
    "bytes": Pool("x1", t.BINARY, _stretch(edges(t.BINARY)), lambda value: f"X'{value.hex()}'"),
    "tinyint": Pool("i8", t.BYTE, _edges(t.BYTE), str),
    "smallint": Pool("i16", t.SHORT, _edges(t.SHORT), str),
    "int": Pool("i32", t.INT, _edges(t.INT), str),
    "bigint": Pool("i64", t.LONG, _edges(t.LONG), str),
    "float": Pool("f32", t.FLOAT, _edges(t.FLOAT), _fraction("FLOAT")),
    "double": Pool("f64", t.DOUBLE, _edges(t.DOUBLE), _fraction("DOUBLE")),
    "float with doubles": Pool("f32", t.FLOAT, _edges(t.DOUBLE), _fraction("DOUBLE")),
    "decimal(5,2)": Pool("d5", t.DecimalType(5, 2), _edges(t.DecimalType(5, 2)), "{}BD".format),
    "decimal(18,6)": Pool("d18", t.DecimalType(18, 6), _edges(t.DecimalType(18, 6)), "{}BD".format),
    "decimal(38,10)": Pool("d38", t.DecimalType(38, 10), _edges(t.DecimalType(38, 10)), "{}BD".format),
    "dates": Pool("day1", t.DATE, _stretch(sorted(DATES)), lambda day: f"DATE'{_moment(day * 86_400_000_000)[:10]}'"),
    "timestamps": Pool("ts1", t.TIMESTAMP, _stretch(sorted(MOMENTS)), lambda micros: f"TIMESTAMP'{_moment(micros)}Z'"),
    "wall clocks": Pool("ntz1", t.TIMESTAMP_NTZ, _stretch(sorted(MOMENTS)), lambda micros: f"TIMESTAMP_NTZ'{_moment(micros)}'"),
}  # fmt: skip

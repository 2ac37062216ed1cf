"""The random grammar over `everything`: every operator, predicate, literal and function, operands mixed on purpose."""

from __future__ import annotations

from typing import Final

from eddyline.testing import literals
from eddyline.testing.combinators import (
    Grammar,
    Maker,
    Production,
    Spec,
    call,
    column,
    either,
    fixed,
    flat,
    form,
    literal,
    mixed,
    several,
)
from eddyline.testing.regexes import regex
from eddyline.testing.tree import ExpressionTree

UNIONS: Final = {
    "integer": ("small", "long"),
    "number": ("small", "small", "long", "fraction", "decimal"),
    "number-like": ("small", "long", "fraction", "decimal", "number text"),
    "any text": ("text", "text", "number text", "date text", "time text"),
    "when": ("date", "timestamp", "wall clock"),
    "with date": ("date", "timestamp", "wall clock", "date text"),
    "with clock": ("timestamp", "wall clock", "time text"),
    "printable": ("boolean", "small", "long", "decimal", "text", "date", "timestamp", "wall clock"),
    "anything": (
        "boolean", "small", "long", "fraction", "decimal", "text", "number text", "date", "timestamp", "wall clock", "binary", "ints", "texts", "map",
        "struct", "day-time",
    ),
    "collection": ("ints", "texts", "map"),
}  # fmt: skip

# Families that compare: Spark brings the two sides to one type.
PAIRS: Final = (
    (14, "number", "number"),
    (3, "number", "number text"),
    (8, "text", "text"),
    (1, "text", "any text"),
    (2, "date", "date"),
    (2, "timestamp", "timestamp"),
    (1, "wall clock", "wall clock"),
    (1, "date", "timestamp"),
    (1, "date", "wall clock"),
    (1, "timestamp", "wall clock"),
    (1, "date", "date text"),
    (1, "timestamp", "time text"),
    (1, "timestamp", "date text"),
    (1, "wall clock", "time text"),
    (2, "boolean", "boolean"),
    (1, "binary", "binary"),
    (1, "binary", "text"),
    (1, "day-time", "day-time"),
    (1, "year-month", "year-month"),
    (1, "ints", "ints"),
    (1, "texts", "texts"),
    (1, "struct", "struct"),
)


def _choice(family: Spec, *others: Spec) -> tuple[tuple[int, Production], ...]:
    """Ways to choose between values of one family, some of them of other families that widen to it."""
    value = either(family, family, family, *others)
    return (
        (1, several("call list", "coalesce", value, value, most=3)),
        (1, call("nvl|ifnull", family, value)),
        (1, call("if", "boolean", family, value)),
        (1, call("nullif", family, value)),
        (1, _case(family, value)),
        (
            1,
            several(
                "call list",
                "greatest|least",
                family,
                either(
                    family,
                    *(o for o in others if o != "number text" and o != "any text" and o != "date text"),
                ),
                most=3,
            ),
        ),
    )


def _case(first: Spec, rest: Spec) -> Production:
    def produce(maker: Maker, size: int) -> ExpressionTree:
        valued = maker.random.random() < 0.3
        specs: list[Spec] = ["small"] if valued else []
        for i in range(maker.random.randint(1, 2)):
            specs += ["number" if valued else "boolean", rest if i else first]
        if maker.random.random() < 0.7:
            specs.append(rest)
        return form("case value" if valued else "case", "", *specs)(maker, size)

    return produce


def _pattern(maker: Maker, _: int) -> ExpressionTree:
    return ExpressionTree("literal", "", (), literals.quoted(literals.pattern(maker.random), maker.random))


def _regex(maker: Maker, _: int) -> ExpressionTree:
    known = maker.random.random() < 0.5
    pattern = maker.random.choice(literals.REGEXES) if known else regex(maker.random, delicate=False)
    return ExpressionTree("literal", "", (), literals.quoted(pattern, maker.random))


def _escaped(maker: Maker, size: int) -> ExpressionTree:
    """LIKE with an escape of its own: the pattern is rewritten to use it."""
    escape = maker.random.choice("!#/|\\")
    written = literals.pattern(maker.random).replace("\\", escape)
    pattern = ExpressionTree("literal", "pattern", (), literals.quoted(written))
    tail = ExpressionTree("literal", "escape", (), literals.quoted(escape))
    word = maker.random.choice(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
    return ExpressionTree("like escape", "", (maker.make("text", size - 3), pattern, tail), word)


def _in(first: Spec, other: Spec) -> Production:
    item = either(flat(first), flat(first), flat(other), first, fixed("NULL"))
    plain = either(flat(first), flat(other))
    return lambda maker, size: several(
        "in", "IN|IN|NOT IN", first, item if maker.random.random() < 0.3 else plain, most=5
    )(maker, size)


# The digits of computed fractions differ between Java versions (fewest only since 19), in text and as decimals:
# only columns, whose values are chosen, become either.
_FRACTION: Final = column("f32", "g32", "f64", "g64")
_EXACT: Final = either("integer", "decimal", "number text", _FRACTION)
_MOMENT: Final = either(column("t2"), fixed("'2020-02-29 12:34:56'", "'1999-12-31 23:59:59'"))
_INDEX: Final = fixed("0", "1", "2", "0", "1")
_FIXED_COUNT: Final = fixed("0", "1", "2", "3", "-1", "-2")
_COUNT: Final = either(_FIXED_COUNT, "small")

LEAVES: Final[dict[str, tuple[tuple[int, Production], ...]]] = {
    "boolean": (
        (12, column("b1", "b2")),
        (2, literal(literals.boolean)),
        (1, fixed("NULL", "CAST(NULL AS BOOLEAN)")),
    ),
    "small": (
        (8, column("i8", "j8", "i16", "j16", "i32", "j32", "i32", "Odd Name")),
        (7, literal(literals.small)),
    ),
    "long": ((3, column("i64", "j64")), (2, literal(literals.long))),
    "fraction": ((3, column("f32", "g32", "f64", "g64")), (2, literal(literals.fraction))),
    "decimal": ((3, column("d5", "e5", "d18", "d20", "d38", "e38")), (2, literal(literals.decimal))),
    "text": ((3, column("s1", "s2", "s1", "s2", "dot.ted")), (2, literal(literals.text))),
    "number text": ((3, column("n1", "n2")), (2, literal(literals.number_text))),
    "date text": ((3, column("t1")), (2, literal(literals.date_text))),
    "time text": ((3, column("t2")), (2, literal(literals.time_text))),
    "binary": ((3, column("x1", "x2")), (2, literal(literals.binary))),
    "date": ((3, column("day1", "day2")), (2, literal(literals.date))),
    "timestamp": ((3, column("ts1", "ts2")), (2, literal(literals.timestamp))),
    "wall clock": ((3, column("ntz1", "ntz2")), (2, literal(literals.wall_clock))),
    "day-time": ((1, literal(literals.day_time)),),
    "year-month": ((1, literal(literals.year_month)),),
    "ints": ((1, column("ai", "aj")),),
    "texts": ((1, column("as1", "as2")),),
    "map": ((1, column("m1", "m2")),),
    "struct": ((1, column("st", "st2")),),
}

_LIKES: Final = "LIKE|LIKE|LIKE|NOT LIKE|ILIKE|NOT ILIKE"

PRODUCTIONS: Final[dict[str, tuple[tuple[int, Production], ...]]] = {
    "boolean": (
        (2, column("b1", "b2")),
        (12, form("and", "", "boolean", "boolean")),
        (12, form("or", "", "boolean", "boolean")),
        (7, form("not", "NOT|NOT|!", "boolean")),
        (20, mixed(lambda a, b: form("compare", "=|==|!=|<>|<|<=|>|>=|<=>", a, b), PAIRS)),
        (6, mixed(lambda a, b: form("between", "BETWEEN|BETWEEN|NOT BETWEEN", a, b, either(a, b)), PAIRS)),
        (8, mixed(_in, PAIRS)),
        (3, mixed(lambda a, b: form("distinct", "IS DISTINCT FROM|IS NOT DISTINCT FROM", a, b), PAIRS)),
        (5, form("like", _LIKES, "text", _pattern)),
        (2, _escaped),
        (1, form("like", "LIKE|ILIKE", "any text", either("number text", "date text"))),
        (2, several("like list", "LIKE ANY|LIKE ALL|LIKE SOME|NOT LIKE ANY|NOT LIKE ALL|ILIKE ANY|ILIKE ALL", "text", _pattern, most=3)),
        (3, form("like", "RLIKE|NOT RLIKE|REGEXP", "text", _regex)),
        (4, form("is", "IS NULL|IS NOT NULL", "anything")),
        (4, form("is", "IS TRUE|IS NOT TRUE|IS FALSE|IS NOT FALSE|IS UNKNOWN|IS NOT UNKNOWN", "boolean")),
        (2, call("isnan", either("fraction", "number"))),
        (3, call("contains|startswith|endswith", "any text", "text")),
        (1, call("contains|startswith|endswith", "binary", "binary")),
        (2, call("array_contains", "ints", either("small", "number"))),
        (1, call("array_contains", "texts", "any text")),
        (1, form("cast", "BOOLEAN", either("number", "boolean"))),
        (1, form("try cast", "BOOLEAN", either("any text", "number"))),
        (1, form("compare", "=|<=>|!=", "boolean", fixed("'true'", "'f'", "'no'", "' T '", "'1'"))),
        (1, form("is", "IS NULL|IS NOT NULL", fixed("NULL", "1", "'x'"))),
        *_choice("boolean"),
    ),
    "small": (
        (6, form("sum", "+|-", "small", "small")),
        (3, form("product", "*|*|%", "small", "small")),
        (2, form("sign", "-|-|+", "small")),
        (1, call("abs", "small")),
        (1, call("round", "small", fixed("0", "1", "-1", "-2"))),
        (3, call("length|char_length|character_length", "any text")),
        (1, call("length", "binary")),
        (2, call("size", "collection")),
        (4, call("year|month|day|dayofweek|dayofmonth", "with date")),
        (2, call("hour|minute|second", "with clock")),
        (2, call("datediff|date_diff", "with date", "with date")),
        (1, form("cast", "INT|SMALLINT|TINYINT|INTEGER", "number-like")),
        (1, form("try cast", "INT|SMALLINT|TINYINT|BYTE|SHORT", "number-like")),
        (2, form("index", "", "ints", _INDEX)),
        (2, form("index", "", "map", lambda m, _: ExpressionTree("literal", "", (), literals.quoted(m.random.choice(literals.KEYS))))),
        (2, form("field", "x|X", "struct")),
        *_choice("small"),
    ),
    "long": (
        (4, form("sum", "+|-", "long", either("long", "small", "number text"))),
        (2, form("product", "*|%", "long", "integer")),
        (4, form("product", "div", "integer", "integer")),
        (1, form("product", "div", "decimal", "decimal")),
        (2, form("sign", "-|+", "long")),
        (1, call("abs", "long")),
        (1, call("round", "long", fixed("0", "1", "-1", "-3"))),
        (2, call("floor|ceil|ceiling", either("fraction", "integer"))),
        (2, call("unix_timestamp", either("when", "time text"))),
        (1, call("unix_timestamp", "date text", fixed("'yyyy-MM-dd'"))),
        (2, form("cast", "BIGINT|LONG", "number-like")),
        (1, form("cast", "BIGINT", "timestamp")),
        (1, form("try cast", "BIGINT", "any text")),
        *_choice("long", "small"),
    ),
    "fraction": (
        (3, form("sum", "+|-", "fraction", "number-like")),
        (3, form("product", "*|/|%", "fraction", "number-like")),
        (4, form("product", "/", "integer", "integer")),
        (2, form("sign", "-|+", "fraction")),
        (1, call("abs", either("fraction", "number text"))),
        (3, call("round", "fraction", fixed("0", "1", "2", "-1", "10"))),
        (1, call("round", "fraction")),
        (1, form("cast", "DOUBLE|FLOAT|REAL", "number-like")),
        (1, form("try cast", "DOUBLE|FLOAT", "any text")),
        (1, form("field", "z", form("field", "inner|INNER", "struct"))),
        *_choice("fraction", "number", "number text"),
    ),
    "decimal": (
        (4, form("sum", "+|-", "decimal", either("decimal", "integer"))),
        (4, form("product", "*|/|%", "decimal", either("decimal", "integer"))),
        (1, form("product", "*|/", "integer", "decimal")),
        (2, form("sign", "-|+", "decimal")),
        (1, call("abs", "decimal")),
        (2, call("round", "decimal", fixed("0", "1", "2", "-1"))),
        (1, call("round", "decimal")),
        (2, call("floor|ceil", "decimal")),
        (2, form("cast", "DECIMAL(10,2)|DECIMAL(38,10)|DECIMAL(20,0)|DECIMAL|DEC(5)", _EXACT)),
        (1, form("try cast", "DECIMAL(10,2)|DECIMAL(3,1)", _EXACT)),
        *_choice("decimal", "integer"),
    ),
    "text": (
        (5, call("lower|upper|lcase|ucase", "any text")),
        (3, call("trim|ltrim|rtrim", "any text")),
        (1, call("ltrim|rtrim", fixed("'a'", "' a'", "'ß'"), "text")),
        (1, form("trim from", "BOTH|LEADING|TRAILING", fixed("'a'", "'xy'", "' '"), "text")),
        (3, call("substring|substr", "any text", _COUNT, _COUNT)),
        (1, call("substring", "text", _COUNT)),
        (1, form("substring from", "", "text", _COUNT, _COUNT)),
        (2, call("left|right", "any text", _COUNT)),
        (2, several("call list", "concat", "any text", either("text", "printable"), most=3)),
        (4, form("sum", "||", "text", either("text", "printable"))),
        (2, form("cast", "STRING", either("printable", "number text", _FRACTION))),
        (2, form("index", "", "texts", _INDEX)),
        (2, form("field", "y|Y", "struct")),
        *_choice("text", "any text"),
    ),
    "number text": ((2, form("cast", "STRING", "integer")), (1, call("trim", "number text")), (1, call("coalesce", "number text", "number text"))),
    "date text": ((2, form("cast", "STRING", "date")), (1, call("left", form("cast", "STRING", "wall clock"), fixed("10")))),
    "time text": ((2, form("cast", "STRING", either("timestamp", "wall clock"))), (1, call("nvl", "time text", "time text"))),
    "binary": (
        (2, form("cast", "BINARY", "text")),
        # constants only: at the ends of int Spark's arithmetic overflows and its memory with it
        (1, call("substring", "binary", _FIXED_COUNT, _FIXED_COUNT)),
        (1, several("call list", "concat", "binary", "binary", most=2)),
        (1, form("sum", "||", "binary", "binary")),
        (1, call("left", "binary", _FIXED_COUNT)),
        *_choice("binary"),
    ),
    "date": (
        (3, call("date_add|dateadd|date_sub", "with date", _COUNT)),
        (3, form("sum", "+|-", "date", either("small", "year-month", fixed("INTERVAL 1 DAY", "INTERVAL '3' DAYS")))),
        (2, call("to_date", either("date text", "when"))),
        (2, call("to_date", "date text", lambda m, _: ExpressionTree("literal", "", (), literals.quoted(m.random.choice(literals.FORMATS))))),
        (2, form("cast", "DATE", either("timestamp", "wall clock", "date text", "time text"))),
        (1, form("try cast", "DATE", "any text")),
        (1, form("field", "d", form("field", "inner", "struct"))),
        *_choice("date", "date text"),
    ),
    "timestamp": (
        (3, form("sum", "+|-", "timestamp", either("day-time", "day-time", "year-month"))),
        (1, form("sum", "+", "date", fixed("INTERVAL 1 HOUR", "INTERVAL '1 10' DAY TO HOUR"))),
        (3, call("date_trunc", lambda m, _: ExpressionTree("literal", "", (), literals.quoted(m.random.choice(literals.UNITS))), either("timestamp", "date", "time text"))),
        (2, call("to_timestamp", either("time text", "when", "date text"))),
        (2, call("to_timestamp", _MOMENT, lambda m, _: ExpressionTree("literal", "", (), literals.quoted(m.random.choice(literals.TIME_FORMATS))))),
        (2, form("cast", "TIMESTAMP", either("date", "wall clock", "time text", "date text"))),
        (1, form("cast", "TIMESTAMP", either("integer", "fraction", column("d5", "d18", "d20")))),
        (1, form("try cast", "TIMESTAMP", "any text")),
        *_choice("timestamp", "date", "wall clock"),
    ),
    "wall clock": (
        (3, form("sum", "+|-", "wall clock", either("day-time", "day-time", "year-month"))),
        (2, form("cast", "TIMESTAMP_NTZ", either("date", "timestamp", "time text"))),
        (1, call("date_trunc", fixed("'month'", "'day'", "'HOUR'"), "wall clock")),
        *_choice("wall clock", "date"),
    ),
    "day-time": (
        (2, form("sum", "-", "timestamp", "timestamp")),
        (1, form("sum", "-", "wall clock", "wall clock")),
        (1, form("sum", "-", "timestamp", "wall clock")),
        (1, form("sum", "-", "wall clock", "timestamp")),
        (1, form("sum", "-", "date", "date")),
        (1, form("sum", "+|-", "day-time", "day-time")),
        (1, form("sign", "-", "day-time")),
        *_choice("day-time")[:5],
    ),
    "year-month": (
        (1, form("sum", "+|-", "year-month", "year-month")),
        (2, literal(literals.year_month)),
        *_choice("year-month")[:5],
    ),
    "ints": _choice("ints")[:3],
    "texts": _choice("texts")[:3],
    "struct": _choice("struct")[:3],
}  # fmt: skip

GRAMMAR: Final = Grammar(LEAVES, PRODUCTIONS, UNIONS)

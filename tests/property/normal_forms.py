"""Random bound predicates over columns of every type, telling rows for them, and the judge of a normal form."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, columns_of
from eddyline.model.predicate import And, Condition, Predicate, conditions_of
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.normalize.domain import Numbered, Text, domain_of
from eddyline.reference import evaluate

Row = Mapping[str, object]

COLUMNS = {
    "flag": t.BOOLEAN,
    "tiny": t.BYTE,
    "small": t.SHORT,
    "a": t.INT,
    "big": t.LONG,
    "real": t.FLOAT,
    "x": t.DOUBLE,
    "price": t.DecimalType(5, 2),
    "amount": t.DecimalType(20, 4),
    "huge": t.DecimalType(38, 10),
    "name": t.STRING,
    "raw": t.BINARY,
    "day": t.DATE,
    "at": t.TIMESTAMP,
    "wall": t.TIMESTAMP_NTZ,
    "span": t.DAY_TIME,
}
NUMBERS = tuple(kind for kind in COLUMNS.values() if t.is_numeric(kind))
TIMES = (t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ)
COMPARISONS = ("eq", "lt", "le", "gt", "ge", "null_safe_eq")
DAY = 86_400_000_000


def bound(predicate: Expression, time_zone: str = "UTC") -> BoundQuery:
    return BoundQuery("q", "", "s", predicate, (), time_zone)


# Values


def special_values(kind: t.DataType) -> list[Any]:
    """Values at which something may go wrong."""
    if kind == t.BOOLEAN:
        return [False, True]
    if kind in t.FRACTIONAL:
        domain = domain_of(kind)
        assert isinstance(domain, Numbered)
        extremes = [
            domain.value(n) for n in (domain.high, domain.high - 1, domain.low, domain.low + 1, 1, -1)
        ]
        whole = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 3.0, 127.0, 128.0, 2.0**31, 2.0**53, 2.0**63, -(2.0**63)]
        return [*extremes, *whole, math.nan]
    if kind == t.STRING:
        return ["", "\0", "a", "a\0", "abc", "b", "ß", "😀", "50%"]
    if kind == t.BINARY:
        return [b"", b"\0", b"a", b"a\0", b"\xff"]
    domain = domain_of(kind)
    assert isinstance(domain, Numbered)
    ordinals = {
        domain.low,
        domain.low + 1,
        domain.high - 1,
        domain.high,
        -1,
        0,
        1,
        2,
        3,
        100,
        2**53 + 1,
        DAY,
        -DAY,
    }
    return [domain.value(n) for n in sorted(ordinals) if domain.low <= n <= domain.high]


def draw_value(source: random.Random, kind: t.DataType) -> Any:
    """A value, more often a plain than a special one; never NULL."""
    if source.random() < 0.4:
        return source.choice(special_values(kind))
    domain = domain_of(kind)
    if isinstance(domain, Text):
        text = "".join(source.choices("ab\0", k=source.randint(0, 3)))
        return text if kind == t.STRING else text.encode()
    assert isinstance(domain, Numbered)
    if kind in t.FRACTIONAL:
        return domain.value(domain.ordinal(source.randint(-40, 40) / source.choice((1, 3, 4, 10))))
    widest = source.choice((5, 300, 10**6, 10**12, 10**18))
    return domain.value(min(max(source.randint(-widest, widest), domain.low), domain.high))


# Expressions


def draw_constant(source: random.Random, kind: t.DataType) -> Literal:
    return Literal(None if source.random() < 0.06 else draw_value(source, kind), kind)


def draw_operand(source: random.Random, kind: t.DataType | None = None) -> Expression:
    """A column, or casts and arithmetic with constants around one."""
    names = [name for name, known in COLUMNS.items() if kind is None or known == kind]
    name = source.choice(names)
    operand: Expression = Column(name, COLUMNS[name])
    if kind is None:
        while source.random() < 0.45:
            operand = source.choice((_cast, _cast, _arithmetic, _arithmetic, _choice))(source, operand)
    return operand


def _cast(source: random.Random, operand: Expression) -> Expression:
    if operand.type in TIMES:
        targets = [kind for kind in (*TIMES, t.LONG, t.INT) if kind != operand.type]
        if operand.type != t.TIMESTAMP:
            targets = [kind for kind in targets if kind in TIMES]
    elif t.is_numeric(operand.type) or operand.type == t.BOOLEAN:
        targets = [
            kind for kind in (*NUMBERS, t.DecimalType(12, 0), t.DecimalType(30, 20)) if kind != operand.type
        ]
    else:
        return operand
    return Call(source.choice(("cast", "cast", "try_cast")), (operand,), source.choice(targets))


def _choice(source: random.Random, operand: Expression) -> Expression:
    constant = draw_constant(source, operand.type)
    if source.random() < 0.5:
        return Call("coalesce", (operand, constant), operand.type)
    return Call("if", (Column("flag", t.BOOLEAN), operand, constant), operand.type)


def _arithmetic(source: random.Random, operand: Expression) -> Expression:
    kind = operand.type
    if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        return Call("time_add", (operand, draw_constant(source, t.DAY_TIME)), kind)
    if not t.is_numeric(kind):
        return operand
    function = source.choice(("neg", "abs", "add", "sub", "mul", "div", "int_div"))
    if function in ("neg", "abs"):
        return Call(function, (operand,), kind)
    if (function == "div" and kind != t.DOUBLE) or (function == "int_div" and kind != t.LONG):
        function = "add"
    constant: Literal = draw_constant(source, kind)
    result = kind
    if isinstance(kind, t.DecimalType):
        other = source.choice((t.DecimalType(3, 1), t.DecimalType(4, 3), t.DecimalType(2, 0)))
        constant = draw_constant(source, other)
        scale = kind.scale + other.scale if function == "mul" else max(kind.scale, other.scale)
        result = t.DecimalType(
            min(38, max(kind.precision, other.precision) + other.precision), min(scale, 38)
        )
    pair = (operand, constant) if source.random() < 0.6 else (constant, operand)
    return Call(function, pair, result)


def draw_atom(source: random.Random) -> Expression:
    """A boolean expression without connectives."""
    shape = source.random()
    if shape < 0.08:
        return Column("flag", t.BOOLEAN)
    if shape < 0.12:
        return Literal(source.choice((True, False, None)), t.BOOLEAN)
    operand = draw_operand(source)
    kind = operand.type
    if shape < 0.2:
        return Call("is_null", (operand,), t.BOOLEAN)
    if shape < 0.24 and kind in t.FRACTIONAL:
        return Call("isnan", (operand,), t.BOOLEAN)
    if shape < 0.3 and kind == t.STRING:
        pattern = source.choice(("a", "", "a%", "_", "50\\%", "%", "\\\\", "ab"))
        return Call("like", (operand, Literal(pattern, t.STRING), Literal("\\", t.STRING)), t.BOOLEAN)
    if shape < 0.45:
        items = [draw_constant(source, kind) for _ in range(source.randint(1, 5))]
        if kind in COLUMNS.values() and source.random() < 0.3:
            items.append(draw_operand(source, kind))
        return Call("in", (operand, *items), t.BOOLEAN)
    other: Expression = draw_constant(source, kind)
    if shape < 0.53 and kind in COLUMNS.values():
        other = draw_operand(source, kind)
    pair = (operand, other) if source.random() < 0.7 else (other, operand)
    return Call(source.choice(COMPARISONS), pair, t.BOOLEAN)


def draw_predicate(source: random.Random, atoms: int) -> Expression:
    """A boolean expression of about so many atoms."""
    if atoms <= 1:
        return draw_atom(source)
    shape = source.random()
    if shape < 0.12:
        return Call("not", (draw_predicate(source, atoms),), t.BOOLEAN)
    if shape < 0.17:
        return Call("is_null", (draw_predicate(source, atoms),), t.BOOLEAN)
    if shape < 0.22:
        constant = Literal(source.choice((True, False, None)), t.BOOLEAN)
        function = source.choice(("eq", "null_safe_eq"))
        return Call(function, (draw_predicate(source, atoms), constant), t.BOOLEAN)
    count = min(atoms, source.randint(2, 5))
    parts = tuple([draw_predicate(source, atoms // count) for _ in range(count)])
    if shape < 0.3:
        return Call("coalesce", parts, t.BOOLEAN)
    if shape < 0.36 and count == 3:
        return Call("if", parts, t.BOOLEAN)
    if shape < 0.42:
        return Call("case", parts, t.BOOLEAN)
    return Call(source.choice(("and", "or")), parts, t.BOOLEAN)


# Rows


def telling_values(normal: Predicate, name: str, kind: t.DataType, source: random.Random) -> list[Any]:
    """NULL, NaN, both ends and the middle of every interval of the column's conditions, and the ends of its type."""
    values: list[Any] = [None, *special_values(kind)]
    domain = domain_of(kind)
    for condition in conditions_of(normal):
        if condition.subject != Column(name, kind):
            continue
        constants = condition.regions.constants
        values += constants
        if isinstance(domain, Numbered):
            ordinals = [domain.ordinal(constant) for constant in constants]
            near = [n + d for n in ordinals for d in (-1, 1)] + [
                sum(p) // 2 for p in itertools.pairwise(ordinals)
            ]
            values += [domain.value(min(max(n, domain.low), domain.high)) for n in near]
        elif isinstance(domain, Text):
            values += [constant + ("\0" if kind == t.STRING else b"\0") for constant in constants]
            values += [constant[:-1] for constant in constants]
    values += [draw_value(source, kind) for _ in range(3)]
    return values


def telling_rows(
    predicate: Expression,
    normal: Predicate,
    source: random.Random,
    count: int = 40,
    columns: Mapping[str, t.DataType] = COLUMNS,
) -> Iterator[dict[str, object]]:
    """Rows of telling values: every value of every column once, the other columns at random."""
    names = sorted(columns_of(predicate))
    pools = {name: telling_values(normal, name, columns[name], source) for name in names}
    yield dict.fromkeys(names)
    everything = [(name, value) for name in names for value in pools[name]]
    for name, value in everything if len(everything) <= count else source.sample(everything, count):
        yield {other: value if other == name else source.choice(pools[other]) for other in names}


# Judgement


def holds(predicate: Predicate, row: Row, time_zone: str) -> bool:
    """Whether a row satisfies a normal form, by the reference."""
    if isinstance(predicate, Condition):
        return evaluate(predicate.subject, row, time_zone=time_zone) in predicate.regions
    answers = (holds(part, row, time_zone) for part in predicate.parts)
    return all(answers) if isinstance(predicate, And) else any(answers)


def check_agreement(query: BoundQuery, normal: NormalQuery, rows: Iterator[dict[str, object]]) -> None:
    """Every row must satisfy the normal form iff the reference finds the original predicate true."""
    for row in rows:
        expected = evaluate(query.predicate, row, time_zone=query.time_zone) is True
        found = holds(normal.predicate, row, query.time_zone)
        assert found == expected, f"{row} under {query.predicate!r}: {expected} became {found}"


def check_shape(predicate: Predicate) -> None:
    """The promises of the model: no AND in AND, one condition a subject, canonical and neither empty nor everything."""
    pending = [predicate]
    while pending:
        current = pending.pop()
        if isinstance(current, Condition):
            domain = domain_of(current.subject.type)
            assert domain.canonical(current.regions) == current.regions, current
            assert not current.regions.is_empty and current.regions != domain.everything, current
            continue
        assert len(current.parts) != 1, "a junction of one part is that part"
        subjects = [part.subject for part in current.parts if isinstance(part, Condition)]
        assert len(subjects) == len(set(subjects)), "one condition a subject"
        assert type(current) not in map(type, current.parts), "no AND in AND, no OR in OR"
        assert len(set(current.parts)) == len(current.parts), "no part twice"
        pending += current.parts

"""Implication decided by z3, from bound expressions: the judge of relations that shares nothing with the prover.

Every expression becomes a value and whether it is NULL. All values but booleans are whole numbers to z3:

    integers   themselves, between the ends of their type; what overflows is NULL
    doubles    their place in the order of all doubles: ..., -5e-324 is -1, both zeros 0, 5e-324 is 1, ..., NaN above +inf
    texts      their place among the constants; gaps are wide enough, unless only zeros tell two constants apart

Doubles and texts are only compared, so nothing but their order counts, and that is kept exactly.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import z3

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, walk
from eddyline.model.query import BoundQuery

MILLISECONDS: Final = 1000
GAP: Final = 1000  # texts between two constants: more than any question needs to tell apart
RANGES: Final = {t.BYTE: 8, t.SHORT: 16, t.INT: 32, t.LONG: 64}

Truth = Any  # a bool, or what z3 makes of one


class Encoded(NamedTuple):
    """What z3 sees of an expression; constants stay Python's, so that z3 is asked about the others only."""

    value: Any
    null: Truth


class LeftOut(Exception):
    """The expression has an operation that is not encoded."""


def decide(one: BoundQuery, other: BoundQuery) -> bool | None:
    """Whether one implies the other; None if z3 gives up. LeftOut if an operation is not encoded."""
    judge = Judge([one, other])
    return judge.implies(one, other)


class Judge:
    """Decides questions about some queries of one stream, each of which is encoded once."""

    def __init__(self, queries: Iterable[BoundQuery]) -> None:
        predicates = [query.predicate for query in queries]
        self._assumed: Expression | None = None
        self._texts = _places_of_texts(predicates)
        self._columns: dict[Column, Encoded] = {}
        self._encoded: dict[Expression, Encoded] = {}
        self._solver = z3.SimpleSolver()
        self._solver.set("timeout", MILLISECONDS)
        self._row: dict[str, Any] | None = None
        for predicate in predicates:  # before anything is assumed: what columns are limited to stays
            self.encode(predicate)

    def implies(self, one: BoundQuery, other: BoundQuery) -> bool | None:
        """Whether every row for which the one is true makes the other true; None if z3 gives up."""
        self._assume(one.predicate)
        self._solver.push()
        self._solver.add(_no(self._is_true(other.predicate)))
        answer = self._solver.check()
        self._row = self._row_of(self._solver.model()) if answer == z3.sat else None
        self._solver.pop()
        return None if answer == z3.unknown else bool(answer == z3.unsat)

    def _assume(self, predicate: Expression) -> None:
        """Ask about rows for which this is true; questions about the same one in turn are quicker."""
        if predicate is self._assumed:
            return
        if self._assumed is not None:
            self._solver.pop()
        self._assumed = predicate
        self._solver.push()
        self._solver.add(self._is_true(predicate))

    def row(self) -> dict[str, Any] | None:
        """The row by which the last implication was refuted; columns that nobody has named are left out."""
        return self._row

    def _row_of(self, model: z3.ModelRef) -> dict[str, Any]:
        row = {}
        for column, (value, null) in self._columns.items():
            if z3.is_true(model.eval(null, model_completion=True)):
                row[column.name] = None
            else:
                row[column.name] = self._python(column.type, model.eval(value, model_completion=True))
        return row

    def _python(self, kind: t.DataType, value: Any) -> Any:
        if kind == t.BOOLEAN:
            return z3.is_true(value)
        number = value.as_long()
        if kind == t.DOUBLE:
            return _double_at(number)
        if kind == t.STRING:
            text, place = max(
                ((text, place) for text, place in self._texts.items() if place <= number),
                key=lambda pair: pair[1],
            )
            return text + "\0" * (number - place)
        return number

    def _is_true(self, predicate: Expression) -> Truth:
        value, null = self.encode(predicate)
        return _both(value, _no(null))

    def encode(self, expression: Expression) -> Encoded:
        """The value of an expression, and whether it is NULL."""
        found = self._encoded.get(expression)
        if found is None:
            found = self._encoded[expression] = self._new(expression)
        return found

    def _new(self, expression: Expression) -> Encoded:
        if isinstance(expression, Literal):
            return self._literal(expression)
        if isinstance(expression, Column):
            return self._column(expression)
        assert isinstance(expression, Call), "there are no other expressions"
        if expression.function in ("cast", "try_cast"):
            return self._cast(expression)
        operation = OPERATIONS.get(expression.function)
        if operation is None:
            raise LeftOut(expression.function)
        arguments = expression.arguments
        if expression.function in ARITHMETIC and expression.type not in RANGES:
            raise LeftOut(f"{expression.function} of {expression.type}")
        encoded = operation([self.encode(argument) for argument in arguments])
        return _fitting(encoded, expression.type) if expression.function in ARITHMETIC else encoded

    def _literal(self, literal: Literal) -> Encoded:
        if literal.value is None:
            return Encoded(False if literal.type == t.BOOLEAN else 0, True)
        return Encoded(self._place(literal.type, literal.value), False)

    def _place(self, kind: t.DataType, value: Any) -> Any:
        if kind == t.BOOLEAN or kind in RANGES:
            return value
        if kind == t.DOUBLE:
            return _place_of_double(value)
        if kind == t.STRING:
            return self._texts[value]
        raise LeftOut(f"constants of {kind}")

    def _column(self, column: Column) -> Encoded:
        null = z3.Bool(f"{column.name} is null")
        if column.type == t.BOOLEAN:
            encoded = Encoded(z3.Bool(column.name), null)
        else:
            value = z3.Int(column.name)
            self._solver.add(*_limits(column.type, value))
            encoded = Encoded(value, null)
        self._columns[column] = encoded
        return encoded

    def _cast(self, call: Call) -> Encoded:
        (argument,) = call.arguments
        if argument.type in RANGES and call.type in RANGES:
            return _fitting(self.encode(argument), call.type)
        if isinstance(argument, Literal) and call.type == t.DOUBLE:
            if argument.value is None:
                return Encoded(0, True)
            if (
                argument.type in RANGES
                or argument.type == t.FLOAT
                or isinstance(argument.type, t.DecimalType)
            ):
                return Encoded(_place_of_double(float(argument.value)), False)
            if argument.value in DOUBLES:
                return Encoded(_place_of_double(float(argument.value)), False)
        if (
            isinstance(argument, Literal)
            and argument.value is None
            and call.type in (t.STRING, t.BOOLEAN, *RANGES)
        ):
            return Encoded(False if call.type == t.BOOLEAN else 0, True)
        raise LeftOut(f"cast from {argument.type} to {call.type}")


DOUBLES: Final = ("NaN", "inf", "-inf", "Infinity", "-Infinity")  # texts that Spark and Python read alike


def _place_of_double(value: float) -> int:
    if math.isnan(value):
        return _place_of_double(math.inf) + 1
    bits: int = struct.unpack("<q", struct.pack("<d", abs(value)))[0]
    return -bits if value < 0 else bits


def _double_at(place: int) -> float:
    if place > _place_of_double(math.inf):
        return math.nan
    value: float = struct.unpack("<d", struct.pack("<q", abs(place)))[0]
    return -value if place < 0 else value


def _places_of_texts(predicates: Iterable[Expression]) -> dict[str, int]:
    """Numbers in the order of the texts' bytes.

    There are infinitely many texts between two, unless the greater is the smaller with zeros behind it.
    """
    literals = (e for predicate in predicates for e in walk(predicate) if isinstance(e, Literal))
    texts = {"", *(literal.value for literal in literals if isinstance(literal.value, str))}
    places: dict[str, int] = {}
    last, place = "", 0
    for text in sorted(texts, key=str.encode):
        zeros = len(text) - len(last)
        place += zeros if text == last + "\0" * zeros else GAP
        places[text] = place
        last = text
    return places


def _limits(kind: t.DataType, value: z3.ArithRef) -> list[z3.BoolRef]:
    if kind in RANGES:
        low, high = _range(kind)
        return [low <= value, value <= high]
    if kind == t.DOUBLE:
        return [_place_of_double(-math.inf) <= value, value <= _place_of_double(math.nan)]
    if kind == t.STRING:
        return [value >= 0]
    raise LeftOut(f"columns of {kind}")


def _range(kind: t.DataType) -> tuple[int, int]:
    half = 1 << (RANGES[kind] - 1)
    return -half, half - 1


def _fitting(encoded: Encoded, kind: t.DataType) -> Encoded:
    """NULL where the value does not fit into an integral type."""
    low, high = _range(kind)
    value, null = encoded
    return Encoded(value, _either(null, _either(value < low, value > high)))


# Logic over what may be Python's: z3 sees no constants that are settled here.


def _no(one: Truth) -> Truth:
    return not one if isinstance(one, bool) else z3.Not(one)


def _all(truths: Iterable[Truth]) -> Truth:
    open_ = []
    for truth in truths:
        if truth is False:
            return False
        if truth is not True:
            open_.append(truth)
    return z3.And(open_) if len(open_) > 1 else open_[0] if open_ else True


def _any(truths: Iterable[Truth]) -> Truth:
    open_ = []
    for truth in truths:
        if truth is True:
            return True
        if truth is not False:
            open_.append(truth)
    return z3.Or(open_) if len(open_) > 1 else open_[0] if open_ else False


def _both(one: Truth, other: Truth) -> Truth:
    return _all((one, other))


def _either(one: Truth, other: Truth) -> Truth:
    return _any((one, other))


def _choose(condition: Truth, one: Any, other: Any) -> Any:
    if isinstance(condition, bool):
        return one if condition else other
    if isinstance(one, bool) and isinstance(other, bool):
        one, other = z3.BoolVal(one), z3.BoolVal(other)
    elif isinstance(one, int) and isinstance(other, int):
        one, other = z3.IntVal(one), z3.IntVal(other)
    return z3.If(condition, one, other)


# The operations, by their table: three-valued logic is told by what is true and what is false.


def _known(true: Truth, false: Truth) -> Encoded:
    return Encoded(true, _no(_either(true, false)))


def _true(encoded: Encoded) -> Truth:
    return _both(encoded.value, _no(encoded.null))


def _false(encoded: Encoded) -> Truth:
    return _both(_no(encoded.value), _no(encoded.null))


def _equal(one: Any, other: Any) -> Truth:
    if isinstance(one, bool) and isinstance(other, bool):
        return one is other
    return one == other


def _less(one: Any, other: Any) -> Truth:
    if isinstance(one, bool | z3.BoolRef) and isinstance(other, bool | z3.BoolRef):
        return _both(_no(one), other)
    return one < other


def _strict(function: Callable[..., Any]) -> Callable[[list[Encoded]], Encoded]:
    """An operation that is NULL if an argument is."""

    def encoded(arguments: list[Encoded]) -> Encoded:
        return Encoded(
            function(*(argument.value for argument in arguments)),
            _any(argument.null for argument in arguments),
        )

    return encoded


def _null_safe_eq(arguments: list[Encoded]) -> Encoded:
    one, other = arguments
    equal = _all((_equal(one.value, other.value), _no(one.null), _no(other.null)))
    return Encoded(_either(equal, _both(one.null, other.null)), False)


def _in(arguments: list[Encoded]) -> Encoded:
    subject, *others = arguments
    found = _any(_both(_equal(subject.value, other.value), _no(other.null)) for other in others)
    unknown = _both(_no(found), _any(other.null for other in others))
    return Encoded(found, _either(subject.null, unknown))


def _coalesce(arguments: list[Encoded]) -> Encoded:
    *firsts, result = arguments
    for each in reversed(firsts):
        value = _choose(each.null, result.value, each.value)
        result = Encoded(value, _both(each.null, result.null))
    return result


def _if(arguments: list[Encoded]) -> Encoded:
    condition, one, other = arguments
    true = _true(condition)
    return Encoded(_choose(true, one.value, other.value), _choose(true, one.null, other.null))


def _case(arguments: list[Encoded]) -> Encoded:
    result = arguments[-1] if len(arguments) % 2 else Encoded(arguments[1].value, True)
    for place in reversed(range(0, len(arguments) - 1, 2)):
        result = _if([arguments[place], arguments[place + 1], result])
    return result


def _abs(value: Any) -> Any:
    return abs(value) if isinstance(value, int) else z3.If(value < 0, -value, value)


ARITHMETIC: Final = ("add", "sub", "mul", "neg", "abs")
OPERATIONS: Final[dict[str, Callable[[list[Encoded]], Encoded]]] = {
    "and": lambda arguments: _known(_all(map(_true, arguments)), _any(map(_false, arguments))),
    "or": lambda arguments: _known(_any(map(_true, arguments)), _all(map(_false, arguments))),
    "not": _strict(_no),
    "is_null": lambda arguments: Encoded(arguments[0].null, False),
    "eq": _strict(_equal),
    "lt": _strict(_less),
    "le": _strict(lambda one, other: _no(_less(other, one))),
    "gt": _strict(lambda one, other: _less(other, one)),
    "ge": _strict(lambda one, other: _no(_less(one, other))),
    "null_safe_eq": _null_safe_eq,
    "in": _in,
    "isnan": lambda arguments: Encoded(
        _both(_equal(arguments[0].value, _place_of_double(math.nan)), _no(arguments[0].null)), False
    ),
    "coalesce": _coalesce,
    "if": _if,
    "case": _case,
    "add": _strict(lambda one, other: one + other),
    "sub": _strict(lambda one, other: one - other),
    "mul": _strict(lambda one, other: one * other),
    "neg": _strict(lambda one: -one),
    "abs": _strict(_abs),
}

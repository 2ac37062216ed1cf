"""The rule that moves arithmetic with a constant to the other side, so that the attribute itself is the subject.

    price * 2 > 10     ->  price > 5
    a + 3 <= 7         ->  a <= 4          (a int: there is no overflow below)
    10 - a > 3         ->  a < 7           (down to where 10 - a overflows: NULL there)

Nothing is solved by algebra: the place where the real operation, with its rounding and its overflow, passes the
constant is looked for (`preimage`), so the result is exact for doubles too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from eddyline.model import types as t
from eddyline.model.expression import Call, Expression
from eddyline.model.regions import Regions
from eddyline.normalize import floats
from eddyline.normalize.atom import Atom, InvertibleStep
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.normalize.preimage import Monotone, MonotonePiece, NoOrdinal, Result, null_everywhere, preimage
from eddyline.normalize.rewrite import is_fixed
from eddyline.normalize.zone import fixed_offset

_BINARY: Final = frozenset({"add", "sub", "mul", "div", "int_div", "time_add"})
_UNARY: Final = frozenset({"neg", "abs"})
_NEGATION_DIGITS: Final = 34  # Spark negates a longer decimal by way of Scala's, which rounds

# The function of the operand's ordinal for one constant; None where it is NULL throughout.
Make = Callable[[Any], Monotone | None]


def isolate_arithmetic(atom: Atom, time_zone: str) -> Atom:
    """Take the outermost operation with a constant off the subject if it can be taken back exactly.

    >>> from eddyline.model.expression import Column, Literal
    >>> from eddyline.normalize.atom import Mode
    >>> twice = Call("mul", (Column("a", t.INT), Literal(2, t.INT)), t.INT)
    >>> isolate_arithmetic(Atom(twice, "gt", Mode.IS_TRUE, (Literal(10, t.INT),)), "UTC").subject
    Column('a', int)
    """
    subject = atom.subject
    if not isinstance(subject, Call):
        return atom
    if subject.function in _UNARY:
        operand, constant, reverse = subject.arguments[0], None, False
    elif subject.function in _BINARY:
        left, right = subject.arguments
        reverse = is_fixed(left)
        if reverse == is_fixed(right):
            return atom
        operand, constant = (right, left) if reverse else (left, right)
    else:
        return atom
    make = _make(subject, operand, constant, reverse, time_zone)
    if make is None:
        return atom
    step = InvertibleStep(
        subject.function, operand.type, subject.type, _pull(make, operand.type, constant), constant
    )
    return Atom(operand, atom.operation, atom.mode, atom.constants, (step, *atom.steps))


def _pull(make: Make, kind: t.DataType, constant: Expression | None) -> Callable[[Regions, object], Regions]:
    source = domain_of(kind)
    assert isinstance(source, Numbered), "arithmetic is on numbers"

    def pull(regions: Regions, value: object) -> Regions:
        if constant is not None and value is None:
            return null_everywhere(source, regions)
        function = make(value)
        return null_everywhere(source, regions) if function is None else preimage(function, regions)

    return pull


def _make(
    call: Call, operand: Expression, constant: Expression | None, reverse: bool, time_zone: str
) -> Make | None:
    source, target = domain_of(operand.type), domain_of(call.type)
    if not isinstance(source, Numbered) or not isinstance(target, Numbered):
        return None
    if call.function == "time_add":
        fixed = operand.type == t.TIMESTAMP_NTZ or fixed_offset(time_zone) is not None
        exact = fixed and constant is not None and constant.type == t.DAY_TIME and not reverse
        return _integers("add", False, source, target) if exact else None
    if operand.type in t.FRACTIONAL:
        same = call.type == operand.type and (constant is None or constant.type == operand.type)
        return _floating(call.function, reverse, source) if same else None
    if operand.type in t.INTEGRAL:
        same = constant is None or constant.type == operand.type
        return _integers(call.function, reverse, source, target) if same else None
    if isinstance(operand.type, t.DecimalType) and isinstance(call.type, t.DecimalType):
        return _decimals(call.function, reverse, source, target, operand.type, call.type, constant)
    return None


def _integers(function: str, reverse: bool, source: Numbered, target: Numbered) -> Make | None:
    """On integers; what leaves the range of the target fails by itself."""
    if function in _UNARY:
        return lambda _: _unary(function, source, target)
    linear = _LINEAR.get((function, reverse))
    if linear is not None:
        return lambda c: linear(c, source, target)
    return None


def _function(
    source: Numbered,
    target: Numbered,
    forward: Callable[[int], Result],
    guess: Callable[[int], int],
    rising: bool,
) -> Monotone:
    return Monotone(source, target, forward, guess, (MonotonePiece(source.low, source.high, rising),))


def _unary(function: str, source: Numbered, target: Numbered) -> Monotone:
    if function == "neg":
        return _function(source, target, lambda n: -n, lambda place: 1 - place, False)
    pieces = (MonotonePiece(source.low, -1, False), MonotonePiece(0, source.high))
    return Monotone(source, target, abs, lambda place: place, pieces)


def _add(c: int, source: Numbered, target: Numbered) -> Monotone:
    return _function(source, target, lambda n: n + c, lambda place: place - c, True)


def _subtract(c: int, source: Numbered, target: Numbered) -> Monotone:
    return _add(-c, source, target)


def _subtract_from(c: int, source: Numbered, target: Numbered) -> Monotone:
    return _function(source, target, lambda n: c - n, lambda place: c - place + 1, False)


def _multiply(c: int, source: Numbered, target: Numbered) -> Monotone:
    return _function(source, target, lambda n: n * c, lambda place: -(-place // c) if c else 0, c >= 0)


def _divide(c: int, source: Numbered, target: Numbered) -> Monotone | None:
    if c == 0:
        return None
    return _function(source, target, lambda n: towards_zero(n, c), lambda place: place * c, c > 0)


def towards_zero(numerator: int, denominator: int) -> int:
    """The quotient without its fraction.

    >>> towards_zero(-7, 2), towards_zero(7, -2), towards_zero(-7, -2)
    (-3, -3, 3)
    """
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


_LINEAR: Final[dict[tuple[str, bool], Callable[[int, Numbered, Numbered], Monotone | None]]] = {
    ("add", False): _add,
    ("add", True): _add,
    ("sub", False): _subtract,
    ("sub", True): _subtract_from,
    ("mul", False): _multiply,
    ("mul", True): _multiply,
    ("int_div", False): _divide,
}


def _decimals(
    function: str,
    reverse: bool,
    source: Numbered,
    target: Numbered,
    operand: t.DecimalType,
    result: t.DecimalType,
    constant: Expression | None,
) -> Make | None:
    """On counts of units, where the result is not rounded."""
    if constant is None:
        exact = operand.scale == result.scale and operand.precision <= _NEGATION_DIGITS
        return _integers(function, False, source, target) if exact else None
    if not isinstance(constant.type, t.DecimalType):
        return None
    other = domain_of(constant.type)
    assert isinstance(other, Numbered), "decimals are numbered"
    if function == "mul" and result.scale == operand.scale + constant.type.scale:
        return lambda c: _multiply(other.ordinal(c), source, target)
    if function not in ("add", "sub") or result.scale != max(operand.scale, constant.type.scale):
        return None
    factor = 10 ** (result.scale - operand.scale)
    units = 10 ** (result.scale - constant.type.scale)

    def make(c: Decimal) -> Monotone:
        shift = other.ordinal(c) * units
        if function == "sub" and reverse:
            return _scaled(-factor, shift, source, target)
        return _scaled(factor, -shift if function == "sub" else shift, source, target)

    return make


def _scaled(factor: int, shift: int, source: Numbered, target: Numbered) -> Monotone:
    def forward(n: int) -> Result:
        return n * factor + shift

    return _function(source, target, forward, lambda place: -((shift - place) // factor), factor > 0)


def _floating(function: str, reverse: bool, domain: Numbered) -> Make | None:
    if function in _UNARY:
        return lambda _: _unary(function, domain, domain)
    known = (function, reverse) in _FLOATING
    return (lambda c: _rounded(function, reverse, c, domain)) if known else None


def _rounded(function: str, reverse: bool, c: float, domain: Numbered) -> Monotone | None:
    """On floats: computed in double precision and rounded to the type, which is exact for floats of 32 bits too."""
    if function == "div" and not reverse and c == 0:
        return None
    compute, invert = _FLOATING[function, reverse]
    value, ordinal = domain.value, domain.ordinal
    narrow = floats.round_to_float if domain.kind == t.FLOAT else float

    def forward(n: int) -> Result:
        x = value(n)
        if x == 0 and function == "div" and reverse:
            return NoOrdinal.NULL
        result = narrow(compute(x, c))
        return ordinal(result) if result == result else NoOrdinal.NAN

    def guess(place: int) -> int:
        try:
            near = narrow(invert(value(min(max(place, domain.low), domain.high)), c))
        except ZeroDivisionError:
            return 0
        return ordinal(near) if near == near else 0

    return Monotone(domain, domain, forward, guess, _pieces(function, reverse, c, domain))


def _pieces(function: str, reverse: bool, c: float, domain: Numbered) -> tuple[MonotonePiece, ...]:
    """Where the operation rises or falls; each special value is a piece by itself where the constant is special.

    inf - inf and 0 * inf are NaN, and c / x leaps at zero.
    """
    low, high = domain.low, domain.high
    linear = function in ("add", "sub")
    falls = reverse and function in ("sub", "div")
    rising = (linear or c > 0) != falls
    if math.isfinite(c) and (linear or c != 0):
        if function != "div" or not reverse:
            return (MonotonePiece(low, high, rising),)
        return MonotonePiece(low, -1, rising), MonotonePiece(0, 0), MonotonePiece(1, high, rising)
    return (
        MonotonePiece(low, low),
        MonotonePiece(low + 1, -1),
        MonotonePiece(0, 0),
        MonotonePiece(1, high - 1),
        MonotonePiece(high, high),
    )


# What is computed, and roughly the way back.
_FLOATING: Final[
    dict[tuple[str, bool], tuple[Callable[[float, float], float], Callable[[float, float], float]]]
] = {
    ("add", False): (lambda x, c: x + c, lambda y, c: y - c),
    ("add", True): (lambda x, c: x + c, lambda y, c: y - c),
    ("sub", False): (lambda x, c: x - c, lambda y, c: y + c),
    ("sub", True): (lambda x, c: c - x, lambda y, c: c - y),
    ("mul", False): (lambda x, c: x * c, lambda y, c: y / c),
    ("mul", True): (lambda x, c: x * c, lambda y, c: y / c),
    ("div", False): (lambda x, c: x / c, lambda y, c: y * c),
    ("div", True): (lambda x, c: c / x, lambda y, c: c / y),
}

"""The rule that compares an attribute in its own type: `cast(int_column as double) > 2.5` is a region set of the int.

Only casts that never fall are unwrapped: numbers to numbers, dates and times to each other. What comes to or from a
string, and a fractional number made a decimal, stays as it is: text has another order, and how many digits of a double
are taken is Java's secret.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from eddyline.functions.fold import fold
from eddyline.model import types as t
from eddyline.model.expression import Call, Literal
from eddyline.model.regions import Regions
from eddyline.normalize import floats
from eddyline.normalize.atom import Atom, InvertibleStep
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.normalize.preimage import Monotone, MonotonePiece, NoOrdinal, Result, preimage
from eddyline.normalize.zone import fixed_offset

CASTS: Final = ("cast", "try_cast")
DAY: Final = 86_400_000_000
SECOND: Final = 1_000_000
_CYCLE: Final = 146_097  # days of 400 years
_NEAR: Final = -700_000  # early in the year 54, before any zone had rules
_FAR: Final = 2_900_000  # in the year 9910


def unwrap_casts(atom: Atom, time_zone: str) -> Atom:
    """Take the outermost cast off the subject if it can be taken back exactly.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.normalize.atom import Mode
    >>> wide = Call("cast", (Column("a", t.INT),), t.DOUBLE)
    >>> unwrap_casts(Atom(wide, "gt", Mode.IS_TRUE, (Literal(2.5, t.DOUBLE),)), "UTC").subject
    Column('a', int)
    """
    subject = atom.subject
    if not isinstance(subject, Call) or subject.function not in CASTS:
        return atom
    inner = subject.arguments[0]
    step = cast_step(inner.type, subject.type, time_zone)
    if step is None:
        return atom
    return Atom(inner, atom.operation, atom.mode, atom.constants, (step, *atom.steps))


@lru_cache(maxsize=4096)
def cast_step(source: t.DataType, target: t.DataType, time_zone: str) -> InvertibleStep | None:
    """The way back through a cast; None where there is no exact one."""
    function = cast_function(source, target, time_zone)
    if function is None:
        return None

    def pull(regions: Regions, _: object) -> Regions:
        return preimage(function, regions)

    return InvertibleStep("cast", source, target, pull)


def cast_function(source: t.DataType, target: t.DataType, time_zone: str) -> Monotone | None:
    """A cast as a function on ordinals; None where it is not known to be monotone."""
    inner, outer = domain_of(source), domain_of(target)
    if not isinstance(inner, Numbered) or not isinstance(outer, Numbered):
        return None
    pair = _between_numbers(source, target) or _between_times(source, target, time_zone)
    if pair is None:
        return None
    forward, guess = pair
    of_nan = NoOrdinal.NAN if target in t.FRACTIONAL else NoOrdinal.NULL
    return Monotone(inner, outer, forward, guess, (MonotonePiece(inner.low, inner.high),), of_nan)


Pair = tuple[Callable[[int], Result], Callable[[int], int]]


def _same(ordinal: int) -> int:
    return ordinal


def _between_numbers(source: t.DataType, target: t.DataType) -> Pair | None:
    if source == t.BOOLEAN or source in t.INTEGRAL:
        return _from_ratio(0, target) if target != t.BOOLEAN else None
    if isinstance(source, t.DecimalType):
        if target in (t.BYTE, t.SHORT, t.INT) and source.precision > 18:
            return None  # Spark takes the detour over a double there, and rounds 1.99999999999999999999 up
        return _from_ratio(source.scale, target)
    if source in t.FRACTIONAL:
        return _from_floating(source, target)
    return None


def _from_ratio(scale: int, target: t.DataType) -> Pair | None:
    """From integers that count units of 10 ** -scale."""
    unit = 10**scale
    if target in t.INTEGRAL:
        return (lambda n: n // unit if n >= 0 else -(-n // unit)), (lambda place: place * unit)
    if isinstance(target, t.DecimalType):
        if target.scale >= scale:
            factor = 10 ** (target.scale - scale)
            return (lambda n: n * factor), (lambda place: -(-place // factor))
        cut = 10 ** (scale - target.scale)
        return (lambda n: half_up(n, cut)), (lambda place: place * cut - cut // 2)
    if target == t.DOUBLE:
        return (
            lambda n: floats.double_to_ordinal(n / unit),
            lambda place: _units(floats.ordinal_to_double, place, floats.DOUBLE_INFINITY, unit),
        )
    if target == t.FLOAT:
        return (
            lambda n: floats.float_to_ordinal(floats.ratio_to_float(n, unit)),
            lambda place: _units(floats.ordinal_to_float, place, floats.FLOAT_INFINITY, unit),
        )
    return None


def half_up(numerator: int, denominator: int) -> int:
    """The quotient as an integer, halves away from zero.

    >>> half_up(5, 10), half_up(-5, 10), half_up(14, 10)
    (1, -1, 1)
    """
    whole = (2 * abs(numerator) + denominator) // (2 * denominator)
    return whole if numerator >= 0 else -whole


def _units(value: Callable[[int], float], place: int, infinity: int, unit: int) -> int:
    """How many units make up a float, rounded up; the float's neighbour where it is infinite."""
    top, bottom = value(min(max(place, 1 - infinity), infinity - 1)).as_integer_ratio()
    return -(-top * unit // bottom)


def _from_floating(source: t.DataType, target: t.DataType) -> Pair | None:
    inner = domain_of(source)
    assert isinstance(inner, Numbered), "floats are numbered"
    value, ordinal = inner.value, inner.ordinal
    if target == t.DOUBLE:
        narrow = floats.round_to_float
        return (
            lambda n: floats.double_to_ordinal(value(n)),
            lambda place: ordinal(narrow(floats.ordinal_to_double(_within(place, floats.DOUBLE_INFINITY)))),
        )
    if target == t.FLOAT:
        return (
            lambda n: floats.float_to_ordinal(floats.round_to_float(value(n))),
            lambda place: ordinal(floats.ordinal_to_float(_within(place, floats.FLOAT_INFINITY))),
        )
    if target in t.INTEGRAL:
        return _truncated(value, target), (lambda place: ordinal(float(place)))
    return None


def _within(place: int, infinity: int) -> int:
    return min(max(place, -infinity), infinity)


def _truncated(value: Callable[[int], float], target: t.DataType) -> Callable[[int], Result]:
    """Towards zero. 2 ** 63 itself is taken for the largest bigint, as Spark's check compares in doubles."""

    def forward(ordinal: int) -> int:
        number = value(ordinal)
        if target == t.LONG and number == 2.0**63:
            return 2**63 - 1
        return int(min(max(number, -(2.0**64)), 2.0**64))

    return forward


def _between_times(source: t.DataType, target: t.DataType, time_zone: str) -> Pair | None:
    """Between dates (days), wall clocks and instants (microseconds).

    A wall clock jumps where the zone's offset changes, so instants follow it only under a fixed offset. Local midnights
    however never come out of order.
    """
    if source == t.TIMESTAMP and target in t.INTEGRAL:
        return (lambda n: n // SECOND), (lambda place: place * SECOND)
    zoned = (source == t.TIMESTAMP) != (target == t.TIMESTAMP)
    offset = fixed_offset(time_zone) if zoned else 0
    if source == t.DATE and target in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        if offset is None:
            return _midnights(time_zone)
        return (lambda n: n * DAY - offset), (lambda place: -(-(place + offset) // DAY))
    if offset is None:
        return None
    if target == t.DATE and source in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
        return (lambda n: (n + offset) // DAY), (lambda place: place * DAY - offset)
    if source == t.TIMESTAMP and target == t.TIMESTAMP_NTZ:
        return (lambda n: n + offset), (lambda place: place - offset)
    if source == t.TIMESTAMP_NTZ and target == t.TIMESTAMP:
        return (lambda n: n - offset), (lambda place: place + offset)
    return None


def _midnights(time_zone: str) -> Pair:
    """Local midnights of a zone with changing offsets, by the evaluator.

    The calendar repeats every 400 years, weekdays and with them the zone's last rule included, and before the first
    rule the offset is constant, so far dates are looked up in a nearer cycle.
    """

    def forward(days: int) -> Result:
        near = days
        if not _NEAR <= days < _FAR:
            base = _NEAR if days < _NEAR else _FAR - _CYCLE
            near = base + (days - base) % _CYCLE
        value = fold(Call("cast", (Literal(near, t.DATE),), t.TIMESTAMP), time_zone).value
        assert isinstance(value, int), "a date within the calendar has a midnight"
        return value + (days - near) * DAY

    return forward, (lambda place: place // DAY)

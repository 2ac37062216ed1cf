"""Exact decimals, and their fitting into decimal(p, s)."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation
from typing import Final

from eddyline.model.types import DecimalType
from eddyline.reference.failure import Failure

# Long enough for every sum, product and integral quotient of two decimals of 38 digits; an inexact step is a bug.
EXACT: Final = Context(prec=200, rounding=ROUND_HALF_UP, traps=[Inexact, InvalidOperation])
# What Scala's BigDecimal computes with (java.math.MathContext.DECIMAL128).
DECIMAL128: Final = Context(prec=34, rounding=ROUND_HALF_EVEN)

_ROUNDING: Final = Context(prec=1200, rounding=ROUND_HALF_UP, traps=[InvalidOperation])
_CUTTING: Final = Context(prec=1200, rounding=ROUND_DOWN, traps=[InvalidOperation])


def half_up(value: Decimal, digits: int) -> Decimal:
    """Rounded to so many digits after the point (negative: before it), away from zero where it is half way.

    >>> half_up(Decimal("2.5"), 0), half_up(Decimal("-15"), -1)
    (Decimal('3'), Decimal('-2E+1'))
    """
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "decimals are finite"
    if exponent >= -digits and digits <= 0:
        return value
    if value.adjusted() < -digits - 1:
        return Decimal(0)
    return _ROUNDING.quantize(value, Decimal(1).scaleb(-digits))


def fit(value: Decimal, kind: DecimalType) -> Decimal:
    """The value with exactly the type's scale; fails where it has more digits than the type.

    >>> fit(Decimal("1.005"), DecimalType(3, 2))
    Decimal('1.01')
    """
    if value and value.adjusted() >= kind.precision - kind.scale:
        raise Failure(f"{value} has more digits than {kind}")
    rounded = _ROUNDING.quantize(half_up(value, kind.scale), Decimal(1).scaleb(-kind.scale))
    if len(rounded.as_tuple().digits) > kind.precision:
        raise Failure(f"{value} has more digits than {kind}")
    return abs_zero(rounded)


def truncate(value: Decimal) -> int:
    """The whole part, towards zero."""
    return int(_CUTTING.to_integral_value(value))


def abs_zero(value: Decimal) -> Decimal:
    """The value itself, but never -0, which Java's decimals do not have."""
    return value if value else value.copy_abs()

"""The values of one type in their order, and the one spelling of every set of them.

Equal sets must be equal objects' values, or the same condition would be indexed twice. The spelling is:

- A type of separate values (integers, dates, times, decimals, booleans) names a place between two values by the upper
  one, `(upper, 0)`, so `a > 3`, `a >= 4`, `NOT a <= 3` are all `[4, +inf)`, and `a <= 3` is `(-inf, 4)`: the complement
  has the same constants. Only a single value is named by itself at both ends, be it the set ({7}) or its gap
  ((-inf, 7) or (7, +inf)); of two single neighbours the one that belongs to the set goes first.
- Floats keep the constants as they were written: `x > 0.3` does not become `x >= 0.30000000000000004`. So two spellings
  of one set remain where somebody wrote neighbouring floats; an interval with no float in it is still recognised.
- Strings and binaries have a smallest value, and `v + "\\0"` is the next one after `v`.
- The ends of a type are no cuts: `tinyint <= 127` is everything but NULL, `tinyint < -128` nothing. A single value at
  an end is a point.
- `nan` is False for types without NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Final

from eddyline.model import types as t
from eddyline.model.regions import NOTHING, Cut, Regions
from eddyline.normalize import floats

# decimals have at most 38 digits; the default context would round them to 28
EXACT: Final = Context(prec=100)


class Domain:
    """The values of a type that has no order of its own here (arrays, maps, structs): only NULL is told apart."""

    __slots__ = ("everything", "filled", "kind", "nan")

    def __init__(self, kind: t.DataType) -> None:
        self.kind = kind
        self.nan = kind in t.FRACTIONAL
        self.everything = Regions(True, (), null=True, nan=self.nan)
        self.filled = Regions(True, (), null=False, nan=self.nan)

    def canonical(self, regions: Regions) -> Regions:
        """The same set in the one spelling."""
        start, cuts = self._spell(regions.inside, regions.cuts)
        nan = regions.nan and self.nan
        if not cuts:
            if start and regions.null and nan == self.nan:
                return self.everything
            if not (start or regions.null or nan):
                return NOTHING
        return Regions(start, cuts, regions.null, nan)

    def complement(self, regions: Regions) -> Regions:
        """All other values, NULL and NaN included."""
        return self.canonical(~regions)

    def union(self, sets: Sequence[Regions]) -> Regions:
        return self.canonical(Regions.union(sets))

    def intersection(self, sets: Sequence[Regions]) -> Regions:
        return self.canonical(Regions.intersection(sets))

    def has_value(self, lower: Cut | None, upper: Cut | None) -> bool:
        """Whether a value other than NULL and NaN lies between two cuts; None is infinite."""
        return True

    def value_between(self, lower: Cut | None, upper: Cut | None) -> Any:
        """A value between two cuts that have one: a plain one, for people to look at."""
        if isinstance(self.kind, t.StructType):
            return (None,) * len(self.kind.fields)
        return []

    def _spell(self, start: bool, cuts: tuple[Cut, ...]) -> tuple[bool, tuple[Cut, ...]]:
        return start, cuts


class Numbered(Domain):
    """Values that are numbered in their order by *ordinals*, without gaps, from `low` to `high`."""

    __slots__ = ("high", "keeps_names", "low", "ordinal", "value")

    def __init__(
        self,
        kind: t.DataType,
        low: int,
        high: int,
        ordinal: Callable[[Any], int] = int,
        value: Callable[[int], Any] = int,
        *,
        keeps_names: bool = False,
    ) -> None:
        super().__init__(kind)
        self.low = low
        self.high = high
        self.ordinal = ordinal
        self.value = value
        self.keeps_names = keeps_names

    def has_value(self, lower: Cut | None, upper: Cut | None) -> bool:
        low, high = self._ends(lower, upper)
        return low <= high

    def value_between(self, lower: Cut | None, upper: Cut | None) -> Any:
        low, high = self._ends(lower, upper)
        if low <= 0 <= high:
            return self.value(0)
        if lower is None:
            return (
                self.value(max(low, high - 1))
                if not self.nan
                else self._near(low, high, self.value(high) - 1)
            )
        if upper is None:
            return self.value(low) if not self.nan else self._near(low, high, self.value(low) + 1)
        return (
            self.value(low)
            if not self.nan
            else self._near(low, high, (self.value(low) + self.value(high)) / 2)
        )

    def _near(self, low: int, high: int, wanted: float) -> Any:
        """A float that people like to read, if it lies between two ordinals."""
        for value in (float(round(wanted)), round(wanted, 2), wanted) if abs(wanted) < 2.0**52 else (wanted,):
            if math.isfinite(value) and low <= self.ordinal(value) <= high:
                return self.value(self.ordinal(value))
        return self.value(low)

    def _ends(self, lower: Cut | None, upper: Cut | None) -> tuple[int, int]:
        """The ordinals of the least and the greatest value between two cuts."""
        low = self.low if lower is None else max(self.low, self.ordinal(lower[0]) + lower[1])
        high = self.high if upper is None else min(self.high, self.ordinal(upper[0]) + upper[1] - 1)
        return low, high

    def _spell(self, start: bool, cuts: tuple[Cut, ...]) -> tuple[bool, tuple[Cut, ...]]:
        if not cuts:
            return start, cuts
        flips: list[tuple[int, Cut]] = []
        for cut in cuts:
            place = self.ordinal(cut[0]) + cut[1]
            if place <= self.low:
                start = not start
            elif place <= self.high:
                if flips and flips[-1][0] == place:
                    flips.pop()
                else:
                    flips.append((place, cut))
        return self._name(start, flips)

    def _name(self, start: bool, flips: list[tuple[int, Cut]]) -> tuple[bool, tuple[Cut, ...]]:
        """Name each place, which lies just below an ordinal, by one of its two neighbours."""
        edges = [self.low, *(place for place, _ in flips), self.high + 1]
        named: list[Cut] = []
        inside = start
        for i, (place, cut) in enumerate(flips):
            single_below = place - edges[i] == 1
            single_above = edges[i + 2] - place == 1
            if inside and single_below:
                named.append((self.value(place - 1), 1))
            elif not inside and single_above:
                named.append((self.value(place), 0))
            elif self.keeps_names:
                named.append(cut)
            else:
                named.append((self.value(place - 1), 1) if single_below else (self.value(place), 0))
            inside = not inside
        if flips and start and edges[1] - self.low == 1:
            start = False
            named.insert(0, (self.value(self.low), 0))
        if flips and inside and edges[-1] - edges[-2] == 1:
            named.append((self.value(self.high), 1))
        return start, tuple(named)


class Text(Domain):
    """Strings and binaries: from the empty one upwards, without end."""

    __slots__ = ("_zero", "empty")

    def __init__(self, kind: t.DataType) -> None:
        super().__init__(kind)
        self.empty: Any = "" if kind == t.STRING else b""
        self._zero: Any = "\0" if kind == t.STRING else b"\0"

    def has_value(self, lower: Cut | None, upper: Cut | None) -> bool:
        least = self.value_between(lower, upper)
        return upper is None or least < upper[0] or (least == upper[0] and upper[1] == 1)

    def value_between(self, lower: Cut | None, upper: Cut | None) -> Any:
        if lower is None:
            return self.empty
        return lower[0] + self._zero if lower[1] else lower[0]

    def _spell(self, start: bool, cuts: tuple[Cut, ...]) -> tuple[bool, tuple[Cut, ...]]:
        named: list[Cut] = []
        for cut in cuts:
            value, side = cut
            if side == 0 and value == self.empty:
                start = not start
                continue
            if side == 0 and value[-1:] == self._zero:
                cut = (value[:-1], 1)
            if named and named[-1] == cut:
                named.pop()
            else:
                named.append(cut)
        self._name_singles(start, named)
        if start and named and named[0] == (self.empty, 1):
            return False, ((self.empty, 0), *named)
        return start, tuple(named)

    def _name_singles(self, inside: bool, named: list[Cut]) -> None:
        """Name the lower end of a single value by that value; in a gap only where no single value lies below it."""
        for i in range(len(named) - 1):
            value, side = named[i]
            if side and named[i + 1] == (value + self._zero, 1):
                below = named[i - 1] == (value, 0) if i else value == self.empty
                if not (inside and below):
                    named[i] = (value + self._zero, 0)
            inside = not inside


@lru_cache(maxsize=1024)
def domain_of(kind: t.DataType) -> Domain:
    """The domain of a type.

    >>> tiny = domain_of(t.BYTE)
    >>> print(
    ...     tiny.canonical(Regions.above(3, closed=False)),
    ...     "|",
    ...     tiny.canonical(Regions.below(127, closed=True)),
    ... )
    [4, +inf) | (-inf, +inf)
    >>> print(tiny.canonical(Regions.above(126, closed=False)), "|", tiny.complement(Regions.points([7])))
    {127} | (-inf, 7) or (7, +inf) or NULL
    """
    if kind == t.BOOLEAN:
        return Numbered(kind, 0, 1, int, bool)
    if kind in t.RANGE:
        return Numbered(kind, *t.RANGE[kind])
    if isinstance(kind, t.DecimalType):
        scale, largest = kind.scale, 10**kind.precision - 1
        return Numbered(
            kind,
            -largest,
            largest,
            lambda value: int(EXACT.scaleb(value, scale)),
            lambda ordinal: EXACT.scaleb(Decimal(ordinal), -scale),
        )
    if kind == t.DOUBLE:
        return _floating(kind, floats.DOUBLE_INFINITY, floats.double_to_ordinal, floats.ordinal_to_double)
    if kind == t.FLOAT:
        return _floating(kind, floats.FLOAT_INFINITY, floats.float_to_ordinal, floats.ordinal_to_float)
    if kind in (t.STRING, t.BINARY):
        return Text(kind)
    return Domain(kind)


def _floating(
    kind: t.DataType, infinity: int, ordinal: Callable[[Any], int], value: Callable[[int], Any]
) -> Numbered:
    return Numbered(kind, -infinity, infinity, ordinal, value, keeps_names=True)

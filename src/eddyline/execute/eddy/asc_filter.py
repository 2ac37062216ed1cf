"""A filter over a region array, as in an ASC: the subject's domain is cut at all constants, and each region knows the
predicates that its values satisfy.

    a > 1 (0)   a <= 7 (1)           region    (-inf, 1)   {1}   (1, 7)   {7}   (7, +inf)   NaN   NULL
                                     places       {1}      {1}   {0, 1}  {0, 1}    {0}      {0}     {}

It differs from `model.asc.ASC` in that a bit stands for a predicate and not for a query: in conjunctive normal form a
query may have several on one subject.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from eddyline.execute.eddy.grouped_filter import Mask
from eddyline.model.expression import Expression
from eddyline.model.regions import Regions


class AscFilter:
    """Predicates on one subject, each at a place; the region array is made anew when it is first asked after a change."""

    def __init__(self, subject: Expression) -> None:
        self.subject = subject
        self._predicates: dict[int, Regions] = {}
        self._constants: list[Any] = []
        self._regions: list[Mask] | None = None
        self._null = self._nan = 0

    def insert(self, place: int, regions: Regions) -> None:
        """Put a predicate at a free place."""
        self._predicates[place] = regions
        self._regions = None

    def remove(self, place: int, regions: Regions) -> None:
        """Take a predicate out; `regions` is what it was put in with."""
        assert self._predicates.pop(place) == regions, "what is taken out was put in"
        self._regions = None

    def probe(self, value: Any) -> Mask:
        """The places of all predicates that a value satisfies.

        >>> from eddyline.model import types as t
        >>> from eddyline.model.expression import Column
        >>> filter = AscFilter(Column("a", t.INT))
        >>> filter.insert(0, Regions.above(1, closed=False))
        >>> filter.insert(1, Regions.below(7, closed=True))
        >>> [filter.probe(value) for value in (0, 1, 2, 7, 8, None)]
        [2, 2, 3, 3, 1, 0]
        """
        regions = self._build() if self._regions is None else self._regions
        if value is None:
            return self._null
        if value != value:
            return self._nan
        below = bisect_left(self._constants, value)
        hit = below < len(self._constants) and self._constants[below] == value
        return regions[2 * below + hit]

    def _build(self) -> list[Mask]:
        """A predicate flips its bit at each of its cuts, so that regions are one running XOR."""
        self._constants = sorted({value for each in self._predicates.values() for value in each.constants})
        places = {constant: place for place, constant in enumerate(self._constants)}
        flips = [0] * (2 * len(self._constants) + 1)
        self._null = self._nan = 0
        for place, each in self._predicates.items():
            bit = 1 << place
            flips[0] ^= bit * each.inside
            self._null |= bit * each.null
            self._nan |= bit * each.nan
            for constant, side in each.cuts:
                flips[2 * places[constant] + 1 + side] ^= bit
        for region in range(1, len(flips)):
            flips[region] ^= flips[region - 1]
        self._regions = flips
        return flips

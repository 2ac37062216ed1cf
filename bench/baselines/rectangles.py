"""Rectangles of R-trees: closed, with any number of dimensions and possibly infinite ends."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

_FAR: Final = 1_000.0  # infinite ends count as this far away, so that areas can be compared


class Rectangle(NamedTuple):
    """The low and the high ends of all dimensions."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]

    def meets(self, other: Rectangle) -> bool:
        """Whether two rectangles have a point in common."""
        for low, high, other_low, other_high in zip(*self, *other, strict=True):
            if high < other_low or other_high < low:
                return False
        return True

    def encloses(self, other: Rectangle) -> bool:
        """Whether another rectangle lies within this one."""
        for low, high, other_low, other_high in zip(*self, *other, strict=True):
            if other_low < low or high < other_high:
                return False
        return True

    def extents(self) -> list[float]:
        """How long it is in each dimension."""
        return [min(high, _FAR) - max(low, -_FAR) for low, high in zip(*self, strict=True)]

    def area(self) -> float:
        return prod(self.extents())

    def margin(self) -> float:
        """The sum of its edges, as the R*-tree counts it."""
        return sum(self.extents())

    def common_area(self, other: Rectangle) -> float:
        """The area of what two rectangles have in common."""
        lows, highs = map(max, self.lows, other.lows), map(min, self.highs, other.highs)
        both = Rectangle(tuple(lows), tuple(highs))
        return both.area() if min(both.extents()) > 0 else 0.0

    def distance(self, other: Rectangle) -> float:
        """Between the centres, squared."""
        ends = zip(*self, *other, strict=True)
        return sum((_middle(low, high) - _middle(a, b)) ** 2 for low, high, a, b in ends)


def around(rectangles: Sequence[Rectangle]) -> Rectangle:
    """The least rectangle around some.

    >>> around([Rectangle((0, 0), (1, 2)), Rectangle((3, 1), (4, 1))])
    Rectangle(lows=(0, 0), highs=(4, 2))
    """
    lows = zip(*[each.lows for each in rectangles], strict=True)
    highs = zip(*[each.highs for each in rectangles], strict=True)
    return Rectangle(tuple(map(min, lows)), tuple(map(max, highs)))


def _middle(low: float, high: float) -> float:
    return (max(low, -_FAR) + min(high, _FAR)) / 2

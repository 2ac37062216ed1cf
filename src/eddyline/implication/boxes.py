"""Boxes and predicates: an interval for each dimension, and an OR of such boxes, largest first.

    a >= 3 AND a < 12 AND b <= 5          dimension 0  [3, 12)        ((3, 0), (12, 0))
                                          dimension 1  (-inf, 5]      ((-inf, 0), (5, 1))

An end of an interval is a *cut*, as in `model/regions.py`: `(value, 0)` lies just below the value and `(value, 1)` just
above it. So open and closed ends compare as tuples do, and what one box leaves of another is again a box, exactly.
Dimensions are numbered; one that a predicate does not mention has infinite ends, which settles what happens to dimensions
that only one of two boxes mentions.
"""

from __future__ import annotations

from bisect import insort_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, prod
from operator import attrgetter
from typing import Final

Cut = tuple[float, int]
Interval = tuple[Cut, Cut]
Intervals = tuple[Interval, ...]  # one for each dimension: a box, or a part of one
Sides = tuple[tuple[int, Cut, Cut], ...]
Size = tuple[int, float]

LOWEST: Final[Cut] = (-inf, 0)
HIGHEST: Final[Cut] = (inf, 1)


def interval(
    low: float = -inf, high: float = inf, *, open_low: bool = False, open_high: bool = False
) -> Interval:
    """The values between two ends, which belong to it unless they are said to be open.

    >>> interval(3, 12), interval(high=5, open_high=True)
    (((3, 0), (12, 1)), ((-inf, 0), (5, 0)))
    """
    made = (low, int(open_low)), (high, int(not open_high))
    assert made[0] < made[1], "an interval has at least one value"
    return made


def length(of: Interval) -> float:
    """How long an interval is; open ends make no difference."""
    return of[1][0] - of[0][0]


def sides_of(intervals: Intervals) -> Sides:
    """The bounded dimensions, the shortest first: there another box is most likely to lie outside.

    >>> sides_of((interval(0, 9), interval(), interval(2, 4)))
    ((2, (2, 0), (4, 1)), (0, (0, 0), (9, 1)))
    """
    bounded = [n for n, (low, high) in enumerate(intervals) if low != LOWEST or high != HIGHEST]
    return tuple([(n, *intervals[n]) for n in sorted(bounded, key=lambda n: length(intervals[n]))])


def size_of(intervals: Intervals) -> Size:
    """How large a box is: by its unbounded ends, then by its volume over the dimensions that are finite.

    >>> size_of((interval(0, 9), interval(2, 4))) < size_of((interval(0, 1), interval(2)))
    True
    """
    unbounded = sum((low == LOWEST) + (high == HIGHEST) for low, high in intervals)
    return unbounded, prod([length(each) for each in intervals if length(each) < inf])


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a predicate; its sides and its place among boxes, which ascends as they get smaller, are found once."""

    intervals: Intervals
    sides: Sides
    order: Size

    @staticmethod
    def of(*intervals: Interval) -> Box:
        """The box of some intervals, one for each dimension.

        >>> print(Box.of(interval(3, 12), interval(0, 5, open_high=True)))
        [3, 12] x [0, 5)
        """
        unbounded, volume = size_of(intervals)
        return Box(intervals, sides_of(intervals), (-unbounded, -volume))

    def __str__(self) -> str:
        return describe(self.intervals)


def contains(box: Box, part: Intervals) -> bool:
    """Whether all of a part lies in a box: the part *implies* the box.

    >>> contains(Box.of(interval(0, 9), interval()), (interval(2, 9), interval(1, 1)))
    True
    """
    for dimension, low, high in box.sides:
        start, end = part[dimension]
        if start < low or high < end:
            return False
    return True


def overlaps(box: Box, part: Intervals) -> bool:
    """Whether a box and a part have a point in common.

    >>> overlaps(Box.of(interval(0, 3)), (interval(3, 5),))
    True
    >>> overlaps(Box.of(interval(0, 3, open_high=True)), (interval(3, 5),))
    False
    """
    for dimension, low, high in box.sides:
        start, end = part[dimension]
        if end <= low or high <= start:
            return False
    return True


def outside(box: Box, part: Intervals) -> list[Intervals]:
    """What an overlapping box leaves of a part: disjoint parts, at most two for each dimension.

    Along each dimension the pieces outside are set aside and the piece inside goes on; the last one is covered.

    >>> for left in outside(Box.of(interval(9, 14), interval(2, 8)), (interval(4, 13), interval(7, 10))):
    ...     print(describe(left))
    [4, 9) x [7, 10]
    [9, 13] x (8, 10]
    """
    left: list[Intervals] = []
    inside = list(part)
    for dimension, low, high in box.sides:
        start, end = inside[dimension]
        if start < low:
            inside[dimension] = (start, low)
            left.append(tuple(inside))
            start = low
        if high < end:
            inside[dimension] = (high, end)
            left.append(tuple(inside))
            end = high
        inside[dimension] = (start, end)
    return left


def hull(one: Box, other: Box) -> Box:
    """The least box around two.

    >>> print(hull(Box.of(interval(3, 12)), Box.of(interval(1, 8, open_low=True))))
    (1, 12]
    """
    pairs = zip(one.intervals, other.intervals, strict=True)
    return Box.of(*[(min(a[0], b[0]), max(a[1], b[1])) for a, b in pairs])


def describe(intervals: Intervals) -> str:
    """A box or a part in the usual notation."""
    return " x ".join([_interval_text(each) for each in intervals])


def _interval_text(of: Interval) -> str:
    (low, above), (high, included) = of
    left = "(-inf" if low == -inf else f"{'(' if above else '['}{low}"
    right = "inf)" if high == inf else f"{high}{']' if included else ')'}"
    return f"{left}, {right}"


_ORDER: Final = attrgetter("order")


@dataclass(frozen=True, slots=True)
class Predicate:
    """An OR of boxes over the same dimensions.

    Invariant: boxes descend by size, so that the ones which cover most come first.

    >>> print(Predicate.of([Box.of(interval(0, 1)), Box.of(interval(3, 9))]))
    [3, 9] or [0, 1]
    """

    boxes: tuple[Box, ...]

    @staticmethod
    def of(boxes: Iterable[Box]) -> Predicate:
        """The predicate of some boxes, which may come in any order."""
        return Predicate(tuple(sorted(boxes, key=_ORDER)))

    def with_boxes(self, more: Sequence[Box]) -> Predicate:
        """The predicate OR some boxes.

        >>> stream = Predicate.of([Box.of(interval(0, 9)), Box.of(interval(0, 1))])
        >>> print(stream.with_boxes([Box.of(interval(5, 8))]))
        [0, 9] or [5, 8] or [0, 1]
        """
        if not more:
            return self
        boxes = list(self.boxes)
        for box in more:
            insort_right(boxes, box, key=_ORDER)
        return Predicate(tuple(boxes))

    def without(self, number: int) -> Predicate:
        """The predicate less one of its boxes."""
        return Predicate(self.boxes[:number] + self.boxes[number + 1 :])

    def __str__(self) -> str:
        return " or ".join(map(str, self.boxes)) or "nothing"

"""An index over the boxes of a predicate: bitmaps for each dimension, bit n for box n.

    low ends of the boxes         0     3      9            a part that ends at 8
    boxes that start below     {}   {2}  {0,2}  {0,1,2}     can overlap boxes {0, 2} only

For each dimension one look-up finds the boxes that start below the end of a part, and one those that end above its start;
what is left of the AND of all of them overlaps it. It is the ASC papers' region array with boxes in place of queries.

DISJ (section 3.5) asks for an index whose entries can be marked inactive without reorganising it, because an R-tree loses more
by deleting and inserting entries than it gains. Here an inactive box is a cleared bit, and every part has a bitmap of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple, Protocol

from eddyline.implication.boxes import Box, Cut, Interval, Intervals, Predicate

Active = int  # the boxes that a part may still meet, as a bitmap
Part = tuple[Intervals, Active]


class BoxIndex(Protocol):
    """An index over the boxes of a predicate, which it numbers as the predicate does."""

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes."""

    def covers(self, part: Intervals) -> bool | None:
        """What one look tells: true if one of the boxes contains a part, false if it is known that they do not cover it."""

    def start(self, part: Intervals) -> Active:
        """The boxes that are active for a part before it has met any."""

    def first(self, part: Intervals, active: Active) -> int:
        """The first of the active boxes that overlaps a part, -1 if none does."""

    def split(self, part: Intervals, active: Active, number: int) -> list[Part]:
        """What an overlapping box leaves of a part, with the boxes that are active for each."""


class PrefixBitmaps:
    """The index of this project: active boxes are always those that overlap.

    >>> from eddyline.implication.boxes import describe, interval
    >>> index = PrefixBitmaps(
    ...     Predicate.of([Box.of(interval(0, 9)), Box.of(interval(8, 12)), Box.of(interval(11, 12))])
    ... )
    >>> query = (interval(3, 10),)
    >>> active = index.start(query)
    >>> bin(active), index.first(query, active), index.covers(query), index.covers((interval(9, 13),))
    ('0b11', 0, None, False)
    >>> [(describe(left), bin(active)) for left, active in index.split(query, active, 0)]
    [('(9, 10]', '0b10')]
    """

    def __init__(self, predicate: Predicate) -> None:
        self.boxes = predicate.boxes
        self._all = (1 << len(predicate.boxes)) - 1
        columns = zip(*[box.intervals for box in predicate.boxes], strict=True)
        self._dimensions = [_Dimension(column) for column in columns]
        self._splits = [[self._ends(*side) for side in box.sides] for box in predicate.boxes]

    def _ends(self, dimension: int, low: Cut, high: Cut) -> tuple[int, Cut, Cut, int, int, int, int]:
        """A side of a box, with the boxes below and above its two ends."""
        at = self._dimensions[dimension]
        return dimension, low, high, at[low].below, at[low].above, at[high].below, at[high].above

    def covers(self, part: Intervals) -> bool | None:
        """By two corners: a box that has both contains the part, and if no box has one of them, nothing covers it."""
        lowest = highest = self._all
        for (start, end), at in zip(part, self._dimensions, strict=False):  # no boxes, no dimensions
            lowest &= at[start].just_above
            highest &= at[end].just_below
            if not (lowest and highest):
                return False
        return True if lowest & highest else None

    def start(self, part: Intervals) -> Active:
        active = self._all
        for (start, end), at in zip(part, self._dimensions, strict=False):
            active &= at[start].above & at[end].below
        return active

    def first(self, part: Intervals, active: Active) -> int:
        return (active & -active).bit_length() - 1

    def split(self, part: Intervals, active: Active, number: int) -> list[Part]:
        """`outside`, and for each new end the boxes within its reach: ends of boxes are known, nothing is looked up."""
        left: list[Part] = []
        inside = list(part)
        for n, low, high, below_low, above_low, below_high, above_high in self._splits[number]:
            start, end = inside[n]
            if start < low:
                inside[n] = (start, low)
                left.append((tuple(inside), active & below_low))
                start = low
                active &= above_low
            if high < end:
                inside[n] = (high, end)
                left.append((tuple(inside), active & above_high))
                end = high
                active &= below_high
            inside[n] = (start, end)
        return left


class _Reach(NamedTuple):
    """Bitmaps of boxes by how they lie to a cut: those that reach below or above it, those that hold the place just beside it."""

    below: int
    above: int
    just_below: int
    just_above: int


class _Dimension(dict[Cut, _Reach]):
    """The boxes around each cut of one dimension; those at ends of boxes are kept, others are found by binary search."""

    def __init__(self, intervals: Sequence[Interval]) -> None:
        super().__init__()
        self._lows = _Ends([low for low, _ in intervals])
        self._highs = _Ends([high for _, high in intervals])
        self._all = (1 << len(intervals)) - 1
        self.update({cut: self[cut] for ends in intervals for cut in ends})

    def __missing__(self, cut: Cut) -> _Reach:
        starting, ended = self._lows.below(cut), self._highs.up_to(cut)
        return _Reach(
            starting,
            self._all & ~ended,
            starting & ~self._highs.below(cut),
            self._lows.up_to(cut) & ~ended,
        )


class _Ends:
    """The low or the high ends of all boxes in one dimension."""

    def __init__(self, ends: Sequence[Cut]) -> None:
        boxes: dict[Cut, int] = {}
        for number, end in enumerate(ends):
            boxes[end] = boxes.get(end, 0) | 1 << number
        self._cuts = sorted(boxes)
        self._prefixes = list(accumulate([boxes[cut] for cut in self._cuts], or_, initial=0))

    def below(self, cut: Cut) -> int:
        """The boxes with an end below a cut."""
        return self._prefixes[bisect_left(self._cuts, cut)]

    def up_to(self, cut: Cut) -> int:
        """The boxes with an end below a cut or at it."""
        return self._prefixes[bisect_right(self._cuts, cut)]

"""An index over the boxes of a predicate, which tells in a few operations on integers how all of them lie to a part.

Each box has a field of bits in one integer: its *distance*, which is how many of its ends lie inside of the part. That is how
many parts it would leave: a box at distance 0 contains the part. A box that is disjoint is farther away than any that overlaps.

                                          by the start      by the end       distance
    box 0   |-----------|                 0                 1                1
    box 1              |-------------|    1                 0                1
    box 2                        |---|    1                 far              far + 1
    part         |----------|

Distances are sums, for each dimension one integer by where the part starts and one by where it ends. These are added up
beforehand from cut to cut, as in the ASC papers' region array, with boxes in place of queries. A part that is split off has one
new end, so that a subtraction and an addition give its distances from all boxes.

DISJ (section 3.5) asks for an index whose entries can be marked inactive without reorganising it, because an R-tree loses more
by deleting and inserting entries than it gains. Here an inactive box is far away, and every part has distances of its own.
They also tell which box leaves least of a part, and whether any box holds its corners.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, TypeVar

from eddyline.implication.boxes import Cut, Interval, Intervals, Predicate

if TYPE_CHECKING:
    from eddyline.implication.matching import Work

P = TypeVar("P")
Distances = int  # a field of bits for each box
# Where a part starts and where it ends in each dimension, what both add to the distances, and the distances.
Part = tuple[list[int], list[int], Distances, Distances, Distances]


class BoxIndex(Protocol[P]):
    """An index over the boxes of a predicate, which keeps the parts of a search in a form of its own, P."""

    def contains(self, part: Intervals) -> bool:
        """Whether a single box contains a part."""

    def overlaps(self, part: Intervals) -> bool:
        """Whether some box and a part have a point in common."""

    def start(self, part: Intervals) -> list[P] | None:
        """A part to split; nothing if a single box contains it, None if it is known that boxes do not cover it."""

    def split(self, part: P, work: Work) -> list[P] | None:
        """What boxes leave of a part, which is used up; None if it is known that they do not cover it."""


class PrefixBitmaps:
    """The index of this project. A part meets the box that leaves least of it, and of several the largest.

    A part is done with as soon as a box contains it. The search is, as soon as no box holds the lowest corner of a part, or none
    the highest: there something is left that nothing covers. Of a part that is split off one corner is new, and is looked at.

    Takes 2d(k + 1) integers of n fields, for d dimensions, n boxes and k different ends in a dimension; a field is a byte with
    up to 7 dimensions. If all ends differ this is 4dn^2 bytes, 6 MB for 500 boxes in 6 dimensions.

    >>> from eddyline.implication.boxes import Box, interval
    >>> from eddyline.implication.matching import Work
    >>> boxes = [Box.of(interval(0, 9)), Box.of(interval(8, 12)), Box.of(interval(11, 12))]
    >>> index = PrefixBitmaps(Predicate.of(boxes))
    >>> index.contains((interval(3, 10),)), index.overlaps((interval(3, 10),))
    (False, True)
    >>> (part,) = index.start((interval(3, 10),))
    >>> index.split(part, Work()), index.start((interval(1, 2),)), index.start((interval(9, 13),))
    ([], [], None)
    """

    def __init__(self, predicate: Predicate) -> None:
        boxes = predicate.boxes[::-1]  # the largest has the highest bits, which are found in one step
        columns = list(zip(*[box.intervals for box in boxes], strict=True))
        fields = _Fields(len(boxes), len(columns))
        dimensions = [_Dimension(column, fields) for column in columns]
        self._bits, self._signs, self._up_to = fields.bits, fields.signs, fields.up_to
        self._leaving = fields.up_to[1:]
        self._dimensions = [(at.starts, at.ends) for at in dimensions]
        self._by_start = [at.by_start for at in dimensions]
        self._by_end = [at.by_end for at in dimensions]
        self._sides = [
            [(n, dimensions[n].starts[low][0], dimensions[n].ends[high][0]) for n, low, high in box.sides]
            for box in boxes
        ]

    def contains(self, part: Intervals) -> bool:
        return (self._up_to[0] - self._part(part)[-1]) & self._signs != 0

    def overlaps(self, part: Intervals) -> bool:
        return (self._up_to[-1] - self._part(part)[-1]) & self._signs != 0

    def start(self, part: Intervals) -> list[Part] | None:
        made = self._part(part)
        _, _, by_starts, by_ends, distances = made
        zero, signs = self._up_to[0], self._signs
        if not ((zero - by_starts) & signs and (zero - by_ends) & signs):
            return None
        return [] if (zero - distances) & signs else [made]

    def _part(self, part: Intervals) -> Part:
        starts: list[int] = []
        ends: list[int] = []
        by_starts = by_ends = 0
        for (low, high), at in zip(part, self._dimensions, strict=False):  # no boxes, no dimensions
            place, distances = at[0][low]
            starts.append(place)
            by_starts += distances
            place, distances = at[1][high]
            ends.append(place)
            by_ends += distances
        return starts, ends, by_starts, by_ends, by_starts + by_ends

    def split(self, part: Part, work: Work) -> list[Part] | None:
        """`outside` by places for the nearest box; if that leaves one part only, it meets the next.

        Searches spend most of their time here: so nothing is a function, and the last part takes the place of the whole.
        """
        starts, ends, by_starts, by_ends, distances = part
        zero, signs, bits = self._up_to[0], self._signs, self._bits
        leaving, all_by_start, all_by_end = self._leaving, self._by_start, self._by_end
        left: list[Part] = []
        while not left:
            work.compared()
            expected = 0  # how many parts the nearest boxes leave
            for up_to in leaving:
                expected += 1
                nearest = (up_to - distances) & signs
                if nearest:
                    break
            for n, low, high in self._sides[nearest.bit_length() // bits - 1]:
                start, end = starts[n], ends[n]
                if start < low:
                    by_end = all_by_end[n]
                    new = by_ends - by_end[end] + by_end[low - 1]
                    if not (zero - new) & signs:
                        return None
                    distances = by_starts + new
                    contained = (zero - distances) & signs
                    expected -= 1
                    if not expected:
                        if contained:
                            return left
                        ends[n], by_ends = low - 1, new
                        break
                    if not contained:
                        below = ends.copy()
                        below[n] = low - 1
                        left.append((starts.copy(), below, by_starts, new, distances))
                    by_start = all_by_start[n]
                    by_starts += by_start[low] - by_start[start]
                    starts[n] = start = low
                if high < end:
                    by_start = all_by_start[n]
                    new = by_starts - by_start[start] + by_start[high + 1]
                    if not (zero - new) & signs:
                        return None
                    distances = new + by_ends
                    contained = (zero - distances) & signs
                    expected -= 1
                    if not expected:
                        if contained:
                            return left
                        starts[n], by_starts = high + 1, new
                        break
                    if not contained:
                        above = starts.copy()
                        above[n] = high + 1
                        left.append((above, ends.copy(), new, by_ends, distances))
                    by_end = all_by_end[n]
                    by_ends += by_end[high] - by_end[end]
                    ends[n] = high
        left.append((starts, ends, by_starts, by_ends, distances))
        return left


class _Fields:
    """Fields of bits, one for each box, wide enough for all distances and a sign.

    `up_to[n]` less the distances has the signs of the boxes at a distance of at most n, `up_to[-1]` of all that overlap.
    """

    def __init__(self, boxes: int, dimensions: int) -> None:
        self.far = 2 * dimensions + 1
        self.bits = (dimensions * (self.far + 1)).bit_length() + 1
        self.ones = sum(1 << self.bits * number for number in range(boxes))
        self.signs = self.ones << self.bits - 1
        self.up_to = [self.signs + distance * self.ones for distance in range(self.far)]

    def of(self, boxes: Sequence[int]) -> int:
        """A one in the fields of some boxes."""
        return sum(1 << self.bits * number for number in boxes)


class _Dimension:
    """What one dimension adds to the distances.

    A place is a number of cuts: those up to a start, or those before an end. So starts compare as their cuts do, ends too; a part
    that starts at cut n has n + 1 of them, one that ends there has n.
    """

    def __init__(self, intervals: Sequence[Interval], fields: _Fields) -> None:
        lows, highs = dict[Cut, list[int]](), dict[Cut, list[int]]()
        for number, (low, high) in enumerate(intervals):
            lows.setdefault(low, []).append(number)
            highs.setdefault(high, []).append(number)
        cuts = sorted({*lows, *highs})
        steps = [(fields.of(lows.get(cut, ())), fields.of(highs.get(cut, ()))) for cut in cuts]
        far = fields.far
        # A start moves to the right past low ends, which are then no longer inside, and past high ends, whose boxes it has left.
        self.by_start = list(accumulate([far * high - low for low, high in steps], initial=fields.ones))
        # An end moves past low ends, whose boxes it has reached, and past high ends, which are then inside.
        self.by_end = list(accumulate([high - far * low for low, high in steps], initial=far * fields.ones))
        self.starts = _Places(cuts, self.by_start, 1)
        self.ends = _Places(cuts, self.by_end, 0)


class _Places(dict[Cut, tuple[int, Distances]]):
    """The place of a cut, and what it adds to the distances; those of ends of boxes are kept."""

    def __init__(self, cuts: Sequence[Cut], sums: Sequence[Distances], included: int) -> None:
        super().__init__({cut: (n, sums[n]) for n, cut in enumerate(cuts, start=included)})
        self._cuts = cuts
        self._sums = sums

    def __missing__(self, cut: Cut) -> tuple[int, Distances]:
        place = bisect_left(self._cuts, cut)
        return place, self._sums[place]

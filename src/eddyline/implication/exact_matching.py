"""DISJ, algorithms 4 and 9 to 12: exact matching (EM) with its three split strategies, with and without an index.

A box of the query is split by the boxes of the stream until nothing of it is left: then they cover it together. The strategies
differ in which part is split next, and so in how many wait:

    breadth-first   all parts by box 1, then what is left by box 2, ...          up to (2d)^n parts
    depth-first     one part until nothing of it is left, then the next          (n-1)(2d-1) + 2d
    mixed           all parts of one split, then the parts that the last left    (n-2)(2d-1)2d + (2d)^2

With an index one look at two corners decides many boxes. In what follows a part meets only boxes that overlap it, and the
search ends with the first part that none overlaps. Boxes that a part has met already are inactive. (They would not be found
again anyway: what a box leaves of a part does not overlap it.) Boxes that were added since the index was built are few; parts
meet them first.

Corrected: a box that overlaps nothing makes the match false (the paper appends it and forgets to say so), dimensions that
only the stream's box mentions split a part too, and the queues of depth-first and mixed are last in, first out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from eddyline.implication.box_index import BoxIndex, Part
from eddyline.implication.boxes import Box, Intervals, Predicate, contains, outside, overlaps
from eddyline.implication.matching import Matching, Stream, Work
from eddyline.implication.quick_check import DISJOINT, IMPLIED, quick_check


class Strategy(NamedTuple):
    """A split strategy: whether boxes cover a part, and whether those of an index do."""

    name: str
    covers: Callable[[Sequence[Box], Intervals, Work], bool]
    covers_by_index: Callable[[BoxIndex, Intervals, Work], bool]


def exact_matching(
    stream: Stream, query: Predicate, strategy: Strategy, work: Work | None = None, *, quick: bool = True
) -> Matching:
    """Whether the query implies the stream's predicate; each box of the query that is not covered is added to it.

    The whole box is added and not what is left of it: more overlap costs less than more boxes.

    >>> from eddyline.implication.boxes import interval
    >>> stream = Stream(Predicate.of([Box.of(interval(0, 5)), Box.of(interval(5, 8))]))
    >>> query = Predicate.of([Box.of(interval(4, 6)), Box.of(interval(7, 9))])
    >>> matched, relaxed = exact_matching(stream, query, DEPTH_FIRST)
    >>> print(matched, relaxed)
    False [0, 5] or [5, 8] or [7, 9]
    """
    work = work or Work()
    relaxed = stream
    for box in query.boxes:
        covered = _covered_at_a_glance(relaxed, box, work) if quick else None
        if covered is None:
            covered = _covered(relaxed, box.intervals, strategy, work)
        if not covered:
            relaxed = relaxed.with_box(box)
    return Matching(relaxed is stream, relaxed.predicate)


def _covered_at_a_glance(stream: Stream, box: Box, work: Work) -> bool | None:
    """By the quick check, or by one look at the index; None if only splitting can tell."""
    if stream.index is None:
        checked = quick_check(stream, box, work)
        return True if checked == IMPLIED else False if checked == DISJOINT else None
    part, added = box.intervals, stream.added
    work.compared(len(added))
    if any(contains(each, part) for each in added):
        return True
    covered = stream.index.covers(part)
    if covered is False and any(_may_hold_a_corner(each, part) for each in added):
        return None
    return covered


def _may_hold_a_corner(box: Box, part: Intervals) -> bool:
    """Whether the lowest or the highest corner of a part lies in a box, or at its edge."""
    lowest = all(low <= part[n][0] <= high for n, low, high in box.sides)
    return lowest or all(low <= part[n][1] <= high for n, low, high in box.sides)


def _covered(stream: Stream, part: Intervals, strategy: Strategy, work: Work) -> bool:
    if stream.index is None:
        return strategy.covers(stream.predicate.boxes, part, work)
    # The boxes that the index lacks come first: what they leave lies at the edges, and is often covered by nothing.
    waiting = [(part, 0)]
    while waiting:
        part, number = waiting.pop()
        if number < len(stream.added):
            left = compare_dimensions(stream.added[number], part, work)
            waiting += [(each, number + 1) for each in left]
        elif not strategy.covers_by_index(stream.index, part, work):
            return False
    return True


def compare_dimensions(box: Box, part: Intervals, work: Work) -> list[Intervals]:
    """Algorithm 9 (CD): what a box of the stream leaves of a part, all of it if they are disjoint.

    >>> from eddyline.implication.boxes import describe, interval
    >>> left = compare_dimensions(Box.of(interval(3, 4)), (interval(1, 8),), Work())
    >>> [describe(each) for each in left]
    ['[1, 3)', '(4, 8]']
    """
    work.compared()
    return outside(box, part) if overlaps(box, part) else [part]


def _breadth_first(boxes: Sequence[Box], part: Intervals, work: Work) -> bool:
    """Algorithm 10."""
    parts = [part]
    for box in boxes:
        left: list[Intervals] = []
        for each in parts:
            left += compare_dimensions(box, each, work)
            work.waiting(len(left))
        parts = left
        if not parts:
            break
    return not parts


def _depth_first(boxes: Sequence[Box], part: Intervals, work: Work) -> bool:
    """Algorithm 11."""
    waiting = [(part, 0)]  # each part with the number of the box it meets next
    while waiting:
        work.waiting(len(waiting))
        part, number = waiting.pop()
        if number == len(boxes):
            return False
        waiting += [(left, number + 1) for left in compare_dimensions(boxes[number], part, work)]
    return True


def _mixed(boxes: Sequence[Box], part: Intervals, work: Work) -> bool:
    """Algorithm 12."""
    waiting, alive = [([part], 0)], 1
    while waiting:
        parts, number = waiting.pop()
        if number == len(boxes):
            return False
        for each in parts:
            left = compare_dimensions(boxes[number], each, work)
            alive += len(left) - 1
            work.waiting(alive)
            if left:
                waiting.append((left, number + 1))
    return True


def _breadth_first_by_index(index: BoxIndex, part: Intervals, work: Work) -> bool:
    """Algorithm 10, where each part waits for the first box that overlaps it."""
    waiting: list[list[Part]] = [[] for _ in index.boxes]

    def wait(parts: list[Part]) -> bool:
        """False if one of the parts meets no box."""
        for each, active in parts:
            first = index.first(each, active)
            if first < 0:
                return False
            waiting[first].append((each, active))
        return True

    covered, alive = wait([(part, index.start(part))]), 1
    for number, level in enumerate(waiting):
        later = -1 << number  # boxes before this one are inactive for all parts
        while covered and level:
            each, active = level.pop()
            work.compared()
            left = index.split(each, active & later, number)
            alive += len(left) - 1
            work.waiting(alive)
            covered = wait(left)
    return covered


def _depth_first_by_index(index: BoxIndex, part: Intervals, work: Work) -> bool:
    """Algorithm 11, each part with its active boxes."""
    waiting = [(part, index.start(part))]
    while waiting:
        work.waiting(len(waiting))
        part, active = waiting.pop()
        first = index.first(part, active)
        if first < 0:
            return False
        work.compared()
        waiting += index.split(part, active, first)
    return True


def _mixed_by_index(index: BoxIndex, part: Intervals, work: Work) -> bool:
    """Algorithm 12, each part with its active boxes."""
    waiting, alive = [[(part, index.start(part))]], 1
    while waiting:
        for each, active in waiting.pop():
            first = index.first(each, active)
            if first < 0:
                return False
            work.compared()
            left = index.split(each, active, first)
            alive += len(left) - 1
            work.waiting(alive)
            if left:
                waiting.append(left)
    return True


BREADTH_FIRST: Final = Strategy("BFS", _breadth_first, _breadth_first_by_index)
DEPTH_FIRST: Final = Strategy("DFS", _depth_first, _depth_first_by_index)
MIXED: Final = Strategy("MIX", _mixed, _mixed_by_index)
STRATEGIES: Final = (BREADTH_FIRST, DEPTH_FIRST, MIXED)

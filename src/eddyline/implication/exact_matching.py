"""DISJ, algorithms 4 and 9 to 12: exact matching (EM) with its three split strategies, with and without an index.

A box of the query is split by the boxes of the stream until nothing of it is left: then they cover it together. The strategies
differ in which part is split next, and so in how many wait:

    breadth-first   all parts by box 1, then what is left by box 2, ...          up to (2d)^n parts
    depth-first     one part until nothing of it is left, then the next          (n-1)(2d-1) + 2d
    mixed           all parts of one split, then the parts that the last left    (n-2)(2d-1)2d + (2d)^2

With an index, which has a quick check of its own, a part meets only boxes that overlap it, in the order that the index
chooses, and the search ends with the first part of which it is known that something is left. Boxes that a part has met already
are not met again: what a box leaves of a part does not overlap it. Boxes that were added since the index was built are few;
parts meet them first.

Corrected: a box that overlaps nothing makes the match false (the paper appends it and forgets to say so), dimensions that
only the stream's box mentions split a part too, and the queues of depth-first and mixed are last in, first out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from eddyline.implication.box_index import BoxIndex, P
from eddyline.implication.boxes import Box, Intervals, Predicate, outside, overlaps
from eddyline.implication.matching import Matching, Stream, Work
from eddyline.implication.quick_check import IMPLIED, OVERLAPPING, quick_check


class Strategy(NamedTuple):
    """A split strategy: whether boxes cover a part, and whether those of an index do."""

    name: str
    covers: Callable[[Sequence[Box], Intervals, Work], bool]
    covers_by_index: Callable[[BoxIndex[Any], Intervals, Work], bool]


def exact_matching(
    stream: Stream, query: Predicate, strategy: Strategy, work: Work | None = None, *, quick: bool = True
) -> Matching:
    """Whether the query implies the stream's predicate; each box of the query that is not covered is added to it.

    The whole box is added and not what is left of it: more overlap costs less than more boxes. `quick` is whether there is a
    quick check where there is no index.

    >>> from eddyline.implication.boxes import interval
    >>> stream = Stream(Predicate.of([Box.of(interval(0, 5)), Box.of(interval(5, 8))]))
    >>> query = Predicate.of([Box.of(interval(4, 6)), Box.of(interval(7, 9))])
    >>> matched, relaxed = exact_matching(stream, query, DEPTH_FIRST)
    >>> print(matched, relaxed)
    False [0, 5] or [5, 8] or [7, 9]
    """
    work = work or Work()
    if stream.index is not None:
        return _exact_matching_by_index(stream.index, stream, query, strategy, work)
    relaxed = stream
    for box in query.boxes:
        if not _covered(relaxed, box, strategy, work, quick=quick):
            relaxed = relaxed.with_box(box)
    return Matching(relaxed is stream, relaxed.predicate)


def _covered(stream: Stream, box: Box, strategy: Strategy, work: Work, *, quick: bool) -> bool:
    checked = quick_check(stream, box, work) if quick else OVERLAPPING
    if checked != OVERLAPPING:
        return checked == IMPLIED
    return strategy.covers(stream.predicate.boxes, box.intervals, work)


def _exact_matching_by_index(
    index: BoxIndex[Any], stream: Stream, query: Predicate, strategy: Strategy, work: Work
) -> Matching:
    """The predicate is relaxed in the end: until then it is the boxes of the index, and those that it lacks."""
    uncovered: list[Box] = []
    for box in query.boxes:
        added = (*stream.added, *uncovered)
        if not _covered_by_index(index, added, box.intervals, strategy, work):
            uncovered.append(box)
    return Matching(not uncovered, stream.predicate.with_boxes(uncovered))


def _covered_by_index(
    index: BoxIndex[Any], added: Sequence[Box], part: Intervals, strategy: Strategy, work: Work
) -> bool:
    """Parts meet the boxes that the index lacks first: what these leave lies at the edges, and is often covered by nothing."""
    if not added:
        return strategy.covers_by_index(index, part, work)
    waiting = [(part, 0)]
    while waiting:
        part, number = waiting.pop()
        if number < len(added):
            left = compare_dimensions(added[number], part, work)
            waiting += [(each, number + 1) for each in left]
        elif not strategy.covers_by_index(index, part, work):
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


def _breadth_first_by_index(index: BoxIndex[P], part: Intervals, work: Work) -> bool:
    """Algorithm 10, level by level: each part meets the box that the index chooses for it."""
    level = index.start(part)
    while level:
        following: list[P] = []
        for done, each in enumerate(level, start=1):
            left = index.split(each, work)
            if left is None:
                return False
            following += left
            work.waiting(len(level) - done + len(following))
        level = following
    return level is not None


def _depth_first_by_index(index: BoxIndex[P], part: Intervals, work: Work) -> bool:
    """Algorithm 11, likewise."""
    waiting = index.start(part)
    while waiting:
        left = index.split(waiting.pop(), work)
        if left is None:
            return False
        waiting += left
        work.waiting(len(waiting))
    return waiting is not None


def _mixed_by_index(index: BoxIndex[P], part: Intervals, work: Work) -> bool:
    """Algorithm 12, likewise."""
    parts = index.start(part)
    if parts is None:
        return False
    waiting, alive = [parts], len(parts)
    while waiting:
        for each in waiting.pop():
            left = index.split(each, work)
            if left is None:
                return False
            alive += len(left) - 1
            if left:
                waiting.append(left)
                work.waiting(alive)
    return True


BREADTH_FIRST: Final = Strategy("BFS", _breadth_first, _breadth_first_by_index)
DEPTH_FIRST: Final = Strategy("DFS", _depth_first, _depth_first_by_index)
MIXED: Final = Strategy("MIX", _mixed, _mixed_by_index)
STRATEGIES: Final = (BREADTH_FIRST, DEPTH_FIRST, MIXED)

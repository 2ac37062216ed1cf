"""DISJ, algorithms 1 and 6: the quick check (QC) of one box of a query against all boxes of the stream's predicate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.implication.boxes import Box, contains, overlaps
from eddyline.implication.matching import Stream, Work

IMPLIED: Final = 1
OVERLAPPING: Final = 0
DISJOINT: Final = -1


def quick_check(stream: Stream, box: Box, work: Work) -> int:
    """1 if a single box of the predicate contains the given one, 0 if some overlap it, -1 if none does.

    >>> from eddyline.implication.boxes import Predicate, interval
    >>> stream = Stream(Predicate.of([Box.of(interval(0, 5)), Box.of(interval(5, 8))]))
    >>> [quick_check(stream, Box.of(each), Work()) for each in (interval(1, 2), interval(4, 6), interval(9))]
    [1, 0, -1]
    """
    if stream.index is None:
        return _scan(stream.predicate.boxes, box, work)
    if is_implied(stream, box, work):
        return IMPLIED
    part = box.intervals
    overlapping = stream.index.overlaps(part) or any(overlaps(each, part) for each in stream.added)
    return OVERLAPPING if overlapping else DISJOINT


def is_implied(stream: Stream, box: Box, work: Work) -> bool:
    """Whether the quick check gives 1, for those who do not care about the rest.

    >>> from eddyline.implication.boxes import Predicate, interval
    >>> is_implied(Stream(Predicate.of([Box.of(interval(0, 5))])), Box.of(interval(1, 2)), Work())
    True
    """
    if stream.index is None:
        return _scan(stream.predicate.boxes, box, work) == IMPLIED
    return _scan(stream.added, box, work) == IMPLIED or stream.index.contains(box.intervals)


def _scan(boxes: Sequence[Box], box: Box, work: Work) -> int:
    found = DISJOINT
    for each in boxes:
        work.compared()
        if contains(each, box.intervals):
            return IMPLIED
        if found == DISJOINT and overlaps(each, box.intervals):
            found = OVERLAPPING
    return found

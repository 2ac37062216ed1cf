"""DISJ, algorithms 1 and 6: the quick check (QC) of one box of a query against all boxes of the stream's predicate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.implication.box_index import BoxIndex
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
    return _look_up(stream.index, _scan(stream.added, box, work), box)


def _scan(boxes: Sequence[Box], box: Box, work: Work) -> int:
    found = DISJOINT
    for each in boxes:
        work.compared()
        if contains(each, box.intervals):
            return IMPLIED
        if found == DISJOINT and overlaps(each, box.intervals):
            found = OVERLAPPING
    return found


def _look_up(index: BoxIndex, found: int, box: Box) -> int:
    """By the index, after what was found without it."""
    if found == IMPLIED or index.has_container(box.intervals):
        return IMPLIED
    if found == OVERLAPPING or index.first(box.intervals, index.start(box.intervals)) >= 0:
        return OVERLAPPING
    return DISJOINT

"""DISJ, algorithms 3 and 8: the heuristics with complex relaxation (HCR).

Corrected: open ends stay open when a box is widened (the paper closes them), a dimension that only one of two boxes mentions
counts as unbounded in the other, and a predicate without boxes gets one. An end that becomes infinite counts once, among the
unbounded ends: algorithm 8 as printed would also add an infinite extension, after which all such boxes cost the same.
"""

from __future__ import annotations

from math import inf, prod

from eddyline.implication.boxes import HIGHEST, LOWEST, Box, Predicate, contains, hull, length
from eddyline.implication.matching import Matching, Stream, Work
from eddyline.implication.quick_check import is_implied

Cost = tuple[int, float]


def complex_relaxation(
    stream: Stream, query: Predicate, work: Work | None = None, *, quick: bool = True
) -> Matching:
    """For each box of the query that no box of the stream contains, widen the one that needs it least.

    Adds no boxes, but lets through what neither predicate asks for.

    >>> from eddyline.implication.boxes import interval
    >>> stream = Stream(Predicate.of([Box.of(interval(0, 5)), Box.of(interval(5, 8))]))
    >>> matched, relaxed = complex_relaxation(stream, Predicate.of([Box.of(interval(7, 9, open_high=True))]))
    >>> print(matched, relaxed)
    False [0, 5] or [5, 9)
    """
    work = work or Work()
    relaxed = stream
    for box in query.boxes:
        if not (quick and is_implied(relaxed, box, work)):
            relaxed = _relaxed(relaxed, box, work)
    return Matching(relaxed is stream, relaxed.predicate)


def _relaxed(stream: Stream, box: Box, work: Work) -> Stream:
    if not stream.predicate.boxes:
        return stream.with_box(box)
    best, chosen = (inf, inf), -1
    for number, each in enumerate(stream.predicate.boxes):
        work.compared()
        if contains(each, box.intervals):
            return stream
        cost = widening_cost(each, box)
        if cost < best:
            best, chosen = cost, number
    return stream.widened(chosen, hull(stream.predicate.boxes[chosen], box))


def widening_cost(box: Box, other: Box) -> Cost:
    """What it costs to widen a box until it contains another: unbounded ends afterwards, then the volume that is added.

    The volume is the sum over dimensions of the extension times the other extents, as they are widened so far; extents that are
    infinite or zero are left out.

    >>> from eddyline.implication.boxes import interval
    >>> widening_cost(Box.of(interval(3, 12), interval(0, 5)), Box.of(interval(1, 8), interval(2, 4)))
    (0, 10.0)
    """
    unbounded, added = 0, 0.0
    extents = [length(each) for each in box.intervals]
    pairs = zip(box.intervals, other.intervals, strict=True)
    for dimension, ((low, high), (start, end)) in enumerate(pairs):
        unbounded += (LOWEST in (low, start)) + (HIGHEST in (high, end))
        if start < low or high < end:
            extension = _finite(low[0] - start[0]) + _finite(end[0] - high[0])
            extents[dimension] = max(high, end)[0] - min(low, start)[0]
            others = extents[:dimension] + extents[dimension + 1 :]
            added += extension * prod([extent for extent in others if 0 < extent < inf])
    return unbounded, added


def _finite(extension: float) -> float:
    return extension if 0 < extension < inf else 0.0

"""DISJ, algorithms 2 and 7: the heuristics with simple relaxation (HSR)."""

from __future__ import annotations

from eddyline.implication.boxes import Predicate
from eddyline.implication.matching import Matching, Stream, Work
from eddyline.implication.quick_check import is_implied


def simple_relaxation(
    stream: Stream, query: Predicate, work: Work | None = None, *, quick: bool = True
) -> Matching:
    """Add every box of the query; with the quick check only those that no single box of the stream contains.

    Exact as a relaxation, but it misses matches: a box that several boxes cover together is added too.

    >>> from eddyline.implication.boxes import Box, interval
    >>> stream = Stream(Predicate.of([Box.of(interval(0, 5)), Box.of(interval(5, 8))]))
    >>> query = Predicate.of([Box.of(interval(1, 2)), Box.of(interval(4, 6))])
    >>> matched, relaxed = simple_relaxation(stream, query)
    >>> print(matched, relaxed)
    False [0, 5] or [5, 8] or [4, 6]
    """
    work = work or Work()
    relaxed = stream
    for box in query.boxes:
        if not (quick and is_implied(relaxed, box, work)):
            relaxed = relaxed.with_box(box)
    return Matching(relaxed is stream, relaxed.predicate)

"""What DISJ prints wrongly, each with a case for which the printed algorithm gives a wrong result."""

from __future__ import annotations

import pytest

from eddyline.implication.boxes import Box, Intervals, Predicate, interval
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import STRATEGIES, Strategy, compare_dimensions, exact_matching
from eddyline.implication.matching import Stream, Work
from tests.unit.implication.boxes import INDEXES, closed, predicate


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_a_box_that_overlaps_nothing_is_no_match(strategy: Strategy, build: type | None) -> None:
    """Algorithms 10 to 12, lines 5 to 7: the box is appended, but `match` stays true."""
    stream = predicate(closed((0, 1)))
    query = predicate(closed((5, 6)))
    found = exact_matching(Stream(stream, build(stream) if build else None), query, strategy)
    assert found == (False, predicate(closed((0, 1)), closed((5, 6))))


def test_open_ends_stay_open_when_a_box_is_widened() -> None:
    """Algorithm 8, lines 22 and 23, make [0, 9] of them, and let 9 through."""
    stream = predicate(Box.of(interval(0, 5, open_low=True)))
    query = predicate(Box.of(interval(4, 9, open_high=True)))
    _, relaxed = complex_relaxation(Stream(stream), query)
    assert relaxed == predicate(Box.of(interval(0, 9, open_low=True, open_high=True)))


def test_a_dimension_that_only_one_box_mentions_is_unbounded_in_the_other() -> None:
    """Algorithm 8 loops over common dimensions: it would leave b of the stream's box as it was."""
    stream = predicate(Box.of(interval(0, 5), interval(0, 5)))
    query = predicate(Box.of(interval(0, 5), interval()))
    assert complex_relaxation(Stream(stream), query) == (False, query)


def test_the_box_with_fewer_unbounded_ends_is_widened_whoever_has_them() -> None:
    """Two ends are infinite after widening the first box, one after widening the second, however far away it is."""
    wide = Box.of(interval(0, 5), interval())
    far = Box.of(interval(50, 60), interval(0, 1))
    _, relaxed = complex_relaxation(Stream(predicate(wide, far)), predicate(closed((6, 7), (0, 1))))
    assert relaxed == predicate(wide, closed((6, 60), (0, 1)))


@pytest.mark.parametrize("quick", [True, False])
def test_a_predicate_without_boxes_gets_one(quick: bool) -> None:
    """Algorithm 8, line 34: there is no box to put the widened one in place of."""
    query = predicate(closed((0, 1)))
    assert complex_relaxation(Stream(predicate()), query, quick=quick) == (False, query)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_a_dimension_that_only_the_stream_mentions_splits(
    strategy: Strategy, quick: bool, build: type | None
) -> None:
    """Algorithms 6 and 9 compare common dimensions only: `a in [1, 2]` would imply `a in [0, 5] and b in [0, 5]`."""
    stream = predicate(Box.of(interval(0, 5), interval(0, 5)))
    query = predicate(Box.of(interval(1, 2), interval()))
    assert _printed_rest(stream.boxes[0], query.boxes[0].intervals) == 0, "nothing is left: a false match"
    indexed = Stream(stream, build(stream) if build else None)
    assert not exact_matching(indexed, query, strategy, quick=quick).matched


def _printed_rest(box: Box, part: Intervals) -> int:
    """How many parts algorithm 9 leaves as printed, where both mention a dimension."""
    left = 0
    for dimension, low, high in box.sides:
        if part[dimension] != interval():
            start, end = part[dimension]
            left += (start < low) + (high < end)
    return left


def test_the_predicates_of_waiting_parts_are_last_in_first_out() -> None:
    """Algorithms 11 and 12: with a first-in, first-out Q_p, a part meets the boxes that are left for another one."""
    stream = predicate(closed((0, 3), (2, 4)), closed((3, 4), (0, 4)), closed((2, 3), (0, 3)))
    query = predicate(closed((2, 4), (0, 2)))
    assert not _depth_first_with_a_queue_of_predicates(stream, query.boxes[0].intervals)
    assert all(exact_matching(Stream(stream), query, strategy).matched for strategy in STRATEGIES)


def _depth_first_with_a_queue_of_predicates(stream: Predicate, part: Intervals) -> bool:
    """Algorithm 11 with `enqueue` at the end and `dequeue` from the front for Q_p."""
    levels, remaining = [[part]], [list(stream.boxes)]
    while levels:
        parts, boxes = levels.pop(), remaining.pop(0)
        current = parts.pop(0)
        if parts:
            levels.append(parts)
            remaining.append(list(boxes))
        left = compare_dimensions(boxes[0], current, Work())
        if left:
            if len(boxes) == 1:
                return False
            levels.append(left)
            remaining.append(boxes[1:])
    return True

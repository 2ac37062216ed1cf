"""The index of boxes: what it tells of a part is what comparing the boxes one by one tells, in few and in many dimensions."""

from __future__ import annotations

import random

import pytest

from eddyline.implication.box_index import PrefixBitmaps
from eddyline.implication.boxes import Box, Predicate, contains, interval, overlaps
from eddyline.implication.exact_matching import DEPTH_FIRST, STRATEGIES, Strategy, exact_matching
from eddyline.implication.matching import Stream, Work
from tests.unit.implication.boxes import closed, predicate, random_predicate

# Fields of 8 bits suffice up to 7 dimensions.
DIMENSIONS = pytest.mark.parametrize("dimensions", [1, 2, 4, 7, 8, 12])


@DIMENSIONS
def test_a_look_tells_what_a_scan_tells(dimensions: int) -> None:
    rng = random.Random(dimensions)
    for _ in range(60):
        stream = random_predicate(rng, dimensions, rng.choice((0, 1, 5, 40)))
        index = PrefixBitmaps(stream)
        for box in random_predicate(rng, dimensions, 5).boxes:
            part = box.intervals
            assert index.contains(part) == any(contains(each, part) for each in stream.boxes)
            assert index.overlaps(part) == any(overlaps(each, part) for each in stream.boxes)
            assert (index.start(part) == []) == index.contains(part)


@DIMENSIONS
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_matching_by_the_index_is_matching_without(dimensions: int, strategy: Strategy) -> None:
    rng = random.Random(dimensions)
    seen = set()
    for _ in range(100):
        stream = predicate(*[_tile(rng, dimensions) for _ in range(rng.choice((2, 6, 30)))])
        query = predicate(*[_tile(rng, dimensions) for _ in range(rng.randint(1, 3))])
        expected = exact_matching(Stream(stream), query, DEPTH_FIRST)
        assert exact_matching(Stream(stream, PrefixBitmaps(stream)), query, strategy) == expected
        seen.add(expected.matched)
    assert seen == {True, False}


def _tile(rng: random.Random, dimensions: int) -> Box:
    """A box that is short in two of the same three dimensions, so that in many too several cover one together."""
    apart = sorted({0, dimensions // 2, dimensions - 1})
    short = rng.sample(apart, min(2, len(apart)))
    ends = [sorted(rng.sample(range(5), 2)) if n in short else (0, 4) for n in range(dimensions)]
    return Box.of(*[interval(low, high, open_high=rng.random() < 0.3) for low, high in ends])


def test_the_box_that_leaves_least_comes_first() -> None:
    """The largest, which the paper takes first, leaves two parts."""
    largest = closed((3, 30), (3, 30))
    stream = predicate(largest, closed((1, 6), (1, 8)), closed((6, 9), (1, 8)))
    query = predicate(closed((2, 8), (2, 7)))
    assert stream.boxes[0] == largest
    work = Work()
    assert exact_matching(Stream(stream, PrefixBitmaps(stream)), query, DEPTH_FIRST, work).matched
    assert work.comparisons == 1, "the second box leaves one part, which the third contains"


def test_a_corner_that_no_box_holds_ends_the_search_before_it_begins() -> None:
    stream = predicate(closed((0, 5), (0, 5)), closed((5, 9), (0, 9)))
    work = Work()
    found = exact_matching(
        Stream(stream, PrefixBitmaps(stream)), predicate(closed((1, 10), (1, 2))), DEPTH_FIRST, work
    )
    assert (found.matched, work.comparisons) == (False, 0)


def test_open_ends_are_told_from_closed_ones() -> None:
    half_open = predicate(Box.of(interval(0, 3, open_high=True)))
    index = PrefixBitmaps(half_open)
    assert not index.contains((interval(1, 3),)) and not index.overlaps((interval(3, 5),))
    assert index.contains((interval(1, 3, open_high=True),)) and index.overlaps((interval(2.5, 5),))


def test_nothing_is_covered_by_no_boxes() -> None:
    index = PrefixBitmaps(Predicate(()))
    part = (interval(0, 1),)
    assert index.start(part) is None and not index.contains(part) and not index.overlaps(part)

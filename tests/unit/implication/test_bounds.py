"""DISJ, tables 3 and 4: comparisons and live parts stay within the paper's bounds, and reach those that can be reached.

The paper counts comparisons of dimensions; ours are of boxes, so its time bounds are divided by the number of dimensions d.
Tables 5 and 6 are about evaluation.
"""

from __future__ import annotations

import random

import pytest

from eddyline.implication.boxes import Predicate
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import (
    BREADTH_FIRST,
    DEPTH_FIRST,
    MIXED,
    STRATEGIES,
    Strategy,
    exact_matching,
)
from eddyline.implication.matching import Stream, TooMuchWork, Work
from eddyline.implication.quick_check import quick_check
from eddyline.implication.simple_relaxation import simple_relaxation
from tests.unit.implication.boxes import INDEXES, closed, predicate, random_predicate

CASES = 150


def random_cases(seed: int) -> list[tuple[int, int, int, Predicate, Predicate]]:
    """d, n, m, a stream's predicate of n boxes and a query's of m."""
    rng = random.Random(seed)
    shapes = [(rng.randint(1, 3), rng.randint(2, 7), rng.randint(1, 3)) for _ in range(CASES)]
    return [(d, n, m, random_predicate(rng, d, n), random_predicate(rng, d, m)) for d, n, m in shapes]


def test_the_quick_check_compares_each_box_once_at_most() -> None:
    for _, n, _, stream, query in random_cases(1):
        work = Work()
        quick_check(Stream(stream), query.boxes[0], work)
        assert 1 <= work.comparisons <= n


def test_time_of_the_heuristics() -> None:
    for _, n, m, stream, query in random_cases(2):
        work = Work()
        simple_relaxation(Stream(stream), query, work, quick=False)
        assert work.comparisons == 0, "O(m) without the quick check: nothing is compared"
        work = Work()
        simple_relaxation(Stream(stream), query, work)
        assert m <= work.comparisons <= m * n + m * (m - 1) // 2
        work = Work()
        complex_relaxation(Stream(stream), query, work, quick=False)
        assert m <= work.comparisons <= m * n
        work = Work()
        complex_relaxation(Stream(stream), query, work)
        assert m <= work.comparisons <= 2 * m * n
        assert work.live == 0, "no parts are made"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_time_of_exact_matching(strategy: Strategy, build: type | None) -> None:
    for d, n, m, stream, query in random_cases(3):
        indexed = Stream(stream, build(stream) if build else None)
        work = Work()
        exact_matching(indexed, query, strategy, work, quick=False)
        assert work.comparisons <= sum((2 * d) ** j for i in range(m) for j in range(n + i))
        with_check = Work()
        exact_matching(indexed, query, strategy, with_check)
        assert with_check.comparisons <= work.comparisons + m * n + m * m


BOUNDS = {
    BREADTH_FIRST: lambda n, d: (2 * d) ** n,
    DEPTH_FIRST: lambda n, d: (n - 1) * (2 * d - 1) + 2 * d,
    MIXED: lambda n, d: (n - 2) * (2 * d - 1) * 2 * d + (2 * d) ** 2,
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_space_of_exact_matching(strategy: Strategy, build: type | None) -> None:
    for d, n, m, stream, query in random_cases(4):
        work = Work()
        exact_matching(Stream(stream, build(stream) if build else None), query, strategy, work, quick=False)
        assert work.live <= BOUNDS[strategy](n + m - 1, d), (
            "the stream has up to n + m - 1 boxes by the last one"
        )


def nested(n: int, d: int) -> tuple[Predicate, Predicate]:
    """n small boxes inside of a query's: each is inside of one part and splits it into 2d."""
    boxes = [closed(*[(10 * k + 1, 10 * k + 2)] * d) for k in range(n)]
    return predicate(*boxes), predicate(closed(*[(0, 10 * n)] * d))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_one_box_inside_of_the_query_leaves_twice_as_many_parts_as_dimensions(d: int) -> None:
    stream, query = nested(1, d)
    for strategy in STRATEGIES:
        work = Work()
        assert not exact_matching(Stream(stream), query, strategy, work).matched
        assert work.live == 2 * d == BOUNDS[DEPTH_FIRST](1, d)


def test_breadth_first_keeps_more_parts_than_mixed_and_mixed_more_than_depth_first() -> None:
    stream, query = nested(8, 3)
    live = []
    for strategy in (BREADTH_FIRST, MIXED, DEPTH_FIRST):
        work = Work()
        exact_matching(Stream(stream), query, strategy, work)
        live.append(work.live)
    assert live == sorted(live, reverse=True) and live[0] > live[2]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_best_case_is_one_comparison_for_each_box_of_the_query(strategy: Strategy) -> None:
    stream, query = predicate(closed((0, 9)), closed((20, 21))), predicate(closed((1, 2)), closed((3, 4)))
    for quick in (True, False):
        work = Work()
        assert exact_matching(Stream(stream), query, strategy, work, quick=quick).matched
        assert work.comparisons == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_work_stops_at_its_limit(strategy: Strategy, build: type | None) -> None:
    tiles = [closed((k, k + 1), (0, 9)) for k in range(9)]
    stream = predicate(*tiles)
    with pytest.raises(TooMuchWork):
        exact_matching(
            Stream(stream, build(stream) if build else None),
            predicate(closed((0, 9), (1, 2))),
            strategy,
            Work(limit=3),
        )

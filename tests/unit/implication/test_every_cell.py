"""All algorithms, strategies and indexes against the truth, found by looking at every cell of a small grid."""

from __future__ import annotations

import random

import pytest

from eddyline.implication.boxes import Predicate, contains, size_of
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import STRATEGIES, exact_matching
from eddyline.implication.matching import Stream, Work
from eddyline.implication.quick_check import quick_check
from eddyline.implication.simple_relaxation import simple_relaxation
from tests.conftest import some
from tests.unit.implication.boxes import INDEXES, cells, holds, implies, random_predicate

CASES = 40
Case = tuple[int, Predicate, Predicate]


def cases(seed: int) -> list[Case]:
    """Dimensions, a stream's predicate (of up to 14 boxes, so that trees have several nodes) and a query's."""
    rng = random.Random(seed)
    found = []
    for _ in range(CASES):
        dimensions = rng.choice((1, 2, 2, 3))
        stream = random_predicate(rng, dimensions, rng.choice((0, 1, 3, 6, 14)))
        found.append((dimensions, stream, random_predicate(rng, dimensions, rng.randint(1, 3))))
    return found


def streams(of: Predicate) -> list[Stream]:
    return [Stream(of, build(of) if build else None) for build in INDEXES.values()]


SEEDS = pytest.mark.parametrize("seed", some(list(range(6)), quick=[0, 1]))


@SEEDS
def test_exact_matching_is_exact_and_always_the_same(seed: int) -> None:
    for dimensions, predicate, query in cases(seed):
        found = {
            exact_matching(stream, query, strategy, quick=quick)
            for stream in streams(predicate)
            for strategy in STRATEGIES
            for quick in (True, False)
        }
        assert len(found) == 1, f"{query} with {predicate}"
        matched, relaxed = found.pop()
        assert matched == implies(query, predicate, dimensions), f"{query} with {predicate}"
        for point in cells(dimensions):
            assert holds(relaxed, point) == (holds(predicate, point) or holds(query, point)), "no false drops"


@SEEDS
def test_heuristics_relax_far_enough_and_never_match_falsely(seed: int) -> None:
    for dimensions, predicate, query in cases(seed):
        for match in (simple_relaxation, complex_relaxation):
            for quick in (True, False):
                results = {match(stream, query, quick=quick) for stream in streams(predicate)}
                assert len(results) == 1, f"{query} with {predicate}"
                matched, relaxed = results.pop()
                assert not matched or implies(query, predicate, dimensions)
                assert implies(predicate, relaxed, dimensions) and implies(query, relaxed, dimensions)
                assert matched == (relaxed == predicate)


@SEEDS
def test_complex_relaxation_adds_no_box(seed: int) -> None:
    for _, predicate, query in cases(seed):
        _, relaxed = complex_relaxation(Stream(predicate), query)
        assert len(relaxed.boxes) == max(1, len(predicate.boxes))


@SEEDS
def test_the_quick_check_looks_at_single_boxes(seed: int) -> None:
    for dimensions, predicate, query in cases(seed):
        box = query.boxes[0]
        inside = [point for point in cells(dimensions) if holds(Predicate((box,)), point)]
        implied = any(all(holds(Predicate((each,)), point) for point in inside) for each in predicate.boxes)
        expected = 1 if implied else 0 if any(holds(predicate, point) for point in inside) else -1
        assert {quick_check(stream, box, Work()) for stream in streams(predicate)} == {expected}
        assert implied == any(contains(each, box.intervals) for each in predicate.boxes)


@SEEDS
def test_boxes_stay_in_their_order(seed: int) -> None:
    for _, predicate, query in cases(seed):
        for match in (simple_relaxation, complex_relaxation):
            sizes = [size_of(box.intervals) for box in match(Stream(predicate), query).predicate.boxes]
            assert sizes == sorted(sizes, reverse=True)

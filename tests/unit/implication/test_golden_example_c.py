"""The examples of DISJ, sections 3.1 to 3.5: three boxes of a stream, and two queries, one implied and one not."""

from __future__ import annotations

import pytest

from eddyline.implication.boxes import Predicate, describe, interval
from eddyline.implication.complex_relaxation import complex_relaxation, widening_cost
from eddyline.implication.exact_matching import STRATEGIES, Strategy, compare_dimensions, exact_matching
from eddyline.implication.matching import Stream, Work
from eddyline.implication.quick_check import quick_check
from eddyline.implication.simple_relaxation import simple_relaxation
from tests.unit.implication.boxes import INDEXES, closed, predicate

ONE, TWO, THREE = closed((3, 12), (0, 5)), closed((9, 14), (2, 8)), closed((0, 5), (1, 6))
P1 = predicate(ONE, TWO, THREE)
P1_ALTERED = predicate(ONE, TWO, closed((0, 5), (3, 6)))
P2 = predicate(closed((1, 8), (2, 4)))
P3 = predicate(closed((4, 13), (7, 10)))


@pytest.fixture(params=INDEXES)
def stream(request: pytest.FixtureRequest) -> Stream:
    build = INDEXES[request.param]
    return Stream(P1, build(P1) if build else None)


def left_of(query: Predicate, of: Predicate) -> list[list[str]]:
    """What is left of the only box of a query after each box of a stream."""
    parts, steps = [query.boxes[0].intervals], []
    for box in of.boxes:
        parts = [left for part in parts for left in compare_dimensions(box, part, Work())]
        steps.append([describe(part) for part in parts])
    return steps


def test_boxes_stand_in_the_papers_order() -> None:
    assert P1.boxes == (ONE, TWO, THREE), "by volume: 45, 30, 25"


def test_the_quick_check_finds_no_single_box(stream: Stream) -> None:
    assert quick_check(stream, P2.boxes[0], Work()) == 0
    assert quick_check(stream, P3.boxes[0], Work()) == 0
    assert quick_check(stream, closed((10, 12), (3, 5)), Work()) == 1
    assert quick_check(stream, closed((15, 20), (0, 9)), Work()) == -1


@pytest.mark.parametrize("quick", [True, False])
def test_simple_relaxation_appends_the_query(stream: Stream, quick: bool) -> None:
    assert simple_relaxation(stream, P2, quick=quick) == (False, predicate(*P1.boxes, *P2.boxes))


@pytest.mark.parametrize("quick", [True, False])
def test_complex_relaxation_widens_the_first_box(stream: Stream, quick: bool) -> None:
    matched, relaxed = complex_relaxation(stream, P2, quick=quick)
    assert (matched, relaxed) == (False, predicate(closed((1, 12), (0, 5)), TWO, THREE))


def test_what_widening_each_box_costs() -> None:
    box = P2.boxes[0]
    assert [widening_cost(each, box) for each in P1.boxes] == [(0, 10), (0, 48), (0, 15)]


def test_widening_lets_through_what_nobody_asked_for() -> None:
    """Section 3.4: of what is added only the hatched area of figure 3 is not in the stream yet."""
    _, relaxed = complex_relaxation(Stream(P1), P2)
    assert left_of(Predicate((relaxed.boxes[0],)), P1)[-1] == ["[1, 3) x [0, 1)"]


def test_p2_implies_p1_by_its_first_and_third_box() -> None:
    assert left_of(P2, P1) == [["[1, 3) x [2, 4]"], ["[1, 3) x [2, 4]"], []]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("quick", [True, False])
def test_exact_matching_finds_that_p2_implies_p1(stream: Stream, strategy: Strategy, quick: bool) -> None:
    assert exact_matching(stream, P2, strategy, quick=quick) == (True, P1)


def test_p3_is_split_in_three_by_the_second_box() -> None:
    unmatched = ["[4, 9) x [7, 10]", "[9, 13] x (8, 10]"]
    assert left_of(P3, P1) == [["[4, 13] x [7, 10]"], unmatched, unmatched]
    third = (interval(9, 13), interval(7, 8))
    assert compare_dimensions(TWO, third, Work()) == [], "the third part is matched"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("quick", [True, False])
def test_p3_does_not_imply_p1_and_is_appended(stream: Stream, strategy: Strategy, quick: bool) -> None:
    assert exact_matching(stream, P3, strategy, quick=quick) == (False, predicate(*P1.boxes, *P3.boxes))


def test_p2_against_the_altered_p1() -> None:
    """Figure 4: [3, 8] x [2, 4] is matched by box 1, [1, 3) x [3, 4] by box 3."""
    rest = ["[1, 3) x [2, 4]"]
    assert left_of(P2, P1_ALTERED) == [rest, rest, ["[1, 3) x [2, 3)"]]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("build", INDEXES.values(), ids=INDEXES)
def test_p2_does_not_imply_the_altered_p1(strategy: Strategy, build: type | None) -> None:
    altered = Stream(P1_ALTERED, build(P1_ALTERED) if build else None)
    relaxed = predicate(*P1_ALTERED.boxes, *P2.boxes)
    assert exact_matching(altered, P2, strategy) == (False, relaxed)


def test_widening_the_altered_p1_takes_in_more_than_needed() -> None:
    """Figure 4: [1, 3) x [2, 3) is needed, [1, 3) x [0, 2) is not."""
    _, relaxed = complex_relaxation(Stream(P1_ALTERED), P2)
    assert relaxed.boxes[0] == closed((1, 12), (0, 5))
    assert left_of(Predicate((relaxed.boxes[0],)), P1_ALTERED)[-1] == ["[1, 3) x [0, 3)"]

"""Both filters mark exactly the predicates that a value satisfies, also after some were taken out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.errors import EddylineError
from eddyline.execute.eddy.asc_filter import AscFilter
from eddyline.execute.eddy.clauses import clauses_of, is_simple, simple, whole
from eddyline.execute.eddy.grouped_filter import GroupedFilter
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or
from eddyline.model.regions import Regions

DOUBLE, INT = Column("x", t.DOUBLE), Column("a", t.INT)
VALUES = [None, math.nan, -math.inf, *[step / 2 for step in range(-2, 14)], math.inf]


@st.composite
def region_sets(draw: st.DrawFn) -> Regions:
    cuts = draw(st.sets(st.tuples(st.integers(0, 5).map(float), st.integers(0, 1)), max_size=5))
    return Regions(draw(st.booleans()), tuple(sorted(cuts)), draw(st.booleans()), draw(st.booleans()))


def wanted(regions: Regions) -> bool:
    return not regions.is_empty


@given(region_sets().filter(wanted))
def test_simple_clauses_say_the_same(regions: Regions) -> None:
    clauses = simple(Condition(DOUBLE, regions))
    for clause in clauses:
        assert all(is_simple(member.regions, fractional=True) for member in clause)
    for value in VALUES:
        held = all(any(value in member.regions for member in clause) for clause in clauses)
        assert held == (value in regions)


@given(st.lists(region_sets().filter(wanted), min_size=1, max_size=6), st.data())
def test_probes(sets: list[Regions], data: st.DataObject) -> None:
    members = [
        member.regions for each in sets for clause in simple(Condition(DOUBLE, each)) for member in clause
    ]
    gone = data.draw(st.sets(st.sampled_from(range(len(members)))))
    for filter in (GroupedFilter(DOUBLE), AscFilter(DOUBLE)):
        for place, regions in enumerate(members):
            filter.insert(place, regions)
        for place in gone:
            filter.remove(place, members[place])
        for value in VALUES:
            held = [place for place, each in enumerate(members) if place not in gone and value in each]
            assert filter.probe(value) == sum(1 << place for place in held), (value, filter)


@pytest.mark.parametrize(
    ("regions", "count"),
    [
        (Regions.points([1, 2, 3]), [3]),
        (~Regions.points([1, 2]) & ~Regions(null=True), [1, 1]),
        (Regions.above(1, closed=True) & Regions.below(9, closed=False), [1, 1]),
        (Regions.below(1, closed=True) | Regions.points([5]), [2]),
        (Regions(null=True), [1]),
        (Regions.above(3, closed=False) | Regions(null=True), [2]),
    ],
)
def test_how_conditions_are_split(regions: Regions, count: list[int]) -> None:
    assert [len(clause) for clause in simple(Condition(INT, regions))] == count


def test_always_and_never() -> None:
    assert clauses_of(ALWAYS, whole) == []
    assert clauses_of(NEVER, whole) == [()]


def test_too_many_clauses_are_refused() -> None:
    def pair(number: int) -> And:
        names: list[Any] = [Column(f"{letter}{number}", t.INT) for letter in "ab"]
        return And(tuple([Condition(name, Regions.points([1])) for name in names]))

    with pytest.raises(EddylineError, match="more than 1024 clauses"):
        clauses_of(Or(tuple([pair(number) for number in range(11)])), whole)

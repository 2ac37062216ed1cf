"""Alternatives of predicates."""

from eddyline.index.keyed.terms import MAX_TERMS, is_apart, pieces, terms_of
from eddyline.model.expression import Column
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or
from eddyline.model.regions import Regions
from eddyline.model.types import DOUBLE, INT

A, B = Column("a", INT), Column("b", INT)


def is_one(subject: Column, *values: int) -> Condition:
    return Condition(subject, Regions.points(values))


def test_and_over_or_is_multiplied_out() -> None:
    low = Condition(B, Regions.below(3, closed=False))
    found = terms_of(And((is_one(A, 1), Or((low, is_one(B, 7))))))
    assert found == [
        {A: is_one(A, 1).regions, B: low.regions},
        {A: is_one(A, 1).regions, B: Regions.points([7])},
    ]


def test_conditions_on_one_subject_meet_and_impossible_terms_go() -> None:
    found = terms_of(And((is_one(A, 1, 2), Or((is_one(A, 2, 3), is_one(A, 4))))))
    assert found == [{A: Regions.points([2])}]


def test_always_is_one_empty_term_and_never_is_none() -> None:
    assert terms_of(ALWAYS) == [{}]
    assert terms_of(NEVER) == []


def test_too_many_alternatives_are_refused() -> None:
    some = tuple([And((is_one(A, i), is_one(B, i))) for i in range(MAX_TERMS + 1)])
    assert len(terms_of(Or(some[:-1])) or ()) == MAX_TERMS
    assert terms_of(Or(some)) is None
    assert terms_of(And((Or(some[:4]), Or((is_one(A, 0), And((is_one(B, 1),))) * 4)))) is None


def test_terms_are_apart_where_one_subject_says_so() -> None:
    one, two = Regions.points([1]), Regions.points([2])
    assert is_apart({A: one, B: one}, {A: one, B: two})
    assert not is_apart({A: one}, {B: two})
    assert not is_apart({A: one}, {A: one | two})


def test_pieces_are_the_set() -> None:
    numbers = (
        Regions.below(0.0, closed=True) | Regions.points([3.0]) | Regions.above(5.0, closed=False, nan=True)
    )
    for regions in (numbers, Regions.points([1.0], nan=True), Regions(nan=True), Regions(True, nan=True)):
        parts = pieces(regions)
        assert Regions.union(parts) == regions, DOUBLE
        assert all(len(part.intervals()) <= 1 for part in parts)
    assert len(pieces(numbers)) == 3

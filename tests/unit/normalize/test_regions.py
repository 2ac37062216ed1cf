"""Region sets behave as sets, and equal sets of a type are spelled alike."""

from __future__ import annotations

import pickle
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or
from eddyline.model.regions import NOTHING, Regions
from eddyline.normalize.domain import Numbered, domain_of

CUTS = st.sets(st.tuples(st.integers(-3, 3), st.integers(0, 1)), max_size=6).map(
    lambda cuts: tuple(sorted(cuts))
)
SETS = st.builds(Regions, st.booleans(), CUTS, st.booleans(), st.booleans())
PLACES = [None, float("nan"), *(n / 2 for n in range(-9, 10))]


def members(regions: Regions) -> list[bool]:
    return [place in regions for place in PLACES]


@given(SETS, SETS, SETS)
def test_algebra(a: Regions, b: Regions, c: Regions) -> None:
    in_a, in_b, in_c = members(a), members(b), members(c)
    assert members(~a) == [not x for x in in_a]
    assert members(a & b) == [x and y for x, y in zip(in_a, in_b, strict=True)]
    assert members(a | b) == [x or y for x, y in zip(in_a, in_b, strict=True)]
    triples = list(zip(in_a, in_b, in_c, strict=True))
    assert members(Regions.union([a, b, c])) == list(map(any, triples))
    assert members(Regions.intersection([a, b, c])) == list(map(all, triples))


@given(SETS)
def test_pickling_keeps_the_hash_valid(regions: Regions) -> None:
    condition = Condition(Column("a", t.INT), regions)
    whole = Or((And((condition, NEVER)), ALWAYS))
    again = pickle.loads(pickle.dumps(whole))
    assert again == whole
    assert hash(again) == hash(whole)


@pytest.mark.parametrize(
    ("kind", "smallest"), [(t.BOOLEAN, 0), (t.BYTE, -128), (t.BYTE, 123), (t.DecimalType(2, 1), 94)]
)
def test_equal_sets_of_separate_values_are_spelled_alike(kind: t.DataType, smallest: int) -> None:
    domain = domain_of(kind)
    assert isinstance(domain, Numbered)
    ordinals = range(smallest, min(smallest + 6, domain.high + 1))
    values = [domain.value(n) for n in ordinals]
    cuts = [(value, side) for value in values for side in (0, 1)]
    spelled: dict[tuple[bool, ...], Regions] = {}
    for count in range(5):
        for chosen in combinations(cuts, count):
            for inside in (False, True):
                regions = domain.canonical(Regions(inside, chosen, nan=True))
                everything = [domain.value(domain.low), *values, domain.value(domain.high)]
                key = tuple(value in regions for value in everything)
                assert key == tuple(value in Regions(inside, chosen) for value in everything)
                assert spelled.setdefault(key, regions) == regions
                assert not regions.nan
                assert domain.complement(domain.complement(regions)) == regions


@pytest.mark.parametrize(
    ("kind", "regions", "expected"),
    [
        (t.INT, Regions.above(3, closed=False), "[4, +inf)"),
        (t.INT, Regions.below(3, closed=True), "(-inf, 4)"),
        (t.INT, Regions(False, ((3, 1), (5, 0))), "{4}"),
        (t.INT, Regions.points([3, 5]), "{3} or {5}"),
        (t.INT, Regions.points([3, 4]), "[3, 5)"),
        (t.INT, Regions(False, ((3, 1), (4, 0))), "nothing"),
        (t.INT, Regions(True, ((3, 0), (3, 1))), "(-inf, 3) or (3, +inf)"),
        (t.BYTE, Regions.above(127, closed=False), "nothing"),
        (t.BYTE, Regions.above(126, closed=False), "{127}"),
        (t.BYTE, Regions.below(-127, closed=False), "{-128}"),
        (t.DATE, Regions.below(2**31 - 1, closed=True), "(-inf, +inf)"),
        (t.DecimalType(4, 2), Regions.above(Decimal("1.25"), closed=False), "[Decimal('1.26'), +inf)"),
        (t.DOUBLE, Regions.above(0.3, closed=False, nan=True), "(0.3, +inf) or NaN"),
        (t.DOUBLE, Regions(False, ((0.3, 1), (0.30000000000000004, 0))), "nothing"),
        (t.DOUBLE, Regions.below(float("inf"), closed=True), "(-inf, +inf)"),
        (t.DOUBLE, Regions.below(float("-inf"), closed=False), "nothing"),
        (t.DOUBLE, Regions.above(1.7976931348623157e308, closed=False), "{inf}"),
        (t.STRING, Regions.above("", closed=True), "(-inf, +inf)"),
        (t.STRING, Regions.below("", closed=True), "{''}"),
        (t.STRING, Regions.above("a\0", closed=True), "('a', +inf)"),
        (t.STRING, Regions.points(["\0"]), "{'\\x00'}"),
        (t.STRING, Regions(True, (("a\0", 0), ("a\0", 1))), "(-inf, 'a\\x00') or ('a\\x00', +inf)"),
        (t.BINARY, Regions.below(b"", closed=False), "nothing"),
        (t.ArrayType(t.INT), Regions(True, (), nan=True), "(-inf, +inf)"),
    ],
)
def test_spelling(kind: t.DataType, regions: Regions, expected: str) -> None:
    assert str(domain_of(kind).canonical(regions)) == expected


@pytest.mark.parametrize("kind", [t.INT, t.DOUBLE, t.STRING, t.BOOLEAN, t.MapType(t.INT, t.INT)])
def test_nothing_and_everything_are_known_by_identity(kind: t.DataType) -> None:
    domain = domain_of(kind)
    assert domain.canonical(Regions()) is NOTHING
    assert domain.complement(NOTHING) is domain.everything
    assert domain.complement(domain.everything) is NOTHING

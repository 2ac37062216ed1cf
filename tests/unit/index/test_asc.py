"""Attribute Selection Constructs of hand-made conditions, against membership asked value by value."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest

from eddyline.index.rowwise.asc import AscIndex, build_ascs, is_conjunction
from eddyline.model import types as t
from eddyline.model.asc import bits, covered, one_is_spare
from eddyline.model.expression import Column
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or, Predicate
from eddyline.model.regions import Regions
from eddyline.model.visit_order import VisitOrder

PRICE = Column("price", t.DOUBLE)
SIZE = Column("size", t.INT)
NAME = Column("name", t.STRING)


def built(*predicates: Predicate) -> AscIndex:
    return build_ascs(predicates, range(len(predicates)))


def random_regions(source: random.Random) -> Regions:
    values = sorted(source.sample(range(12), source.randint(1, 4)))
    cuts = tuple((float(value), source.randint(0, 1)) for value in values)
    return Regions(source.random() < 0.5, cuts, source.random() < 0.3, source.random() < 0.3)


def witnesses(index: AscIndex, number: int) -> list[object]:
    """A value of every region, in their order."""
    constants = [float(constant) for constant in index.ascs[number].constants]
    middles = [constants[0] - 1, *(constant + 0.5 for constant in constants)]
    between = [value for pair in zip(middles, [*constants, None], strict=True) for value in pair][:-1]
    return [*between, float("nan"), None]


@pytest.mark.parametrize("queries", [1, 60, 64, 513, 1100])
def test_every_bit_is_membership(queries: int) -> None:
    source = random.Random(queries)
    subjects = [Column(f"a{i}", t.DOUBLE) for i in range(4)]
    wanted = [
        {subject: random_regions(source) for subject in source.sample(subjects, source.randint(1, 3))}
        for _ in range(queries)
    ]
    predicates: list[Predicate] = [And(tuple(Condition(s, r) for s, r in each.items())) for each in wanted]
    index = built(*predicates)
    assert index.table.shape[0] == -(-queries // 512)
    for asc in index.ascs:
        assert bits(asc.qub, queries) == "".join(str(int(asc.subject in each)) for each in wanted)
        for region, value in zip(asc.ra, witnesses(index, asc.number), strict=True):
            expected = [asc.subject not in each or value in each[asc.subject] for each in wanted]
            assert region.qrb == "".join(str(int(one)) for one in expected), region.name
        assert not np.unpackbits(asc.qrb.view(np.uint8), axis=1, bitorder="little")[:, queries:].any()
        check_candidates(index, asc.number)


def check_candidates(index: AscIndex, number: int) -> None:
    asc = index.ascs[number]
    for region, qrb in zip(asc.ra, asc.qrb, strict=True):
        expected = [other is not asc and bool((qrb & other.qub).any()) for other in index.ascs]
        assert region.cab == "".join(str(int(one)) for one in expected)


def test_more_subjects_than_one_word() -> None:
    subjects = [Column(f"a{i}", t.INT) for i in range(70)]
    parts = [Condition(subject, Regions.points([i])) for i, subject in enumerate(subjects)]
    index = built(*(And((parts[i], parts[i + 1])) for i in range(69)))
    assert index.ascs[0].cab.shape == (4, 2)
    for number in (0, 35, 69):
        check_candidates(index, number)
    assert not build_ascs([And(tuple(parts))], [0], arrows=False).ascs[3].cab.any()


def test_regions_are_numbered_as_they_are_cut() -> None:
    index = built(
        And(
            (
                Condition(PRICE, Regions.above(2.5, closed=True, nan=True)),
                Condition(SIZE, Regions.points([7])),
            )
        ),
        Condition(NAME, Regions.points(["b"], null=True)),
    )
    price, size, name = index.ascs
    assert [region.name for region in price.ra] == ["(-inf, 2.5)", "{2.5}", "(2.5, +inf)", "NaN", "NULL"]
    assert [region.qrb for region in price.ra] == ["01", "11", "11", "11", "01"]
    assert [region.name for region in size.ra] == ["(-inf, 7)", "{7}", "(7, +inf)", "NULL"]
    assert [region.qrb for region in name.ra] == ["10", "11", "10", "11"]
    for cutting, asc in zip(index.cuttings, index.ascs, strict=True):
        assert cutting.size == asc.regions
        assert asc.name(cutting.null) == "NULL"


@pytest.mark.parametrize(
    ("kind", "value", "name"),
    [
        (t.DecimalType(5, 2), Decimal("1.50"), "{1.50}"),
        (t.DecimalType(38, 2), Decimal("1.50"), "{1.50}"),
        (t.BOOLEAN, True, "{True}"),
        (t.DATE, 365, "{1971-01-01}"),
        (t.TIMESTAMP, 1_000_000, "{1970-01-01 00:00:01}"),
        (t.DATE, 2**31 - 1, "{2147483647}"),
        (t.BINARY, b"x", "{b'x'}"),
    ],
)
def test_constants_are_readable(kind: t.DataType, value: object, name: str) -> None:
    asc = built(Condition(Column("c", kind), Regions.points([value]))).ascs[0]
    assert asc.rif(1) == value
    assert asc.name(1) == name
    assert asc.rif(0) is asc.rif(2) is asc.rif(asc.regions - 1) is None


def test_always_true_is_an_and_of_nothing() -> None:
    index = built(Condition(SIZE, Regions.points([1])), ALWAYS)
    assert [region.qrb for region in index.ascs[0].ra] == ["01", "11", "01", "01"]
    assert not covered(index.ascs)
    assert index.alive.all()


def test_dead_regions() -> None:
    index = built(Condition(SIZE, Regions.points([1])), Condition(SIZE, Regions.points([2])))
    assert index.alive.tolist() == [False, True, False, True, False, False]
    assert covered(index.ascs) and not covered([])


def test_cover_sets_are_found_in_one_pass() -> None:
    """As asked one by one: which subjects cover all queries, from which place on, and whether one could be left out."""
    source, subjects = random.Random(7), [Column(f"c{i}", t.INT) for i in range(6)]
    found = set()
    for _ in range(200):
        predicates = [
            And(
                tuple(
                    Condition(s, random_regions(source))
                    for s in source.sample(subjects, source.randint(1, 3))
                )
            )
            for _ in range(source.randint(1, 5))
        ]
        ascs = built(*predicates).ascs
        order = source.sample(range(len(ascs)), source.randint(1, len(ascs)))
        counts = [n for n in range(1, len(order) + 1) if covered([ascs[i] for i in order[:n]])]
        assert VisitOrder(tuple(order)).cover(ascs) == min(counts, default=None)
        spare = any(covered([asc for asc in ascs if asc is not one]) for one in ascs)
        assert one_is_spare(ascs) == spare
        found.add((spare, bool(counts)))
    assert len(found) == 4


def test_nothing_to_compile() -> None:
    index = built()
    assert index.ascs == () and index.table.shape == (1, 0, 8)
    assert built(ALWAYS).ascs == ()


def test_only_plain_conjunctions() -> None:
    one, other = Condition(SIZE, Regions.points([1])), Condition(NAME, Regions.points(["a"]))
    assert is_conjunction(one) and is_conjunction(And((one, other))) and is_conjunction(ALWAYS)
    assert not is_conjunction(NEVER) and not is_conjunction(And((one, Or((one, other)))))
    with pytest.raises(AssertionError, match="plain conjunctions"):
        built(Or((one, other)))


def test_subjects_are_numbered_as_given() -> None:
    predicate = And((Condition(SIZE, Regions.points([1])), Condition(NAME, Regions.points(["a"]))))
    index = build_ascs([predicate], [17], subjects=[NAME])
    assert [asc.subject for asc in index.ascs] == [NAME, SIZE]
    assert index.numbers.tolist() == [17]


def test_what_explain_leaves_out_is_said() -> None:
    index = built(*(Condition(SIZE, Regions.points([i])) for i in range(100)))
    text = index.ascs[0].explain(max_regions=3, max_bits=8)
    assert text.splitlines()[0] == "ASC(size): 202 regions, used by 100 of 100 queries"
    assert "10000000... (1 of 100 ones)" in text
    assert text.splitlines()[-1] == "  and 199 more regions"
    assert f"{index.bytes:,} bytes" in index.explain()

"""What stays of a sequence when queries come and go."""

from __future__ import annotations

import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.index.rowwise.asc import AscIndex, build_ascs
from eddyline.model.asc import subject_text
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.order.carry_over import carry_over
from tests.unit.order.samples import index_of

KINDS = [pa.float64()] * 4


def used_only(*conditions: str) -> AscIndex:
    """Constructs of the subjects that queries use, by first use."""
    stream = Stream("D", pa.schema([(f"A{i}", kind) for i, kind in enumerate(KINDS, start=1)]))
    compiler = Compiler([stream])
    texts = [Query(str(i), f"SELECT * FROM D WHERE {where}") for i, where in enumerate(conditions)]
    return build_ascs([compiler.compile(query).predicate for query in texts], range(len(texts)))


def names(sequence: VisitOrder, index: AscIndex) -> list[str]:
    return [subject_text(index.ascs[subject].subject) for subject in sequence.subjects]


def test_unchanged() -> None:
    index = index_of(["A1 = 1 AND A2 = 2 AND A3 = 3 AND A4 = 4"], KINDS)
    sequence = VisitOrder((2, 0, 3, 1), (Arrow(2, 1, 3), Arrow(0, 0, 1)))
    assert carry_over(sequence, index.ascs, index.ascs) == sequence


def test_relative_order() -> None:
    old = used_only("A1 = 1 AND A2 = 2 AND A3 = 3")
    new = used_only("A3 = 3 AND A1 = 1")
    assert names(carry_over(VisitOrder((1, 2, 0)), old.ascs, new.ascs), new) == ["A3", "A1"]


def test_new_subject_that_is_needed() -> None:
    """A query on A4 alone: no tuple can be dropped before A4, so it comes as soon as it completes a cover set."""
    old = used_only("A1 = 1 AND A2 = 2 AND A3 = 3")
    new = used_only("A1 = 1 AND A2 = 2 AND A3 = 3", "A4 = 4")
    found = carry_over(VisitOrder((1, 0, 2)), old.ascs, new.ascs)
    assert names(found, new) == ["A2", "A4", "A1", "A3"]


def test_new_subjects_that_are_not() -> None:
    """Appended; the point leaves fewer queries than the range."""
    old = used_only("A1 = 1", "A1 = 2")
    new = used_only("A1 = 1 AND A2 < 2 AND A2 > 1 AND A3 <> 3", "A1 = 2 AND A4 = 5 AND A3 <> 4")
    found = carry_over(VisitOrder((0,)), old.ascs, new.ascs)
    assert names(found, new)[0] == "A1"
    assert sorted(names(found, new)) == ["A1", "A2", "A3", "A4"]


def test_arrows_of_equal_regions() -> None:
    """The interval (1, +inf) of A1 is cut by a new constant, {1} stays; A3 is gone."""
    old = used_only("A1 = 1 AND A2 = 2 AND A3 = 3")
    new = used_only("A2 = 2 AND A1 = 1", "A2 = 7 AND A1 = 5")
    arrows = (Arrow(0, 1, 1), Arrow(0, 2, 1), Arrow(1, 1, 0), Arrow(1, 0, 2))
    found = carry_over(VisitOrder((0, 1, 2), arrows), old.ascs, new.ascs)
    assert names(found, new) == ["A1", "A2"]
    assert found.arrows == (Arrow(1, 1, 0), Arrow(0, 1, 1))


def test_nothing_left() -> None:
    old, new = used_only("A1 = 1"), used_only("A2 = 2")
    assert names(carry_over(VisitOrder((0,)), old.ascs, new.ascs), new) == ["A2"]
    assert carry_over(VisitOrder((0,)), old.ascs, used_only().ascs) == VisitOrder(())
    assert names(carry_over(VisitOrder(()), used_only().ascs, new.ascs), new) == ["A2"]

"""Micro-arrows followed by the row-wise executor: the same matches, and the visits that statistics count."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Compiler, Query, Stream
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import build_ascs
from eddyline.model.sample import Sample
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.order.statistics import count_visits

NAMES = ("a", "b", "c", "d", "e")
STREAM = Stream("s", pa.schema([(name, pa.int64()) for name in NAMES]))


def executor(queries: int, seed: int, most: int = 3) -> Rowwise:
    """Conjunctions of a few ranges over five columns."""
    source, compiler = random.Random(seed), Compiler([STREAM])
    predicates = []
    for number in range(queries):
        chosen = source.sample(NAMES, source.randint(1, most))
        wheres = [f"{name} {source.choice(['<', '>', '='])} {source.randint(0, 19)}" for name in chosen]
        text = Query(str(number), f"SELECT * FROM s WHERE {' AND '.join(wheres)}")
        predicates.append(compiler.compile(text).predicate)
    return Rowwise(build_ascs(predicates, range(queries)))


def evaluation(rows: int, seed: int) -> Evaluation:
    source = np.random.default_rng(seed)
    columns = {name: pa.array(source.integers(0, 20, rows), mask=source.random(rows) < 0.1) for name in NAMES}
    return Evaluation(columns, rows=rows, time_zone="UTC")


def hybrid(rowwise: Rowwise, seed: int, arrows: int) -> VisitOrder:
    """A sequence in any order, with arrows from any regions to any subjects."""
    source, ascs = random.Random(seed), rowwise.index.ascs
    order = list(range(len(ascs)))
    source.shuffle(order)
    found = {}
    for _ in range(arrows):
        asc = source.choice(ascs)
        to = source.choice([number for number in order if number != asc.number])
        found[asc.number, source.randrange(asc.regions)] = to
    return VisitOrder(tuple(order), tuple(Arrow(*start, to) for start, to in found.items()))


@pytest.mark.parametrize("queries", [3, 40, 600])
@pytest.mark.parametrize("rows", [0, 1, 513, 3000])
@pytest.mark.parametrize("immediate", [True, False])
def test_visits_are_those_of_statistics(queries: int, rows: int, immediate: bool) -> None:
    rowwise, tuples = executor(queries, queries, 5 if queries < 10 else 3), evaluation(rows, rows)
    plain = rowwise.match(tuples, rows)
    sample = Sample(rowwise.index.ascs, rowwise.regions(tuples, rows))
    for arrows in (0, 1, 30):
        sequence = hybrid(rowwise, queries + arrows, arrows)
        found = rowwise.match(tuples, rows, sequence=sequence, immediate=immediate)
        assert found.row.tolist() == plain.row.tolist() and (found.grb == plain.grb).all()
        assert found.counters == count_visits(sample, sequence, immediate=immediate)


def test_rows_that_the_first_subject_drops_are_located_no_further() -> None:
    compiler = Compiler([STREAM])
    wheres = ("a = 3 AND b > 5", "a = 4 AND c > 5", "a = 4 AND d = 1")
    texts = [Query(str(i), f"SELECT * FROM s WHERE {where}") for i, where in enumerate(wheres)]
    rowwise = Rowwise(build_ascs([compiler.compile(text).predicate for text in texts], range(3)))
    tuples = evaluation(20_000, 4)
    sample = Sample(rowwise.index.ascs, rowwise.regions(tuples, 20_000))
    for sequence in (
        VisitOrder((0, 1, 2, 3), (Arrow(0, 3, 3), Arrow(3, 1, 2))),
        VisitOrder((2, 0, 1, 3), (Arrow(0, 1, 1),)),
    ):
        found = rowwise.match(tuples, 20_000, sequence=sequence)
        assert found.counters == count_visits(sample, sequence)
        assert found.pairs()[0].tolist() == rowwise.match(tuples, 20_000).pairs()[0].tolist()


def test_a_traced_tuple_follows_arrows() -> None:
    """Each tuple of a batch alone visits what it is traced to visit."""
    rowwise, tuples = executor(12, 5, 4), evaluation(60, 5)
    sequence = hybrid(rowwise, 5, 12)
    traces = [rowwise.trace(tuples, row, sequence=sequence) for row in range(60)]
    counters = rowwise.match(tuples, 60, sequence=sequence).counters
    assert counters.visited == sum(map(len, traces))
    arrows = {(arrow.subject, arrow.region): arrow.to for arrow in sequence.arrows}
    steps = [
        (visits[i].asc.number, visits[i].region, visits[i + 1].asc.number)
        for visits in traces
        for i in range(len(visits) - 1)
    ]
    followed = [to == arrows[subject, region] for subject, region, to in steps if (subject, region) in arrows]
    assert any(followed)


def test_some_subjects_of_a_sequence_with_arrows() -> None:
    """Arrows that lead out of the sequence are not followed: the GRBs are those of its subjects."""
    rowwise, tuples = executor(40, 8), evaluation(300, 8)
    with_arrows = rowwise.lineages(tuples, 300, VisitOrder((2, 0, 1), (Arrow(2, 0, 1), Arrow(0, 2, 1))))
    plain = rowwise.lineages(tuples, 300, VisitOrder((0, 1, 2)))
    assert with_arrows.row.tolist() == plain.row.tolist() and (with_arrows.grb == plain.grb).all()

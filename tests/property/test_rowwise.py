"""Random sets of conjunctions over columns of every type: row-wise, sliced and reference find the same matches."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import Compiler, Query, QueryError, reference
from eddyline.execute.parts import MaskPart
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.execute.sliced.sliced import Sliced
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import build_ascs, is_conjunction
from eddyline.index.sliced.sliced import build_sliced
from eddyline.model.matches import Part
from eddyline.model.query import NormalQuery
from eddyline.model.visit_order import VisitOrder
from eddyline.testing import literals
from eddyline.testing.queries import draw_statement
from eddyline.testing.rows import EVERYTHING, benign_rows, nasty_rows
from eddyline.testing.text import where_text

SIZES = (1, 511, 512, 513)
SEEDS = st.integers(0, 10**6)
Draw = Callable[[random.Random], str]
COLUMNS: dict[str, Draw] = {
    "b1": literals.boolean,
    "i8": literals.small,
    "i16": literals.small,
    "i32": literals.small,
    "j32": literals.small,
    "i64": literals.long,
    "f32": literals.fraction,
    "f64": literals.fraction,
    "d5": literals.decimal,
    "d18": literals.decimal,
    "d20": literals.decimal,
    "d38": literals.decimal,
    "s1": literals.text,
    "n1": literals.number_text,
    "x1": literals.binary,
    "day1": literals.date,
    "ts1": literals.timestamp,
    "ntz1": literals.wall_clock,
}
Pairs = set[tuple[int, int]]


def draw_condition(source: random.Random) -> str:
    """A comparison of a column with constants, or a small condition of any kind at all."""
    if source.random() < 0.2:
        return f"({where_text(draw_statement(source, size=4))})"
    name = source.choice(list(COLUMNS))
    draw = COLUMNS[name]
    match source.randrange(7):
        case 0:
            return f"{name} IS {source.choice(('', 'NOT '))}NULL"
        case 1:
            values = ", ".join(draw(source) for _ in range(source.randint(1, 5)))
            return f"{name} {source.choice(('', 'NOT '))}IN ({values})"
        case 2:
            return f"{name} BETWEEN {draw(source)} AND {draw(source)}"
        case _:
            return f"{name} {source.choice(('=', '<', '<=', '>', '>=', '<>', '<=>'))} {draw(source)}"


def draw_conjunctions(source: random.Random, count: int) -> tuple[list[Query], list[NormalQuery]]:
    """Queries that are plain conjunctions, as text and in normal form."""
    compiler = Compiler([EVERYTHING])
    texts, normals = [], []
    for number in range(count):
        where = " AND ".join(draw_condition(source) for _ in range(source.choice((1, 1, 2, 2, 3, 4))))
        query = Query(str(number), f"SELECT * FROM everything WHERE {where}")
        try:
            normal = compiler.compile(query)
        except QueryError:
            continue
        if is_conjunction(normal.predicate):
            texts.append(query)
            normals.append(normal)
    return texts, normals


def pairs(part: Part) -> Pairs:
    rows, numbers = part.pairs()
    found = set(zip(rows.tolist(), numbers.tolist(), strict=True))
    assert len(found) == len(rows), "no pair twice"
    return found


def judged(queries: list[Query], batch: pa.RecordBatch) -> Pairs:
    """What the reference says; query numbers are places in the list."""
    found = reference.match(queries, batch, streams=[EVERYTHING])
    return {(row, number) for number, query in enumerate(queries) for row in found.rows(query.id).tolist()}


def check(source: random.Random, count: int, batch: pa.RecordBatch, wanted: Pairs | None) -> None:
    queries, normals = draw_conjunctions(source, count)
    predicates = [normal.predicate for normal in normals]
    rowwise = Rowwise(build_ascs(predicates, range(len(predicates))))
    sliced = Sliced(build_sliced(predicates, range(len(predicates))))
    if wanted is not None:
        wanted |= judged(queries, batch)
    for size in SIZES:
        piece = batch.slice(0, size)
        columns = dict(zip(piece.schema.names, piece.columns, strict=True))
        order = list(range(len(rowwise.index.ascs)))
        source.shuffle(order)
        same = pairs(MaskPart(sliced.match(Evaluation(columns, rows=size, time_zone="UTC"), size)))
        for immediate in (True, False):
            evaluation = Evaluation(columns, rows=size, time_zone="UTC")
            found = rowwise.match(evaluation, size, sequence=VisitOrder(tuple(order)), immediate=immediate)
            assert pairs(found) == same
            assert found.counters.dropped == size - len({row for row, _ in same})
        if wanted is not None:
            assert same == {(row, number) for row, number in wanted if row < size}


@settings(max_examples=8)
@given(SEEDS, st.booleans())
def test_same_matches_as_the_reference(seed: int, nasty: bool) -> None:
    batch = (nasty_rows if nasty else benign_rows)(seed, max(SIZES))
    check(random.Random(seed), 12, batch, set())


@pytest.mark.slow
@settings(max_examples=25)
@given(SEEDS, st.sampled_from([1, 3, 200]))
def test_same_matches_as_sliced(seed: int, count: int) -> None:
    check(random.Random(seed), count, nasty_rows(seed, max(SIZES)), None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_many_queries(seed: int) -> None:
    check(random.Random(seed), 2500, nasty_rows(seed, max(SIZES)), None)

"""Samples for tests of orders: from conditions in SQL and rows, or drawn at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.execute.locating.locate import locator
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import AscIndex, build_ascs
from eddyline.model.expression import Column
from eddyline.model.sample import Sample

Row = tuple[object, ...]


def index_of(conditions: Sequence[str], kinds: Sequence[pa.DataType]) -> AscIndex:
    """Constructs of queries over attributes A1, A2 and so on, all of them subjects; "" is a query without condition."""
    stream = Stream("D", pa.schema([(f"A{i}", kind) for i, kind in enumerate(kinds, start=1)]))
    compiler = Compiler([stream])
    texts = ["SELECT * FROM D" + (f" WHERE {where}" if where else "") for where in conditions]
    predicates = [compiler.compile(Query(f"q{i}", text)).predicate for i, text in enumerate(texts, start=1)]
    subjects = [Column(name, kind) for name, kind in stream.types.items()]
    return build_ascs(predicates, range(1, len(predicates) + 1), subjects=subjects)


def batch_of(rows: Sequence[Row], kinds: Sequence[pa.DataType]) -> Evaluation:
    columns = {f"A{i}": pa.array([row[i - 1] for row in rows], kind) for i, kind in enumerate(kinds, start=1)}
    return Evaluation(columns, rows=len(rows), time_zone="UTC")


def sample_of(index: AscIndex, evaluation: Evaluation, rows: int) -> Sample:
    regions = np.empty((len(index.ascs), rows), np.uint32)
    for ids, cutting in zip(regions, index.cuttings, strict=True):
        locator(cutting).locate(evaluation.values(cutting.subject), ids)
    return Sample(index.ascs, regions.astype(np.int32))


def sample_from(
    conditions: Sequence[str], rows: Sequence[Row], kinds: Sequence[pa.DataType] | None = None
) -> Sample:
    """The sample of rows under some queries; attributes are doubles unless said otherwise."""
    kinds = kinds or [pa.float64()] * (len(rows[0]) if rows else 3)
    return sample_of(index_of(conditions, kinds), batch_of(rows, kinds), len(rows))


def draw_case(
    seed: int, *, subjects: int = 5, queries: int = 8, tuples: int = 40
) -> tuple[AscIndex, Evaluation]:
    """Random conjunctions of one to three conditions over whole numbers 0 to 9, NULL now and then."""
    source = random.Random(seed)
    conditions = []
    for _ in range(queries):
        used = source.sample(range(1, subjects + 1), source.randint(1, min(3, subjects)))
        conditions.append(
            " AND ".join(f"A{i} {source.choice(('<', '>', '=', '<='))} {source.randrange(10)}" for i in used)
        )
    kinds = [pa.int32()] * subjects
    values = [*range(10), None]
    rows = [tuple(source.choice(values) for _ in kinds) for _ in range(tuples)]
    return index_of(conditions, kinds), batch_of(rows, kinds)


def draw_sample(seed: int, *, subjects: int = 5, queries: int = 8, tuples: int = 40) -> Sample:
    index, evaluation = draw_case(seed, subjects=subjects, queries=queries, tuples=tuples)
    return sample_of(index, evaluation, tuples)

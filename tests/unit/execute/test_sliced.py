"""The sliced executor's own choices: none of them changes a match."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.config import IndexSettings

NUMBERS = Stream("numbers", pa.schema([(f"a{i}", pa.int32()) for i in range(6)]))
OPERATORS = ("<", "<=", ">", ">=", "=", "<>")


def texts(queries: int, most: int = 6) -> dict[str, str]:
    rng = np.random.default_rng(queries)
    found = {}
    for number in range(queries):
        columns = rng.permutation(6)[: rng.integers(1, most + 1)]
        conditions = [f"a{c} {OPERATORS[rng.integers(6)]} {rng.integers(0, 40)}" for c in columns]
        found[str(number)] = f"SELECT * FROM numbers WHERE {' AND '.join(conditions)}"
    return found


def batch(rows: int) -> pa.RecordBatch:
    rng = np.random.default_rng(rows)
    return pa.record_batch({f"a{i}": rng.integers(-3, 43, rows).astype(np.int32) for i in range(6)})


@pytest.mark.parametrize("direct", ["auto", "always", "never"])
@pytest.mark.parametrize("rows", [5, 1300])
def test_results_that_go_past_the_caches_are_the_same(
    rows: int, direct: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = IndexSettings(executor="sliced", direct=direct)
    queries = QuerySet.build(texts(70), streams=[NUMBERS], settings=settings)
    expected = queries.match(batch(rows))
    monkeypatch.setattr("eddyline.execute.sliced.sliced.STREAMED", -1)
    monkeypatch.setattr("eddyline.execute.pool.SMALL", 0)
    assert queries.match(batch(rows)).pairs() == expected.pairs()
    assert queries.match(batch(rows), threads=2).pairs() == expected.pairs()


def test_conditions_that_few_share_need_no_mask() -> None:
    settings = IndexSettings(executor="sliced")
    alone = QuerySet.build(
        {"q": "SELECT * FROM numbers WHERE a0 < 5 AND a1 > 7"}, streams=[NUMBERS], settings=settings
    )
    repeated = QuerySet.build(
        {str(i): f"SELECT * FROM numbers WHERE a0 < 5 AND a1 > 7 AND a2 < {i % 2}" for i in range(9)},
        streams=[NUMBERS],
        settings=settings,
    )
    counts = [
        len(q.placed()[0].segment.indexes["unkeyed"].sliced.program.direct.rows) for q in (alone, repeated)
    ]
    assert counts == [2, 0]


@pytest.mark.parametrize("direct", ["auto", "always", "never"])
@pytest.mark.parametrize("rows", [511, 512, 1300])
def test_counting_counts_what_matching_finds(rows: int, direct: str) -> None:
    """Plain conjunctions, trees, formulas that differ in a constant, and a query without a condition."""
    trees = {f"tree {i}": f"SELECT * FROM numbers WHERE a0 < {i} OR a1 > {i} AND a2 < {i}" for i in range(9)}
    formulas = {
        f"formula {i}": f"SELECT * FROM numbers WHERE a0 * {i / 8}D > a1 AND a2 < {i}" for i in range(40)
    }
    every = {**texts(200), **trees, **formulas, "all": "SELECT * FROM numbers"}
    settings = IndexSettings(executor="sliced", direct=direct)
    queries = QuerySet.build(every, streams=[NUMBERS], settings=settings)
    assert queries.count(batch(rows)) == queries.match(batch(rows)).counts()

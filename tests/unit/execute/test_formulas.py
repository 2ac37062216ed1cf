"""Comparisons of sums and products of doubles, evaluated all together, are what the evaluator makes of them one by one."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.execute.sliced import formulas

STREAM = Stream(
    "quotes",
    pa.schema([("a", pa.float64()), ("b", pa.float64()), ("n", pa.int64()), ("f", pa.float32())]),
)
SIDES = [
    "a * 1.5D",
    "2D - b",
    "a * b - n",
    "(a + b) * (a - b)",
    "a + (b * (n - (f + 0.5D)))",
    "a * double('NaN')",
    "b * double('Infinity')",
]
OPERATORS = ["<", "<=", ">", ">=", "=", "<>"]
QUERIES = {
    f"{left} {operator} {right}": f"SELECT * FROM quotes WHERE {left} {operator} {right}"
    for left, operator, right in product(SIDES, OPERATORS, ["b", "n", "a * 0.25D"])
} | {
    "nulls": "SELECT * FROM quotes WHERE (a * 3D > b) IS NULL",
    "not true": "SELECT * FROM quotes WHERE (a * 4D > b) IS NOT TRUE",
    "both": "SELECT * FROM quotes WHERE a * 5D > b AND (n = 1 OR b * 2D = a)",
}


@pytest.fixture
def batch() -> pa.RecordBatch:
    """Every special value beside every other, NULLs included, and some rows more than fit into one block."""
    special = [0.0, -0.0, 1.0, -2.5, math.nan, math.inf, -math.inf, 1e308, None]
    pairs = list(product(special, special))
    rng = np.random.default_rng(3)
    a = [x for x, _ in pairs] + np.round(rng.normal(0, 2, 1_000), 1).tolist()
    b = [y for _, y in pairs] + np.round(rng.normal(0, 2, 1_000), 1).tolist()
    n = [None if x == 3 else int(x) for x in rng.integers(-3, 4, len(a))]
    return pa.record_batch(
        [
            pa.array(a),
            pa.array(b),
            pa.array(n, pa.int64()),
            pa.array(rng.integers(0, 3, len(a)), pa.float32()),
        ],
        schema=STREAM.schema,
    )


def _rows(batch: pa.RecordBatch) -> tuple[dict[str, list[int]], int]:
    """The rows of every query, and how many subjects were formulas."""
    queries = QuerySet.build(QUERIES, streams=[STREAM])
    found = queries.match(batch)
    served = sum(len(executor.unkeyed.sliced._formulas.rows) for executor in queries.executors())
    return {id: found.rows(id).tolist() for id in QUERIES}, served


@pytest.mark.parametrize(
    "part", [slice(0, None), slice(5, 700), slice(81, None)], ids=["all", "slice", "some nulls"]
)
def test_formulas_give_what_the_evaluator_gives(
    batch: pa.RecordBatch, part: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = batch.slice(part.start, (part.stop or batch.num_rows) - part.start)
    together, served = _rows(rows)
    assert served > 60
    monkeypatch.setattr(formulas, "FEWEST", 1_000_000)
    one_by_one, none = _rows(rows)
    assert none == 0
    assert together == one_by_one


def test_what_can_fail_is_left_to_the_evaluator() -> None:
    texts = ["a / b > 1D", "n * 2 > n + 1", "CAST(a AS INT) > n", "abs(a) > b", "a > b"]
    queries = QuerySet.build({text: f"SELECT * FROM quotes WHERE {text}" for text in texts}, streams=[STREAM])
    assert not queries.executors()[0].unkeyed.sliced._formulas.rows

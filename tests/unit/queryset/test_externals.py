"""Calls that only Spark can compute are subjects like others, once somebody gives their values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.errors import EddylineError
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.failures import Failures, fallible
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, externals_of, own_columns_of
from eddyline.sql.spark_only.spark_text import SparkText

STREAM = Stream("s", pa.schema([("a", pa.string()), ("n", pa.int32()), ("l", pa.list_(pa.int32()))]))
BATCH = pa.record_batch({"a": ["x", "yy", None], "n": pa.array([1, 2, 3], pa.int32())})
LENGTH = Call("spark:octet_length", (Column("a", t.STRING),), t.INT)


class Sizes:
    """Knows one function, and takes every other piece for a condition."""

    functions = ("octet_length", "exists")
    judges = True

    def call(self, name: str, arguments: Sequence[Expression]) -> t.DataType | None:
        return t.INT if name == "octet_length" else None

    def expression(self, piece: SparkText) -> t.DataType:
        return t.BOOLEAN


QUERIES = {
    "long": "SELECT * FROM s WHERE octet_length(a) > 1",
    "both": "SELECT * FROM s WHERE octet_length(a) + n < 4 AND n >= 1",
    "text": "SELECT * FROM s WHERE n < 3 AND (exists(l, x -> x > n) OR a IS NULL)",
    "ours": "SELECT * FROM s WHERE n = 3",
}


@pytest.fixture
def queries() -> QuerySet:
    return QuerySet.build(QUERIES, streams=[STREAM], resolver=Sizes())


def known(queries: QuerySet) -> dict[Call, pa.Array]:
    values = {
        "spark:octet_length": pa.array([1, 2, None], pa.int32()),
        "spark:<text>": pa.array([True, False, None]),
    }
    return {call: values[call.function] for call in queries.externals()}


def test_what_is_needed(queries: QuerySet) -> None:
    assert sorted(call.function for call in queries.externals()) == ["spark:<text>", "spark:octet_length"]
    assert sorted(queries.columns_read()) == ["a", "n"], "`l` is read by Spark alone"


def test_matches(queries: QuerySet, tmp_path: Path) -> None:
    expected = {"long": [1], "both": [0], "text": [0], "ours": [2]}
    queries.save(tmp_path / "set")
    for each in (queries, QuerySet.load(tmp_path / "set")):
        found = each.match(BATCH, known=known(each))
        assert {id: found.rows(id).tolist() for id in QUERIES} == expected
        assert each.totals(BATCH, known=known(each)).tolist() == [1, 1, 1, 1]
        blocks = list(each.blocks(BATCH, rows=2, known=known(each)))
        assert {id: [*blocks[0].rows(id), *blocks[1].rows(id)] for id in QUERIES} == expected


def test_without_values(queries: QuerySet) -> None:
    with pytest.raises(EddylineError, match="only Spark can compute") as caught:
        queries.match(BATCH)
    assert "Spark runtime" in str(caught.value.hint)


def test_constants_inside_of_pieces_make_other_pieces() -> None:
    """Queries of one shape share a plan only where their constants are outside of what Spark computes."""
    texts = {f"q{n}": f"SELECT * FROM s WHERE exists(l, x -> x > {n}) AND n > {n}" for n in range(5)}
    queries = QuerySet.build(texts, streams=[STREAM], resolver=Sizes())
    assert len(queries.externals()) == 5
    texts = {f"q{n}": f"SELECT * FROM s WHERE octet_length(a) > {n} AND n > {n}" for n in range(5)}
    assert len(QuerySet.build(texts, streams=[STREAM], resolver=Sizes()).externals()) == 1


def test_failures_around_them() -> None:
    quotient = Call("mod", (Literal(1, t.INT), LENGTH), t.INT)
    assert fallible(quotient) == (quotient,) and fallible(LENGTH) == ()
    failures = Failures()
    values = {LENGTH: pa.array([0, 1, None], pa.int32())}
    found = Evaluation(BATCH, failures=failures, known=values).values(quotient)
    assert found.to_pylist() == [None, 0, None] and failures.total(quotient) == 1


def test_parts() -> None:
    total = Call("add", (LENGTH, Column("n", t.INT)), t.INT)
    outer = Call("spark:bin", (total,), t.STRING)
    assert externals_of(total) == (LENGTH,) and externals_of(outer) == (outer,)
    assert own_columns_of(total) == {"n"} and own_columns_of(outer) == frozenset()

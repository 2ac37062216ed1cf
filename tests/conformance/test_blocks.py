"""Matches piece by piece: together they are the matches of the whole batch, whoever serves the queries."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.queryset import QuerySet
from eddyline.testing.rows import EVERYTHING
from tests.conformance.matrix import block, built, conjunctions, in_turn


def pieces(queryset: QuerySet, batch: pa.RecordBatch, rows: int) -> pa.Table:
    found = list(queryset.blocks(batch, rows=rows))
    assert [row for piece in found for row in piece.row_range] == list(range(batch.num_rows))
    return pa.concat_tables([piece.pairs() for piece in found])


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "source"), in_turn([block, conjunctions], 4))
def test_blocks_are_the_batch(configuration: str, source) -> None:
    queries, batch, _ = source(4)
    queries = dict(list(queries.items())[:40])
    queryset = built(queries, configuration)
    half = list(queries)[: len(queries) // 2]
    fewer = queryset.remove(half).add({f"late {id}": queries[id] for id in half[:4]})
    repeated = pa.concat_batches([batch] * 9)
    for version, rows in ((queryset, 200), (fewer, 513), (fewer, 1), (fewer, 10_000)):
        part = repeated.slice(50, 8) if rows == 1 else repeated
        assert pieces(version, part, rows) == version.match(part).pairs().combine_chunks()


def test_one_piece_has_the_rows_of_the_batch() -> None:
    queries = {
        "low": "SELECT * FROM everything WHERE i32 < 3",
        "gone": "SELECT * FROM everything WHERE i32 < 4",
    }
    queryset = QuerySet.build(queries, streams=[EVERYTHING]).remove(["gone"])
    batch = pa.record_batch({"i32": pa.array([1, 5, 2, 9, 0], pa.int32())})
    first, second, third = queryset.blocks(batch, rows=2)
    assert [piece.rows("low").tolist() for piece in (first, second, third)] == [[0], [2], [4]]
    assert second.query_lists().to_pylist() == [["low"], []]
    assert second.pairs().to_pydict() == {"row": [2], "query": ["low"]}
    assert (second.first, second.row_range, third.counts()) == (2, range(2, 4), {"low": 1})


def test_no_rows_no_pieces() -> None:
    queryset = QuerySet.build({"q": "SELECT * FROM everything WHERE i32 < 3"}, streams=[EVERYTHING])
    assert list(queryset.blocks(pa.record_batch({"i32": pa.array([], pa.int32())}))) == []

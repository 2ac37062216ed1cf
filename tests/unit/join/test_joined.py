"""The order of results, and their columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.join.joined import ordered
from eddyline.join.payload import Chunk, PayloadStore, chunk_of, gather
from eddyline.join.probe import Found
from eddyline.model.catalog import Stream


@pytest.mark.parametrize("far", [0, 2**61])  # far positions do not fit into one word with the rest
def test_pairs_come_by_row_partner_and_query_each_once(far: int) -> None:
    # Roles 0 and 1 are the sides of query 2, roles 3 and 4 those of query 5.
    query, side = np.array([2, 2, -1, 5, 5], np.int32), np.array([0, 1, 0, 0, 1], np.int8)
    rows, roles = np.array([2, 1, 1, 1, 1, 1], np.int32), np.array([4, 1, 4, 1, 0, 1], np.int32)
    found = Found(rows, np.array([0, 9 + far, 3, 3, 3, 3]), roles)
    columns = [column.tolist() for column in ordered(found, query, side, base=100)]
    assert list(zip(*columns, strict=True)) == [
        (1, 2, 101, 3),
        (1, 2, 3, 101),
        (1, 5, 101, 3),
        (1, 2, 101, 9 + far),
        (2, 5, 102, 0),
    ]


STREAM = Stream("s", pa.schema([("x", pa.int64()), ("late", pa.string()), ("odd", pa.time32("s"))]))


def test_columns_are_gathered_from_chunks_in_any_order() -> None:
    first = chunk_of({"x": pa.array([10, 30])}, np.array([1, 3]))
    second = chunk_of({"x": pa.array([40, 50]), "late": pa.array(["d", "e"])}, np.array([4, 5]))
    assert first.positions is not None and second.positions is None
    x, late = gather(STREAM, [first, second], ["x", "late"], np.array([5, 1, 4, 3, 5]))
    assert x.to_pylist() == [50, 10, 40, 30, 50]
    assert late.to_pylist() == ["e", None, "d", None, "e"]


def test_nothing_is_gathered_in_the_right_types() -> None:
    x, odd = gather(STREAM, [], ["x", "odd"], np.empty(0, np.int64))
    assert (x.type, odd.type, len(x), len(odd)) == (pa.int64(), pa.time32("s"), 0, 0)


def test_small_chunks_become_one_without_what_nobody_has() -> None:
    store = PayloadStore()
    for position in range(4):
        store.append(
            STREAM, Chunk(position, 1, None, {"x": pa.array([position])}), lambda a, b: np.array([1, 3])
        )
    assert [len(chunk) for chunk in store.chunks] == [2]
    assert gather(STREAM, store.chunks, ["x"], np.array([3, 1]))[0].to_pylist() == [3, 1]


def test_rows_that_nobody_has_any_more_are_forgotten_once_they_are_many() -> None:
    store = PayloadStore()
    store.chunks = [Chunk(0, 10_000, None, {"x": pa.array(np.arange(10_000))})]
    store.compact(STREAM, lambda a, b: np.array([7, 9_000]), tuples=6_000)
    assert len(store.chunks[0]) == 10_000
    store.compact(STREAM, lambda a, b: np.array([7, 9_000]), tuples=2)
    assert len(store.chunks[0]) == 2
    assert gather(STREAM, store.chunks, ["x"], np.array([9_000]))[0].to_pylist() == [9_000]

"""Ranges as differences of edges: the same masks, in all widths of ids, with NULL and NaN."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.config import IndexSettings
from eddyline.index.sliced.edges import split_edges
from tests.conftest import some

SLICED = IndexSettings(executor="sliced", direct="never", rowwise_bytes=0)


def test_edges_and_differences() -> None:
    ranges = [(0, low, high, 10 * low + high) for low in range(4) for high in range(low, 4)]
    edges, plain, used = split_edges(ranges, 100, np.uint8)
    assert plain == [] and used == 100  # every edge is a condition by itself
    assert edges.tops.tolist() == [0, 1, 2, 3] and edges.slots.tolist() == [0, 1, 2, 3]
    found = sorted(zip(edges.targets.tolist(), edges.uppers.tolist(), edges.lowers.tolist(), strict=True))
    assert found == [(11, 1, 0), (12, 2, 0), (13, 3, 0), (22, 2, 1), (23, 3, 1), (33, 3, 2)]


def test_few_ranges_stay_ranges() -> None:
    ranges = [(0, 1, 2, 0), (0, 2, 2, 1)]
    edges, plain, used = split_edges(ranges, 2, np.uint8)
    assert plain == ranges and used == 2 and len(edges.rows) == len(edges.targets) == 0


@pytest.mark.parametrize("constants", some([30, 200, 40_000], quick=(30, 40_000)))
@pytest.mark.parametrize("kind", some([pa.int32(), pa.float64()], quick=[pa.int32()]))
def test_matches_are_those_of_the_reference(constants: int, kind: pa.DataType) -> None:
    choice = random.Random(constants)
    points = [choice.randrange(constants) * (1 if pa.types.is_integer(kind) else 0.5) for _ in range(300)]
    texts = {
        f"{operator}{point}": f"SELECT * FROM s WHERE a {operator} {point}"
        for point in points
        for operator in ("<", "<=", ">", ">=", "=")
    }
    stream = ed.Stream("s", pa.schema([("a", kind)]))
    values: list[object] = [choice.choice(points) + choice.choice((-1, 0, 1)) for _ in range(700)]
    values[::50] = [None] * 14
    if not pa.types.is_integer(kind):
        values[7::90] = [float("nan")] * len(values[7::90])
    batch = pa.record_batch({"a": pa.array(values, kind)})
    queries = ed.QuerySet.build(texts, streams=[stream], settings=SLICED)
    used = sum(
        len(shelf.edges.targets)
        for e in queries.placed()
        for shelf in e.segment.indexes["unkeyed"].sliced.shelves
    )
    assert used > 0
    assert queries.match(batch).counts() == ed.reference.match(texts, batch, streams=[stream]).counts()

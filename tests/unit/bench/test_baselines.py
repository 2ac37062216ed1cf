"""Every index of other systems finds what the reference finds, and is built as its system builds it."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from bench.baselines import INDEXES
from bench.baselines.conjunctions import OPERATORS, Conjunction
from bench.baselines.red_black_tree import NIL, RedBlackTree
from bench.workloads.predicates import All, Compare, sql
from eddyline import Query, Stream, reference

SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.int64()), ("c", pa.float64()), ("d", pa.int32())])
VALUES = {"a": range(10), "b": range(-3, 3), "c": (0.25, 0.5, 1.0, 7.5), "d": range(1000)}


def conjunctions(seed: int, count: int) -> list[Conjunction]:
    """Comparisons of every kind; some queries have none, or several on one attribute."""
    source = random.Random(seed)
    return [
        tuple(
            Compare(name, source.choice(OPERATORS), source.choice(VALUES[name]))
            for name in source.choices(list(VALUES), k=source.randrange(5))
        )
        for _ in range(count)
    ]


def batch(seed: int, rows: int) -> pa.RecordBatch:
    """Values on, between and beyond the constants, a tenth of them NULL."""
    source = random.Random(seed)

    def value(name: str) -> float | None:
        drawn = source.choice(VALUES[name])
        return None if source.random() < 0.1 else drawn + source.choice((-1, 0, 0, 0, 1))

    return pa.record_batch([[value(name) for _ in range(rows)] for name in SCHEMA.names], schema=SCHEMA)


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize(("seed", "count"), [(1, 5), (2, 70), (3, 150), (4, 0)])
def test_same_pairs_as_the_reference(name: str, seed: int, count: int) -> None:
    queries, tuples = conjunctions(seed, count), batch(seed, 120)
    rows, numbers = INDEXES[name](queries).match(tuples)
    texts = [
        Query(str(i), f"SELECT * FROM t{' WHERE ' + sql(All(query)) if query else ''}")
        for i, query in enumerate(queries)
    ]
    judged = reference.match(texts, tuples, streams=[Stream("t", SCHEMA)])
    wanted = [(row, i) for i in range(count) for row in judged.rows(str(i)).tolist()]
    assert list(zip(rows.tolist(), numbers.tolist(), strict=True)) == sorted(wanted)


@pytest.mark.parametrize("name", INDEXES)
def test_a_batch_may_be_empty(name: str) -> None:
    rows, numbers = INDEXES[name](conjunctions(5, 20)).match(batch(5, 0))
    assert len(rows) == len(numbers) == 0


@pytest.mark.parametrize("name", [name for name in INDEXES if name != "ASC"])
def test_what_is_not_a_comparison_of_numbers_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="only numbers are compared here"):
        INDEXES[name]([(Compare("a", "=", "x"),)])


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_a_red_black_tree_keeps_its_invariants(order: str) -> None:
    keys = list(range(200))
    if order == "descending":
        keys.reverse()
    if order == "shuffled":
        random.Random(1).shuffle(keys)
    tree = RedBlackTree()
    nodes = [tree.insert(key) for key in keys]
    assert nodes == [tree.insert(key) for key in keys], "a key is inserted once"
    assert not tree.red[tree.root]
    assert _in_order(tree, tree.root) == sorted(keys)
    _black_height(tree, tree.root)


def _in_order(tree: RedBlackTree, node: int) -> list[float]:
    if node == NIL:
        return []
    return [*_in_order(tree, tree.left[node]), tree.keys[node], *_in_order(tree, tree.right[node])]


def _black_height(tree: RedBlackTree, node: int) -> int:
    if node == NIL:
        return 1
    for child in (tree.left[node], tree.right[node]):
        assert not (tree.red[node] and child != NIL and tree.red[child])
    heights = {_black_height(tree, tree.left[node]), _black_height(tree, tree.right[node])}
    assert len(heights) == 1
    return heights.pop() + (not tree.red[node])


def test_bitmaps_have_a_bit_for_each_query() -> None:
    queries = [(Compare("a", ">", i),) for i in range(70)]
    masks = INDEXES["grouped filter"](queries).masks(pa.record_batch([pa.array([3], pa.int32())], ["a"]))
    assert masks.dtype == np.uint64 and masks.tolist() == [[0b111, 0]]

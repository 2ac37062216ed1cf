"""Trees and hash tables as arrays, one after the other for all attributes, so that one kernel sees them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.baselines.kernels import EMPTY, place_of


@dataclass(frozen=True)
class Table:
    """Nodes or slots: constant, left and right child (-1: none), and the list of queries that stands there."""

    constants: np.ndarray
    left: np.ndarray
    right: np.ndarray
    queries: list[np.ndarray]


@dataclass(frozen=True)
class Joined:
    """Tables behind one another: that of attribute a is starts[a]:starts[a + 1], queries of node n firsts[n]:firsts[n + 1].

    Children are counted from the start of their own table.
    """

    starts: np.ndarray
    constants: np.ndarray
    left: np.ndarray
    right: np.ndarray
    firsts: np.ndarray
    queries: np.ndarray


def join(tables: Sequence[Table]) -> Joined:
    """All tables as one."""
    queries = [each for table in tables for each in table.queries]
    none = np.empty(0, np.int64)
    return Joined(
        np.cumsum([0, *(len(table.constants) for table in tables)]),
        np.concatenate([np.empty(0), *(table.constants for table in tables)]),
        np.concatenate([none, *(table.left for table in tables)]),
        np.concatenate([none, *(table.right for table in tables)]),
        np.cumsum([0, *map(len, queries)]),
        np.concatenate([none, *queries]),
    )


def lists(constants: np.ndarray, queries: np.ndarray) -> Table:
    """The distinct constants, ascending, each with its queries; no children."""
    distinct, first = np.unique(constants, return_index=True)
    none = np.full(len(distinct), -1)
    return Table(distinct, none, none, np.split(queries, first[1:]) if len(distinct) else [])


def tree(constants: np.ndarray, queries: np.ndarray, *, descending: bool = False) -> Table:
    """A balanced search tree, its root at 0; descending: the larger constants stand on the left."""
    sorted_ = lists(constants, queries)
    order = range(len(sorted_.constants))[::-1] if descending else range(len(sorted_.constants))
    nodes: list[int] = []
    left, right = np.full(len(order), -1), np.full(len(order), -1)

    def grow(places: Sequence[int]) -> int:
        if not places:
            return -1
        node, middle = len(nodes), len(places) // 2
        nodes.append(places[middle])
        left[node] = grow(places[:middle])
        right[node] = grow(places[middle + 1 :])
        return node

    grow(order)
    return Table(sorted_.constants[nodes], left, right, [sorted_.queries[place] for place in nodes])


def hashed(constants: np.ndarray, queries: np.ndarray) -> Table:
    """A hash table with open addressing, at most half full; its size is a power of two."""
    sorted_ = lists(constants, queries)
    size = 1 << (2 * len(sorted_.constants)).bit_length() if len(sorted_.constants) else 0
    table = np.full(size, EMPTY)
    filled = [np.empty(0, np.int64)] * size
    for constant, own in zip(sorted_.constants, sorted_.queries, strict=True):
        place = place_of(constant, size)
        while table[place] != EMPTY:
            place = (place + 1) & (size - 1)
        table[place], filled[place] = constant, own
    none = np.full(size, -1)
    return Table(table, none, none, filled)

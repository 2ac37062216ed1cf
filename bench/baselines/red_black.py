"""PSoup's index: per attribute one red-black tree of constants; each node lists queries by operator.

    a > 3, a < 5, a = 5            5 {=: q2, <: q1}
                                  /
                           3 {>: q0}

A search goes down to its value; where a subtree beside the way holds `<`, `>` or `<>` that may be true of the value, it
is walked too. So equalities cost the depth, and a tree with both `<` and `>` is visited node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.baselines import kernels
from bench.baselines.conjunctions import AT_LEAST, AT_MOST, GREATER, LESS, UNEQUAL, Conjunction, Counting
from bench.baselines.kernels import ABOVE, BELOW
from bench.baselines.red_black_tree import NIL, RedBlackTree

_MAY_HOLD = {LESS: BELOW, AT_MOST: BELOW, GREATER: ABOVE, AT_LEAST: ABOVE, UNEQUAL: BELOW | ABOVE}


class RedBlackTrees(Counting):
    """The trees of all attributes; queries are inserted one after the other."""

    def __init__(self, queries: Sequence[Conjunction]) -> None:
        super().__init__(queries)
        p = self.predicates
        self.trees = [RedBlackTree() for _ in p.attributes]
        listed: list[dict[int, list[list[int]]]] = [{} for _ in p.attributes]
        for attribute, operator, constant, query in zip(
            p.attribute.tolist(), p.operator.tolist(), p.constant.tolist(), p.query.tolist(), strict=True
        ):
            node = self.trees[attribute].insert(constant)
            listed[attribute].setdefault(node, [[] for _ in range(6)])[operator].append(query)
        self._join(listed)

    def _join(self, listed: list[dict[int, list[list[int]]]]) -> None:
        sizes = [len(tree.keys) for tree in self.trees]
        self._starts = np.cumsum([0, *sizes])
        self._roots = np.array([tree.root for tree in self.trees], np.int64)
        self._keys = np.array([key for tree in self.trees for key in tree.keys], np.float64)
        self._left = np.array([node for tree in self.trees for node in tree.left], np.int64)
        self._right = np.array([node for tree in self.trees for node in tree.right], np.int64)
        lists = [
            own
            for tree, of in zip(self.trees, listed, strict=True)
            for i in range(len(tree.keys))
            for own in of[i]
        ]
        self._firsts = np.cumsum([0, *map(len, lists)])
        self._queries = np.array([query for own in lists for query in own], np.int64)
        flags = [flag for tree, of in zip(self.trees, listed, strict=True) for flag in _flags(tree, of)]
        self._flags = np.array(flags, np.int64)

    def _fill(self, *arrays: Any) -> None:
        kernels.search_trees(
            self._starts, self._roots, self._keys, self._left, self._right, self._flags, self._firsts,
            self._queries, *arrays,
        )  # fmt: skip


def _flags(tree: RedBlackTree, listed: dict[int, list[list[int]]]) -> list[int]:
    """Per node what its subtree may hold beside the way of a search."""
    flags = [0] * len(tree.keys)

    def visit(node: int) -> int:
        if node == NIL:
            return 0
        own = sum({bit for op, bits in _MAY_HOLD.items() if listed[node][op] for bit in (1, 2) if bits & bit})
        flags[node] = own | visit(tree.left[node]) | visit(tree.right[node])
        return flags[node]

    visit(tree.root)
    return flags

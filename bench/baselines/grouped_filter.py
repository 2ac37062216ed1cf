"""CACQ's grouped filter: per attribute a greater-than tree, a less-than tree, an equality hash and an inequality hash.

    a > 3, a >= 5, a = 5, a <> 7         greater-than tree  3, 5      equality hash  5: {a >= 5, a = 5}     inequality hash  7

A probe walks the trees in order as long as predicates hold, looks its value up in the equality hash, and takes all of
the inequality hash but its own value. `>=` and `<=` stand in a tree and in the equality hash, as the paper says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.baselines import kernels
from bench.baselines.conjunctions import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    GREATER,
    LESS,
    UNEQUAL,
    Conjunction,
    Counting,
)
from bench.baselines.tables import Joined, hashed, join, lists, tree


class GroupedFilter(Counting):
    """The filters of all attributes, probed one after the other."""

    def __init__(self, queries: Sequence[Conjunction]) -> None:
        super().__init__(queries)
        attributes = range(len(self.predicates.attributes))
        of = self.predicates.of
        self._greater = join([tree(*of(a, GREATER, AT_LEAST)) for a in attributes])
        self._less = join([tree(*of(a, LESS, AT_MOST), descending=True) for a in attributes])
        self._equal = join([hashed(*of(a, EQUAL, AT_LEAST, AT_MOST)) for a in attributes])
        self._unequal = join([lists(*of(a, UNEQUAL)) for a in attributes])

    def _fill(self, *arrays: Any) -> None:
        tables = map(_split, (self._greater, self._less, self._equal, self._unequal))
        kernels.probe_filters(*tables, *arrays)


def _split(joined: Joined) -> tuple[np.ndarray, ...]:
    return joined.starts, joined.constants, joined.left, joined.right, joined.firsts, joined.queries

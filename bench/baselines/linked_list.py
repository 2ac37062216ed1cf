"""A linked list of all predicates, walked from end to end for every tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.baselines import kernels
from bench.baselines.conjunctions import Conjunction, Counting


class LinkedList(Counting):
    """Nothing is shared: as many comparisons a tuple as there are predicates."""

    def __init__(self, queries: Sequence[Conjunction]) -> None:
        super().__init__(queries)
        count = len(self.predicates.query)
        self._next = np.append(np.arange(1, count), -1)[:count]

    def _fill(self, *arrays: Any) -> None:
        p = self.predicates
        kernels.walk_list(self._next, p.attribute, p.operator, p.constant, p.query, *arrays)

"""`boolean`: trees of AND, OR and NOT, one to six levels deep, over 120 subjects and 3,000 shared predicates.

Which predicate a leaf takes follows a Zipf law with exponent 0.9. The broad variant matches about a third of all
queries a tuple; the selective one has rarer predicates and more ANDs, and matches few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Any, Compare, Not, Predicate
from bench.workloads.workload import Workload
from eddyline import Stream

SUBJECTS: Final = 120
VALUES: Final = 250
PREDICATES: Final = 3_000


@dataclass(frozen=True)
class Style:
    """Chances that a tree is drawn with; `reach` is the largest share of the domain that a bound lets through."""

    conjunction: float
    inner_not: float
    leaf_not: float
    reach: float


BROAD: Final = Style(0.6, 0.1, 0.15, 1.0)
SELECTIVE: Final = Style(0.85, 0.02, 0.02, 0.12)


def workload(queries: int = 10_000, *, selective: bool = False, seed: int = 4) -> Workload:
    """The broad or the selective variant."""
    trees = _Trees(np.random.default_rng(seed + 1000), SELECTIVE if selective else BROAD)
    predicates = [trees.draw(1 + i % 6) for i in range(queries)]
    names = [f"s{i}" for i in range(SUBJECTS)]

    def batch(rows: int) -> pa.RecordBatch:
        rng = np.random.default_rng(seed)
        return pa.record_batch(
            [pa.array(rng.integers(0, VALUES, rows, dtype=np.int32)) for _ in names], names
        )

    stream = Stream("boolean", pa.schema([(name, pa.int32()) for name in names]))
    name = "boolean selective" if selective else "boolean"
    return Workload(name, stream, queries, predicates.__getitem__, batch)


class _Trees:
    def __init__(self, rng: np.random.Generator, style: Style) -> None:
        self._rng, self._style = rng, style
        weights = np.arange(1, PREDICATES + 1) ** -0.9
        self._shares = np.cumsum(weights) / weights.sum()
        found: dict[Compare, None] = {}
        while len(found) < PREDICATES:
            found.setdefault(self._leaf())
        self._leaves = list(found)

    def _leaf(self) -> Compare:
        subject, kind = f"s{self._rng.integers(SUBJECTS)}", self._rng.integers(3)
        reach = int(self._rng.integers(1, max(3, int(VALUES * self._style.reach) - 1)))
        if kind == 2:
            return Compare(subject, "=", int(self._rng.integers(VALUES)))
        return Compare(subject, "<=", reach) if kind == 0 else Compare(subject, ">", VALUES - 1 - reach)

    def draw(self, depth: int) -> Predicate:
        """A tree of so many levels."""
        rng, style = self._rng, self._style
        if depth <= 1:
            leaf = self._leaves[int(np.searchsorted(self._shares, rng.random()))]
            return Not(leaf) if rng.random() < style.leaf_not else leaf
        kind = All if rng.random() < style.conjunction else Any
        width = 2 if rng.random() < 0.75 else 3
        depths = [depth - 1 if i == 0 or rng.random() < 0.35 else 1 for i in range(width)]
        tree = kind(tuple(self.draw(d) for d in depths))
        return Not(tree) if rng.random() < style.inner_not else tree

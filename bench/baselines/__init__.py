"""Indexes of other systems over conjunctive queries, for comparison: all are built from the same queries and give the same pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bench.baselines.asc import Ascs
from bench.baselines.conjunctions import Conjunction, Index
from bench.baselines.grouped_filter import GroupedFilter
from bench.baselines.linked_list import LinkedList
from bench.baselines.red_black import RedBlackTrees

Build = Callable[[Sequence[Conjunction]], Index]

BASELINES: Final[dict[str, Build]] = {
    "linked list": LinkedList,
    "grouped filter": GroupedFilter,
    "red-black tree": RedBlackTrees,
}
INDEXES: Final[dict[str, Build]] = {**BASELINES, "ASC": Ascs}

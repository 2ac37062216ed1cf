"""Which queries are evaluated row by row, and for batches of which size.

A sliced block has 512 tuples, full or not: a batch of one row costs what a batch of 512 does, while row by row each
tuple is paid for alone. Measured against the sliced executor (one AVX-512 core, the two calls alone, matches kept):

    rows      paper 1,000   paper 10,000   selective 1,000   selective 10,000   alerts 10,000 without keys
       1         3.2x           5.2x             17x               31x                  11x
      64         3.0x           3.1x              9x               25x                 4.8x
     512         1.9x           0.9x             10x               13x                 1.5x
  32,768         0.6x           0.2x            1.4x              1.4x                 0.2x
    ASCs       0.3 MB         2.7 MB          1.4 MB             45 MB                27 MB

A table that does not stay in cache pays for fewer rows: with the 26 MB of `paper` 100,000 one row gains 10x, 16 gain 4x
and 64 lose a fifth. Why large batches and queries beside others are left alone is in decision 0005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.rowwise.asc import AscIndex, build_ascs, is_conjunction
from eddyline.index.sliced.sliced import SlicedIndex
from eddyline.model.predicate import NEVER, Predicate
from eddyline.model.visit_order import VisitOrder

SMALL_BATCH: Final = 64
TINY_BATCH: Final = 16  # for tables of more than CACHED bytes
CACHED: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class RowwiseIndex:
    """Plain conjunctions as ASCs, for batches of up to `most_rows`, or for all."""

    ascs: AscIndex
    sequence: VisitOrder
    most_rows: int | None


def choose_rowwise(
    predicates: Sequence[Predicate],
    slots: Sequence[int],
    sliced: SlicedIndex,
    settings: IndexSettings = DEFAULT_INDEX,
) -> RowwiseIndex | None:
    """The row-wise form of queries that are sliced too, if it pays and is wanted."""
    if settings.executor != "auto" or sliced.patterns:  # patterns are found together or not at all
        return None
    live = [i for i, predicate in enumerate(predicates) if predicate != NEVER]
    size = -(-len(live) // 512) * 64 * sum(cutting.regions for cutting in sliced.cuttings)
    if not live or size > settings.rowwise_bytes or not all(is_conjunction(predicates[i]) for i in live):
        return None
    most_rows = SMALL_BATCH if size <= CACHED else TINY_BATCH
    return build_rowwise([predicates[i] for i in live], [slots[i] for i in live], most_rows)[0]


def build_rowwise(
    predicates: Sequence[Predicate], slots: Sequence[int], most_rows: int | None = None
) -> tuple[RowwiseIndex, list[int]]:
    """Compile queries, whose slots ascend, if they are plain conjunctions, and give the slots of the others."""
    plain = [i for i, predicate in enumerate(predicates) if is_conjunction(predicate)]
    ascs = build_ascs([predicates[i] for i in plain], [slots[i] for i in plain], arrows=False)
    other = [slots[i] for i, predicate in enumerate(predicates) if not is_conjunction(predicate)]
    return RowwiseIndex(ascs, _sequence(ascs), most_rows), other


def _sequence(index: AscIndex) -> VisitOrder:
    """First the subject whose average region leaves the fewest queries possible."""
    ones = np.bitwise_count(index.table).sum(axis=(0, 2), dtype=np.int64)
    left = [
        ones[start : start + asc.regions].mean() for start, asc in zip(index.starts, index.ascs, strict=True)
    ]
    return VisitOrder(tuple(sorted(range(len(left)), key=left.__getitem__)))

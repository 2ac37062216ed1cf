"""Our side of every comparison: the public query set."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.workloads.workload import Workload
from eddyline.model.matches import Matches
from eddyline.queryset import QuerySet


def build(workload: Workload) -> QuerySet:
    """The workload's queries, compiled."""
    return QuerySet.build(workload.texts, streams=[workload.stream])


def counts(queries: QuerySet, batch: pa.RecordBatch) -> np.ndarray:
    """Number of matches of every query, in order of registration."""
    found = queries.match(batch).counts()
    return np.fromiter(found.values(), np.int64, len(found))


def pairs(matches: Matches) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of row and query number, written out."""
    return matches.pair_arrays()


def pair_numbers(matches: Matches) -> np.ndarray:
    """All pairs as sorted numbers `row << 32 | query`."""
    return encode(*matches.pair_arrays())


def encode(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Pairs as sorted numbers, for comparison."""
    return np.sort(rows.astype(np.int64) << 32 | queries.astype(np.int64))


def thread_counts(queries: QuerySet, batch: pa.RecordBatch, threads: int) -> np.ndarray:
    """Number of matches of every query, counted block by block."""
    found = queries.count(batch, threads=threads)
    return np.fromiter(found.values(), np.int64, len(found))

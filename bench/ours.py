"""Our side of every comparison: the public query set."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.workload import Workload
from eddyline.execute.batch import columns_of
from eddyline.functions.evaluate import Evaluation
from eddyline.model.matches import Matches
from eddyline.queryset import QuerySet


def build(workload: Workload) -> QuerySet:
    """The workload's queries, compiled."""
    return QuerySet.build(workload.texts, streams=[workload.stream])


def counts(queries: QuerySet, batch: pa.RecordBatch) -> np.ndarray:
    """Number of matches of every query, in order of registration."""
    found = queries.match(batch).counts()
    return np.fromiter(found.values(), np.int64, len(found))


def pairs(matches: Matches) -> pa.Table:
    """All pairs of row and query, written out."""
    return matches.pairs()


def pair_numbers(matches: Matches) -> np.ndarray:
    """All pairs as sorted numbers `row << 32 | query`."""
    table = matches.pairs()
    return encode(table["row"].to_numpy(), pc.cast(table["query"], pa.int64()).to_numpy())


def encode(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Pairs as sorted numbers, for comparison."""
    return np.sort(rows.astype(np.int64) << 32 | queries.astype(np.int64))


def thread_counts(queries: QuerySet, batch: pa.RecordBatch, threads: int) -> np.ndarray:
    """Number of matches of every query, counted block by block by the sliced executor of a set of one segment."""
    (executor,) = queries._compiled()
    columns, rows = columns_of(batch, queries.streams[0], executor.segment.columns)
    evaluation = Evaluation(columns, time_zone=queries.time_zone, rows=rows)
    found = np.zeros(len(queries), np.int64)
    found[executor.segment.sliced.numbers] = executor.sliced.count(evaluation, rows, threads=threads)
    return found

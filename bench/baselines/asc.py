"""Our own row-wise executor behind the interface of the baselines: the queries as ASCs, visited by Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from bench.baselines.conjunctions import Conjunction, pairs_of
from bench.workloads.predicates import All, sql
from eddyline import Compiler, Query, Stream
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import AscIndex, build_ascs
from eddyline.model.predicate import NEVER, Predicate


class Ascs:
    """Built with the first batch, whose schema it needs; queries that are never true stay without a bit."""

    def __init__(self, queries: Sequence[Conjunction]) -> None:
        self._queries = queries
        self._executor: Rowwise | None = None
        self._schema: pa.Schema | None = None

    def masks(self, batch: pa.RecordBatch) -> np.ndarray:
        """The queries of each tuple, as bitmaps."""
        if self._executor is None or self._schema != batch.schema:
            self._executor, self._schema = Rowwise(ascs_of(self._queries, batch.schema)), batch.schema
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        evaluation = Evaluation(columns, rows=batch.num_rows, time_zone="UTC")
        lineages = self._executor.match(evaluation, batch.num_rows)
        found = np.zeros((batch.num_rows, lineages.grb.shape[1]), np.uint64)
        found[lineages.row] = lineages.grb
        return found

    def match(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """Rows and queries of all pairs."""
        masks = self.masks(batch)
        assert self._executor is not None
        rows, places = pairs_of(masks)
        return rows, self._executor.index.numbers[places]


def ascs_of(queries: Sequence[Conjunction], schema: pa.Schema) -> AscIndex:
    """The constructs of queries over a stream of this schema; subjects stand in the order of the schema's columns."""
    predicates = compiled(queries, schema)
    plain = [number for number, predicate in enumerate(predicates) if predicate is not None]
    return build_ascs([p for p in predicates if p is not None], plain)


def compiled(queries: Sequence[Conjunction], schema: pa.Schema) -> list[Predicate | None]:
    """Queries in normal form; None where nothing can match."""
    compiler = Compiler([Stream("tuples", schema)])
    normal = []
    for number, query in enumerate(queries):
        where = f" WHERE {sql(All(query))}" if query else ""
        normal.append(compiler.compile(Query(str(number), f"SELECT * FROM tuples{where}")).predicate)
    return [None if predicate == NEVER else predicate for predicate in normal]

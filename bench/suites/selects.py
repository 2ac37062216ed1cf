"""What most workloads are measured by: masks of a batch against one Polars expression a query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench import measure, ours
from bench.peers import polars
from bench.record import Record
from bench.workloads.workload import Workload
from eddyline.queryset import QuerySet


@dataclass(frozen=True)
class Comparison:
    """A workload, compiled by both sides; `equal` was found by counts of all queries on the first `sample` rows."""

    workload: Workload
    ours: QuerySet
    peer: polars.Select
    equal: bool

    @staticmethod
    def of(workload: Workload, sample: int) -> Comparison:
        """Build both sides and compare their results."""
        queries, select = ours.build(workload), polars.Select(workload)
        batch = workload.batch(sample)
        equal = np.array_equal(ours.counts(queries, batch), select.counts(batch))
        return Comparison(workload, queries, select, equal)

    def marginal(self, small: int, large: int, *, budget: float = 8.0) -> Record:
        """The rate of an added row; masks are kept."""
        batch = self.workload.batch(large)
        sizes = [(rows, batch.slice(0, rows)) for rows in (small, large)]
        frames = [(rows, polars.frame_of(part)) for rows, part in sizes]
        mine = measure.marginal(self.ours.match, *sizes)
        theirs = measure.marginal(self.peer, *frames, warm_ups=1, budget=budget)
        return self.record(large, "marginal", mine, theirs)

    def call(self, rows: int, *, budget: float = 8.0) -> Record:
        """The rate of whole calls."""
        batch = self.workload.batch(rows)
        return self.record(rows, "call", measure.rate(self.ours.match, batch), self.peer_rate(batch, budget))

    def peer_rate(self, batch: pa.RecordBatch, budget: float) -> float:
        """Rows a second of the peer's whole calls."""
        frame = polars.frame_of(batch)
        return batch.num_rows / measure.seconds(lambda: self.peer(frame), warm_ups=1, budget=budget)

    def record(self, rows: int, metric: str, mine: float, theirs: float) -> Record:
        """A line of rates against Polars."""
        w = self.workload
        return Record.rates(w.name, w.queries, rows, metric, mine, "polars", theirs, self.equal)

"""What every workload gives: a stream, queries, batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from bench.workloads.predicates import Predicate, sql
from eddyline import Stream


@dataclass(frozen=True)
class Workload:
    """Seeded queries and tuples; `batch(rows)` gives the same tuples in every call.

    `rules` holds the queries as rows, for peers that join; column `query` is the query's number.
    """

    name: str
    stream: Stream
    queries: int
    predicate: Callable[[int], Predicate]
    batch: Callable[[int], pa.RecordBatch]
    rules: dict[str, pa.Table] = field(default_factory=dict)

    @cached_property
    def texts(self) -> dict[str, str]:
        """SQL by query id; the id is the query's number."""
        head = f"SELECT * FROM {self.stream.name} WHERE "
        return {str(i): head + sql(self.predicate(i)) for i in range(self.queries)}

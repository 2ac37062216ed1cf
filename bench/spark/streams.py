"""One streaming query a rule, each reading the same files; only a few are run, the others would do the same again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.spark.cluster import Cluster, seconds
from bench.workloads.predicates import sql
from bench.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "query-per-rule"
RULES = 8


@dataclass(frozen=True)
class Streams:
    """The first few rules of a workload as streaming queries that end when the files are read."""

    cluster: Cluster
    workload: Workload
    rules: int = RULES

    def numbers(self, rows: int) -> float:
        """Seconds a rule, tuples that match going nowhere."""
        return seconds(lambda: self._run(rows, lambda number: None)) / self.rules

    def counts(self, rows: int) -> tuple[float, dict[int, int]]:
        """Seconds a rule, tuples being counted, and the counts."""
        found: dict[int, int] = dict.fromkeys(range(self.rules), 0)

        def counting(number: int) -> Callable[[DataFrame, int], None]:
            def count(df: DataFrame, batch: int) -> None:
                found[number] += df.count()

            return count

        taken = seconds(lambda: self._run(rows, counting)) / self.rules
        return taken, {number: matches for number, matches in found.items() if matches}

    def _run(self, rows: int, each: Callable[[int], Any]) -> None:
        path = str(self.cluster.path(self.workload, rows))
        source = self.cluster.spark.readStream.schema(self.cluster.tuples(self.workload, rows).schema)
        with tempfile.TemporaryDirectory() as checkpoints:
            running = []
            for number in range(self.rules):
                rule = source.parquet(path).where(sql(self.workload.predicate(number)))
                writer = rule.writeStream.option("checkpointLocation", f"{checkpoints}/{number}")
                function = each(number)
                writer = writer.format("noop") if function is None else writer.foreachBatch(function)
                running.append(writer.trigger(availableNow=True).start())
            for query in running:
                query.awaitTermination()

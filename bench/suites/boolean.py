"""`boolean`: deep trees over shared predicates against one Polars expression a query."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Setting
from bench.record import Record
from bench.suites.selects import Comparison
from bench.workloads import boolean


def run(setting: Setting) -> Iterator[Record]:
    """The broad and the selective variant."""
    queries = setting.sizes(10_000)[0]
    for selective in (False, True):
        sides = Comparison.of(boolean.workload(queries, selective=selective), 2_000)
        yield sides.marginal(*setting.batches(queries, 100_000, 300_000), budget=12.0)
        yield sides.call(setting.rows(50_000))

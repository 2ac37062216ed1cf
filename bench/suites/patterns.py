"""`patterns`: many LIKEs over many columns against one Polars expression a query."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Setting
from bench.record import Record
from bench.suites.selects import Comparison
from bench.workloads import patterns


def run(setting: Setting) -> Iterator[Record]:
    """Whole calls."""
    sides = Comparison.of(patterns.workload(setting.sizes(2_000)[0]), 1_000)
    yield sides.call(3_000)

"""Memory that a query takes beside its SQL text: Python objects and numpy arrays by tracemalloc, Arrow's by its pool."""

from __future__ import annotations

import gc
import sys
import tracemalloc

import pyarrow as pa

from bench import ours
from bench.record import Record
from bench.workloads import alerts
from bench.workloads.workload import Workload


def bytes_a_query(workload: Workload, equal: bool) -> Record:
    """What stays after building; the texts exist before and are the peer. `equal`: as found when speed was measured."""
    texts = sum(sys.getsizeof(text) for text in workload.texts.values()) / workload.queries
    batch = workload.batch(1_000)
    ours.build(alerts.workload(100)).match(batch)  # kernels and caches of the process
    gc.collect()
    arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    queryset = ours.build(workload)
    queryset.match(batch)
    gc.collect()
    held = (tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - arrow) / workload.queries
    tracemalloc.stop()
    count = len(queryset)
    return Record(workload.name, count, 0, "bytes", held, "SQL texts", texts, texts / held, equal)

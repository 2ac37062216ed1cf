"""Memory that a query takes beside its SQL text, as tracemalloc sees it: Python objects and numpy arrays."""

from __future__ import annotations

import gc
import sys
import tracemalloc

from bench import ours
from bench.record import Record
from bench.workloads.workload import Workload


def bytes_a_query(workload: Workload) -> Record:
    """What stays after building; the texts themselves exist before and are the peer."""
    texts = sum(sys.getsizeof(text) for text in workload.texts.values()) / workload.queries
    gc.collect()
    tracemalloc.start()
    queryset = ours.build(workload)
    queryset.match(workload.batch(1_000))
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] / workload.queries
    tracemalloc.stop()
    count = len(queryset)
    return Record(workload.name, count, 0, "bytes", held, "SQL texts", texts, texts / held, True)

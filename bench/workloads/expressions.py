"""`expressions`: every query has an expression of its own, `price * c > open`; about one tuple in twenty matches some.

`open` is the day's first price, and the price moves about it by about one percent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import Scaled
from bench.workloads.workload import Workload
from eddyline import Stream

FACTORS: Final = (0.95, 0.985)  # from never to a price one and a half percent up
_STREAM: Final = Stream("quotes", pa.schema([("price", pa.float64()), ("open", pa.float64())]))


def workload(queries: int, *, seed: int = 5) -> Workload:
    """Queries with factors that are all different."""
    factors = np.round(np.linspace(*FACTORS, queries), 7).tolist()

    def batch(rows: int) -> pa.RecordBatch:
        rng = np.random.default_rng(seed)
        opened = np.round(np.exp(rng.normal(4, 1, rows)), 2)
        price = np.round(opened * np.exp(rng.normal(0, 0.01, rows)), 2)
        return pa.record_batch([pa.array(price), pa.array(opened)], schema=_STREAM.schema)

    def predicate(number: int) -> Scaled:
        return Scaled("price", factors[number], ">", "open")

    return Workload("expressions", _STREAM, queries, predicate, batch)

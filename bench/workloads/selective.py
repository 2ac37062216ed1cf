"""`selective`: nearly all tuples match nothing, because every query wants two attributes inside a narrow band.

20 int64 attributes, uniform over 0..999. Each query has a narrow range inside one shared band (1% of the domain)
on a3 and on a7, and ranges of half the domain on three others. In the drifting variant one of a3 and a7 lies inside
the band, and which of them changes every 2,000,000 tuples: the attribute to look at first changes with it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Compare
from bench.workloads.workload import Workload
from eddyline import Stream

ATTRIBUTES: Final = 20
VALUES: Final = 1000
BAND: Final = (500, 510)
BANDED: Final = (3, 7)
PHASE: Final = 2_000_000
_OTHERS: Final = [a for a in range(ATTRIBUTES) if a not in BANDED]


def workload(queries: int = 1_000, *, phase: int | None = None, seed: int = 3) -> Workload:
    """All attributes uniform, or the given phase of the drifting variant."""
    rng = np.random.default_rng(seed + 1000)
    predicates = [_predicate(rng) for _ in range(queries)]

    def batch(rows: int) -> pa.RecordBatch:
        drawn = np.random.default_rng(seed + (0 if phase is None else 10 + phase))
        columns = [drawn.integers(0, VALUES, rows) for _ in range(ATTRIBUTES)]
        if phase is not None:
            columns[BANDED[phase % 2]] = drawn.integers(*BAND, rows)
        return pa.record_batch([pa.array(c) for c in columns], [f"a{i}" for i in range(ATTRIBUTES)])

    stream = Stream("selective", pa.schema([(f"a{i}", pa.int64()) for i in range(ATTRIBUTES)]))
    name = "selective" if phase is None else "selective drifting"
    return Workload(name, stream, queries, predicates.__getitem__, batch)


def _predicate(rng: np.random.Generator) -> All:
    parts = []
    for attribute in BANDED:
        low = int(rng.integers(BAND[0], BAND[1] - 2))
        parts += _between(attribute, low, low + int(rng.integers(1, 3)))
    for attribute in sorted(rng.choice(_OTHERS, 3, replace=False).tolist()):
        low = int(rng.integers(0, VALUES // 2))
        parts += _between(attribute, low, low + VALUES // 2)
    return All(tuple(parts))


def _between(attribute: int, low: int, high: int) -> list[Compare]:
    return [Compare(f"a{attribute}", ">=", low), Compare(f"a{attribute}", "<=", high)]

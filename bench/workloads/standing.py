"""`keyed` and `ranges`: sets of any size over any number of columns that are read, each query matching the same share of the rows.

keyed   `key = k AND x > bound`: 5,000 keys, evenly drawn, the columns in turn
ranges  two or three columns within bounds, chosen in turn; no column has rare values
All columns but the key are uniform over 0..1, so a query's share is the product of what it leaves of each.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Compare
from bench.workloads.workload import Workload
from eddyline import Stream
from eddyline.capacity.load import Kind

KEYS: Final = 5_000
_NAMES: Final = [f"K{number:04d}" for number in range(KEYS)]


def workload(kind: Kind, queries: int, columns: int, share: float, seed: int = 5) -> Workload:
    """So many queries over so many columns, of which each matches a share of the rows."""
    assert columns >= 2 and share <= 1 / KEYS, "a key and another column; a query has one key"
    rng = np.random.default_rng(seed)
    keys, places = rng.integers(0, KEYS, queries), rng.random((queries, 3))

    def keyed(number: int) -> All:
        column = f"x{number % (columns - 1)}"
        return All(
            (
                Compare("symbol", "=", _NAMES[keys[number]]),
                Compare(column, ">", round(1 - share * KEYS, 9)),
            )
        )

    def ranges(number: int) -> All:
        used = min(3, columns - 1)
        width = share ** (1 / used)
        parts = []
        for part in range(used):
            low = round(float(places[number, part]) * (1 - width), 9)
            name = f"x{(number + part) % (columns - 1)}"
            parts += [Compare(name, ">=", low), Compare(name, "<", low + width)]
        return All(tuple(parts))

    predicate = keyed if kind == "keyed" else ranges
    name = f"{kind} {columns} columns {share:g}"
    return Workload(
        name, _stream(columns), queries, predicate, lambda rows: _batch(rows, columns, seed), rules={}
    )


def _stream(columns: int) -> Stream:
    fields = [("symbol", pa.string()), *((f"x{number}", pa.float64()) for number in range(columns - 1))]
    return Stream("events", pa.schema(fields))


def _batch(rows: int, columns: int, seed: int) -> pa.RecordBatch:
    rng = np.random.default_rng(seed + 1)
    names = pa.DictionaryArray.from_arrays(
        pa.array(rng.integers(0, KEYS, rows).astype(np.int32)), pa.array(_NAMES)
    ).cast(pa.string())
    more = [pa.array(rng.random(rows)) for _ in range(columns - 1)]
    return pa.record_batch([names, *more], schema=_stream(columns).schema)

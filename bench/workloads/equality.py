"""`equality`: conjunctions of two or three equalities over three string attributes of 1,000 values each."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Compare
from bench.workloads.workload import Workload
from eddyline import Stream

NAMES: Final = ("city", "product", "context")
VALUES: Final = 1_000
SHAPES: Final = tuple(c for n in (2, 3) for c in combinations(NAMES, n))
_TEXTS: Final = {name: [f"{name} {i:03d}" for i in range(VALUES)] for name in NAMES}


def workload(queries: int = 100_000, *, dictionary: bool = False, seed: int = 6) -> Workload:
    """Plain strings, or the same values dictionary-encoded."""
    rng = np.random.default_rng(seed + 1000)
    shapes, values = rng.integers(0, len(SHAPES), queries), rng.integers(0, VALUES, (queries, len(NAMES)))

    def predicate(number: int) -> All:
        row = dict(zip(NAMES, values[number].tolist(), strict=True))
        return All(tuple(Compare(name, "=", _TEXTS[name][row[name]]) for name in SHAPES[shapes[number]]))

    def batch(rows: int) -> pa.RecordBatch:
        drawn = np.random.default_rng(seed)
        columns = []
        for name in NAMES:
            places = pa.array(drawn.integers(0, VALUES, rows, dtype=np.int32))
            column = pa.DictionaryArray.from_arrays(places, pa.array(_TEXTS[name]))
            columns.append(column if dictionary else column.cast(pa.string()))
        return pa.record_batch(columns, NAMES)

    rules = {f"rules{i}": _rules(i, shapes, values) for i in range(len(SHAPES))}
    kind = pa.dictionary(pa.int32(), pa.string()) if dictionary else pa.string()
    stream = Stream("sales", pa.schema([(name, kind) for name in NAMES]))
    name = "equality dictionary" if dictionary else "equality"
    return Workload(name, stream, queries, predicate, batch, rules)


def _rules(shape: int, shapes: np.ndarray, values: np.ndarray) -> pa.Table:
    """The queries of one shape, with a column for each attribute that it names."""
    numbers = np.flatnonzero(shapes == shape)
    columns: dict[str, object] = {"query": numbers.astype(np.int32)}
    for place, name in enumerate(NAMES):
        if name in SHAPES[shape]:
            columns[name] = [_TEXTS[name][value] for value in values[numbers, place].tolist()]
    return pa.table(columns)

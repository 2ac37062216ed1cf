"""`paper`: the load of the shared-query papers, small integers and conjunctions.

Ten attributes, uniform over 0..99; each is used by a query with probability 0.3 and an operator of < <= > >= =;
queries without any predicate are left out. About a ninth of all queries match each tuple.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import OPERATORS, All, Compare
from bench.workloads.workload import Workload
from eddyline import Stream

ATTRIBUTES: Final = 10
VALUES: Final = 100


def workload(queries: int, *, nulls: float = 0.0, seed: int = 1) -> Workload:
    """The int32 load; with a share of NULLs the columns are int64."""
    kind = pa.int64() if nulls else pa.int32()
    names = [f"a{i}" for i in range(ATTRIBUTES)]
    uses, operators, constants = _queries(queries, np.random.default_rng(seed + 1000))

    def predicate(number: int) -> All:
        places = np.flatnonzero(uses[number]).tolist()
        return All(
            tuple(
                Compare(names[p], OPERATORS[operators[number, p]], int(constants[number, p])) for p in places
            )
        )

    def batch(rows: int) -> pa.RecordBatch:
        rng = np.random.default_rng(seed)
        columns = []
        for _ in names:
            values = rng.integers(0, VALUES, rows, dtype=kind.to_pandas_dtype())
            columns.append(pa.array(values, mask=rng.random(rows) < nulls if nulls else None))
        return pa.record_batch(columns, names)

    stream = Stream("paper", pa.schema([(name, kind) for name in names]))
    rules = {"ranges": _ranges(uses, operators, constants)}
    return Workload("paper nulls" if nulls else "paper", stream, queries, predicate, batch, rules)


def _queries(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    uses = np.empty((0, ATTRIBUTES), bool)
    while len(uses) < count:
        drawn = rng.random((count + 100, ATTRIBUTES)) < 0.3
        uses = np.concatenate([uses, drawn[drawn.any(axis=1)]])
    shape = (count, ATTRIBUTES)
    return uses[:count], rng.integers(0, len(OPERATORS), shape), rng.integers(0, VALUES, shape)


def _ranges(uses: np.ndarray, operators: np.ndarray, constants: np.ndarray) -> pa.Table:
    """One closed range an attribute, the whole domain where it is not used."""
    low = np.select([operators == 2, operators >= 3], [constants + 1, constants], 0)
    high = np.select(
        [operators == 0, (operators == 1) | (operators == 4)], [constants - 1, constants], VALUES - 1
    )
    low, high = np.where(uses, low, 0).astype(np.int32), np.where(uses, high, VALUES - 1).astype(np.int32)
    columns = {"query": np.arange(len(uses), dtype=np.int32)}
    columns |= {f"low{a}": low[:, a] for a in range(ATTRIBUTES)}
    columns |= {f"high{a}": high[:, a] for a in range(ATTRIBUTES)}
    return pa.table(columns)

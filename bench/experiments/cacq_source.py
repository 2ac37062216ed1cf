"""What CACQ's experiments run over: a stream S of five whole numbers 0..99, its queries, and eddies that are timed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.execute.eddy import Eddy
from eddyline.functions.evaluate import Evaluation
from eddyline.model.query import NormalQuery

FIELDS: Final = "abcde"
VALUES: Final = 100
SCHEMA: Final = pa.schema([(name, pa.int32()) for name in FIELDS])


def stream(name: str = "S") -> Stream:
    return Stream(name, SCHEMA)


def tuples(count: int, seed: int) -> pa.RecordBatch:
    """Tuples of S, every value as frequent as every other."""
    drawn = np.random.default_rng(seed).integers(0, VALUES, (len(FIELDS), count), dtype=np.int32)
    return pa.RecordBatch.from_arrays([pa.array(column) for column in drawn], schema=SCHEMA)


def nested(conditions: Sequence[str]) -> list[str]:
    """The first condition, the first two, ..., all of them."""
    return [" AND ".join(conditions[: last + 1]) for last in range(len(conditions))]


def compiled(wheres: Iterable[str], sources: Sequence[str] = ("S",)) -> list[NormalQuery]:
    """Queries q0, q1, ... by their WHERE, over the sources in turn."""
    compiler = Compiler([stream(name) for name in sources])
    texts = [f"SELECT * FROM {sources[i % len(sources)]} WHERE {where}" for i, where in enumerate(wheres)]
    return [compiler.compile(Query(f"q{i}", text)) for i, text in enumerate(texts)]


def random_where(rng: np.random.Generator, fields: str = FIELDS, chance: float = 0.5) -> str:
    """CACQ's random query: each field with some chance, one of < > <= >=, a constant of 0..99."""
    used = [name for name in fields if rng.random() < chance]
    conditions = [f"{name} {rng.choice(['<', '>', '<=', '>='])} {rng.integers(0, VALUES)}" for name in used]
    return " AND ".join(conditions) or "TRUE"


def flow(eddy: Eddy, batch: pa.RecordBatch, source: str = "S") -> tuple[int, float]:
    """Tuples output by an eddy that is given a batch, and the seconds of CPU it took."""
    start = time.process_time()
    eddy.push(source, Evaluation(batch), batch.num_rows)
    found = len(eddy.run())
    return found, max(time.process_time() - start, 1e-9)

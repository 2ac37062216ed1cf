"""Time of every index over one attribute, for growing numbers of predicates: figures 4 and 5 of ASC-1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from bench import measure
from bench.baselines import INDEXES
from bench.baselines.conjunctions import Conjunction
from bench.experiments.data import uniform
from bench.experiments.result import Row
from bench.experiments.scale import Scale
from bench.workloads.predicates import Compare

VALUES: Final = 1_000
NAMES: Final = tuple(INDEXES)
PREDICATES: Final = (50, 100, 200, 400, 700, 1_000)
BATCH: Final = 50_000


def queries_of(count: int, operators: Sequence[str], seed: int = 21) -> list[Conjunction]:
    """One comparison a query."""
    rng = np.random.default_rng(seed)
    constants = rng.permutation(VALUES)[:count]
    return [
        (Compare("a0", operators[int(rng.integers(len(operators)))], int(constant)),)
        for constant in constants
    ]


def measured(scale: Scale, panels: Mapping[str, Sequence[str]]) -> tuple[tuple[Row, ...], Row]:
    """CPU microseconds a tuple, for each panel (name: operators), number of predicates and index."""
    tuples = scale.tuples(5_000_000, 8_000)
    data = uniform(tuples, attributes=1, values=VALUES)
    batches = [
        pa.record_batch([pa.array(data.piece(at, min(BATCH, tuples - at))[0].astype(np.int32))], ["a0"])
        for at in range(0, tuples, BATCH)
    ]
    rows: list[Row] = []
    for panel, operators in panels.items():
        for count in PREDICATES:
            queries = queries_of(count, operators)
            found = set()
            for name, build in INDEXES.items():
                index = build(queries)
                found.add(int(np.bitwise_count(index.masks(batches[0].slice(0, 500))).sum()))  # also warms up
                seconds = min(_pass(index, batches) for _ in range(2))
                rows.append(
                    {
                        "panel": panel,
                        "series": name,
                        "predicates": count,
                        "microseconds a tuple": 1e6 * seconds / tuples,
                    }
                )
            assert len(found) == 1, "all indexes find as many matches"
    return tuple(rows), {"tuples": tuples, "values": VALUES, "attributes": 1}


def at_most_predicates(rows: Sequence[Row], panel: str = "") -> dict[str, float]:
    """By index the time with the most predicates."""
    return _at(rows, panel, PREDICATES[-1])


def at_fewest_predicates(rows: Sequence[Row], panel: str = "") -> dict[str, float]:
    """By index the time with the fewest predicates."""
    return _at(rows, panel, PREDICATES[0])


def _at(rows: Sequence[Row], panel: str, predicates: int) -> dict[str, float]:
    chosen = [row for row in rows if row["panel"] == panel and row["predicates"] == predicates]
    return {row["series"]: row["microseconds a tuple"] for row in chosen}


def _pass(index: object, batches: Sequence[pa.RecordBatch]) -> float:
    return measure.once(lambda: [index.masks(batch) for batch in batches])  # type: ignore[attr-defined]

"""Scripts of pushes and changes, run on an engine: which pairs it delivers, step by step.

Rows carry their position in their stream, and joins select those of both sources and nothing else: so what is delivered names
the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import eddyline as ed
from eddyline.config import IndexSettings, JoinSettings
from eddyline.engine.deliveries import LEAD
from eddyline.reference.join import Change, JoinedPair, Push

Step = Push | Change
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 30, tzinfo=UTC)  # no tuple is ahead of it


@dataclass
class EngineRun:
    """What an engine delivered: for each step the pairs, in the order of delivery, by query."""

    steps: list[dict[str, list[JoinedPair]]]
    left_out: dict[str, int]


def by_query(pairs: Iterable[JoinedPair]) -> dict[str, list[JoinedPair]]:
    """Pairs of one step as deliveries have them: each query's own, in order."""
    found: dict[str, list[JoinedPair]] = {}
    for pair in pairs:
        found.setdefault(pair.query, []).append(pair)
    return found


def configuration(number: int, folder: str) -> dict[str, Any]:
    """One of several ways to run an engine, none of which may change a pair."""
    return (
        {},
        {"rows": 1},
        {"rows": 3, "merge_every": 1},
        {"settings": IndexSettings(segment_size=2)},
        {"joins": JoinSettings(max_pairs=3)},
        {"rows": 2, "joins": JoinSettings(max_bytes=500, folder=folder)},
        {"rows": 2, "epochs": True, "merge_every": 1},
    )[number % 7]


def run_engine(
    texts: Mapping[str, str],
    steps: Sequence[Step],
    *,
    streams: Sequence[ed.Stream],
    rows: int | None = None,
    merge_every: int = 0,
    epochs: bool = False,
    **options: Any,
) -> EngineRun:
    """Run a script; each push comes in batches of so many rows, or whole. With `epochs` tables are compacted at once."""
    clock = [EPOCH]
    found: list[dict[str, list[JoinedPair]]] = []
    with (
        patch("eddyline.standing.version.FEW", 0 if epochs else 1_000),
        ed.Engine(streams=streams, clock=lambda: clock[0], **options) as engine,
    ):
        engine.add(texts)
        for number, step in enumerate(steps):
            if isinstance(step, Change):
                engine.change(add=step.add, remove=step.remove, replace=step.replace)
                found.append({})
            else:
                clock[0] = LAST if step.clock is None else EPOCH + timedelta(microseconds=step.clock)
                found.append(_pushed(engine, step, rows))
            if merge_every and number % merge_every == 0:
                engine.merge()
            engine.ledger.check()
        return EngineRun(found, dict(engine.ledger.totals.left_out))


def _pushed(engine: ed.Engine, push: Push, rows: int | None) -> dict[str, list[JoinedPair]]:
    batch, found = push.batch, dict[str, list[JoinedPair]]()
    size = rows or max(1, batch.num_rows)
    for start in range(0, max(1, batch.num_rows), size):
        deliveries = engine.push(push.stream, batch.slice(start, size))
        assert not deliveries.errors, deliveries.errors
        for table in deliveries:
            for query, pair in _pairs(table):
                found.setdefault(query, []).append(pair)
    return found


def _pairs(table: pa.Table) -> Iterable[tuple[str, JoinedPair]]:
    if table.num_columns != len(LEAD) + 2:
        return
    columns = (table.column(place).to_pylist() for place in (0, len(LEAD), len(LEAD) + 1))
    for query, first, second in zip(*columns, strict=True):
        yield query, JoinedPair(query, first, second)

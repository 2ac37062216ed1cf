"""Tallies of parts of a history, in whatever order they are made and added up, are the tally of the whole."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Query, Stream
from eddyline.backtest import Backtest, Settings, prepare
from eddyline.backtest.axis import axis_of
from eddyline.backtest.collect import collect
from eddyline.backtest.overlap import Overlaps
from eddyline.backtest.prepare import PreparedBacktest
from eddyline.backtest.results import StreamTally, backtest_of
from eddyline.backtest.rows import Stretch
from eddyline.backtest.tally import Tally

ROWS = 3000
TICKS = Stream(
    "ticks", pa.schema([("at", pa.timestamp("us")), ("price", pa.float64()), ("volume", pa.int64())])
)
QUERIES = {
    "cheap": "price < 20",
    "rare": "price < 1 AND volume > 90",
    "untimed": "at IS NULL",
    "never": "price < 0",
    "all": "volume >= 0",
}


def history(seed: int) -> pa.RecordBatch:
    rng = np.random.default_rng(seed)
    at = rng.integers(0, 400, ROWS) * (10 ** rng.integers(3, 9, ROWS))  # many equal, over many widths
    return pa.record_batch(
        {
            "at": pa.array(at, pa.timestamp("us"), mask=rng.random(ROWS) < 0.02),
            "price": rng.uniform(0, 100, ROWS),
            "volume": rng.integers(0, 100, ROWS),
        },
        schema=TICKS.schema,
    )


def tally_of(
    prepared: PreparedBacktest, batch: pa.RecordBatch, spans: list[tuple[int, int]], time: str | None
) -> Tally:
    [lane] = prepared.lanes
    settings = Settings()
    tally = Tally(axis_of(TICKS, time, "UTC"), len(lane.tested), len(lane.queries), settings)
    for start, stop in spans:
        stretch = Stretch(batch.slice(start, stop - start), "a.parquet", np.arange(start, stop), start)
        collect(tally, lane.queries, stretch, settings)
    return tally


def results(prepared: PreparedBacktest, tally: Tally) -> Backtest:
    return backtest_of(prepared, [StreamTally("ticks", tally)], Settings())


@pytest.mark.parametrize("time", ["at", "volume", None])
@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up_to_the_whole(seed: int, time: str | None) -> None:
    queries = [Query(id, f"SELECT * FROM ticks WHERE {text}") for id, text in QUERIES.items()]
    prepared = prepare(queries[:4], [TICKS], existing=queries[3:])
    batch = history(seed)
    whole = tally_of(prepared, batch, [(0, ROWS)], time)
    rng = np.random.default_rng(seed)
    cuts = [0, *sorted(rng.choice(np.arange(1, ROWS), 9, replace=False).tolist()), ROWS]
    spans = list(pairwise(cuts))
    rng.shuffle(spans)
    total = tally_of(prepared, batch, [], time)
    for part in (spans[:2], spans[2:3], [], spans[3:]):
        total.merge(pickle.loads(pickle.dumps(tally_of(prepared, batch, list(map(tuple, part)), time))))
    assert results(prepared, total) == results(prepared, whole)


def test_pairs_that_are_remembered_add_up() -> None:
    """Where there are too many pairs of queries for a table, those met are kept, and given up, in parts too."""
    rng = np.random.default_rng(3)
    whole, total = (Overlaps(20, 40, table=10, met=10_000) for _ in range(2))
    for _ in range(5):
        found = np.unique(rng.integers(0, 500 * 40, 2000))
        part = Overlaps(20, 40, table=10, met=10_000)
        for overlaps in (whole, part):
            overlaps.add(500, found // 40, found % 40)
        total.merge(part)
    assert all(total.largest(q, range(40), 40) == whole.largest(q, range(40), 40) for q in range(20))
    assert total.exact and whole.exact
    small = Overlaps(20, 40, table=10, met=100)
    small.merge(total)
    assert len(small.largest(0, range(40), 40)) <= 40 and not small.exact

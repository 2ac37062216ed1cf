"""Histories and queries that the tests of back-tests share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from eddyline import Query, Stream
from eddyline.backtest import Backtest, Settings, prepare
from eddyline.backtest.prepare import PreparedBacktest
from eddyline.runtime.embedded.backtest import History, run
from eddyline.runtime.embedded.sources import FileRows

QUOTES = Stream(
    "quotes",
    pa.schema({"at": pa.timestamp("us"), "symbol": pa.string(), "price": pa.float64(), "volume": pa.int64()}),
    event_time="at",
)
START = 1_767_605_400_000_000  # 2026-01-05 09:30


def quotes(rows: int, seed: int = 1) -> pa.RecordBatch:
    """A day of quotes out of order; some have no time, some no price."""
    rng = np.random.default_rng(seed)
    times = START + rng.integers(0, 6 * 3600 * 1_000_000, rows)
    price = np.round(np.exp(rng.normal(3, 1, rows)), 2)
    columns = [
        pa.array(times, pa.timestamp("us"), mask=rng.random(rows) < 0.02),
        pa.array(rng.choice(["ACME", "BOLT", "ZETA"], rows)),
        pa.array(price, mask=rng.random(rows) < 0.05),
        pa.array(rng.integers(1, 1000, rows)),
    ]
    return pa.record_batch(columns, schema=QUOTES.schema)


TESTED = [
    Query("cheap", "SELECT symbol FROM quotes WHERE price < 10"),
    Query("acme", "SELECT * FROM quotes WHERE symbol = 'ACME' AND volume > 500"),
    Query("value", "SELECT * FROM quotes WHERE price * volume > 20000"),
    Query("rare", "SELECT * FROM quotes WHERE price BETWEEN 20 AND 20.2 OR price IS NULL AND volume < 40"),
    Query("everything", "SELECT * FROM quotes WHERE volume > 0"),
    Query("silent", "SELECT * FROM quotes WHERE price < 0"),
    Query("impossible", "SELECT * FROM quotes WHERE price < 1 AND price > 2"),
]
EXISTING = [
    Query("cheap", "SELECT * FROM quotes WHERE price < 12"),
    Query("bolt", "SELECT * FROM quotes WHERE symbol = 'BOLT'"),
    Query("busy", "SELECT * FROM quotes WHERE volume > 900"),
]


def pieces(batch: pa.RecordBatch, size: int, file: str = "day.csv") -> list[FileRows]:
    """A batch as files give it."""
    return [FileRows(batch.slice(start, size), file, start) for start in range(0, batch.num_rows, size)]


def outcome(
    batch: pa.RecordBatch,
    *,
    queries: Iterable[Query] = TESTED,
    existing: Iterable[Query] = EXISTING,
    size: int = 1000,
    time: str | None = None,
    settings: Settings | None = None,
) -> tuple[Backtest, PreparedBacktest]:
    """A back-test of one stream, and what it was prepared from."""
    prepared = prepare(queries, [QUOTES], existing=existing)
    history = History("quotes", pieces(batch, size), "history/", time)
    return run(prepared, [history], settings=settings or Settings()), prepared


def rows_of(prepared: PreparedBacktest, batch: pa.RecordBatch) -> list[set[int]]:
    """The rows of every query, those under test first, all at once."""
    [lane] = prepared.lanes
    matches = lane.queries.match(batch)
    return [set(matches.rows(str(number)).tolist()) for number in range(len(lane.queries))]


def ids(queries: Sequence[Query]) -> list[str]:
    return [query.id for query in queries]

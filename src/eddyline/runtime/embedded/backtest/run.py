"""Runs queries over a history: one pass, block by block, in memory that does not grow with the history.

piece (some ten thousand rows) --QuerySet--> pairs of a block --> Tally --> QueryResult
                               --JoinTallies (when all rows are read)--> Tally --> QueryResult
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eddyline.backtest.axis import axis_of
from eddyline.backtest.collect import collect
from eddyline.backtest.prepare import PreparedBacktest
from eddyline.backtest.results import StreamTally, backtest_of
from eddyline.backtest.rows import Stretch
from eddyline.backtest.settings import DEFAULT, Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Backtest
from eddyline.runtime.embedded.backtest.pairs import JoinTallies
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows


@dataclass(frozen=True)
class History:
    """What has happened on one stream."""

    stream: str
    pieces: Iterable[FileRows]
    source: str = ""
    time: str | None = None  # the column to count over; None: the stream's event time, else the row's number
    rejects: Rejects | None = None  # where rows went that could not be read


def run(
    prepared: PreparedBacktest,
    histories: Iterable[History],
    *,
    time_zone: str = "UTC",
    settings: Settings = DEFAULT,
    on_rows: Callable[[int], None] | None = None,
) -> Backtest:
    """What the queries would have matched; `on_rows` is told of rows as they are done.

    >>> import pyarrow as pa
    >>> from eddyline import Query, Stream
    >>> from eddyline.backtest.prepare import prepare
    >>> ticks = Stream("ticks", pa.schema({"price": pa.float64()}))
    >>> piece = FileRows(pa.record_batch({"price": [5.0, 50.0]}), "day.csv", 0)
    >>> prepared = prepare([Query("cheap", "SELECT * FROM ticks WHERE price < 10")], [ticks])
    >>> [query] = run(prepared, [History("ticks", [piece])]).queries
    >>> query.matches, query.share, query.first.values
    (1, 0.5, {'price': 5.0})
    """
    joins = None if prepared.joins is None else JoinTallies(prepared.joins, time_zone, settings)
    findings = [_find(prepared, history, joins, time_zone, settings, on_rows) for history in histories]
    return backtest_of(prepared, findings, settings, () if joins is None else joins.tallies())


def _find(
    prepared: PreparedBacktest,
    history: History,
    joins: JoinTallies | None,
    time_zone: str,
    settings: Settings,
    on_rows: Callable[[int], None] | None,
) -> StreamTally:
    lane = prepared.lane(history.stream)
    axis = axis_of(lane.stream, history.time, time_zone)
    tally = Tally(axis, len(lane.tested), len(lane.queries), settings)
    files, latest = 0, None
    for piece in history.pieces:
        files += piece.file != latest
        latest = piece.file
        collect(tally, lane.queries, Stretch(piece.batch, piece.file, piece.rows, tally.rows), settings)
        if joins is not None:
            joins.take(history.stream, piece)
        if on_rows is not None:
            on_rows(piece.batch.num_rows)
    rejects = history.rejects or Rejects()
    return StreamTally(history.stream, tally, history.source, files, rejects.count, tuple(rejects.first))

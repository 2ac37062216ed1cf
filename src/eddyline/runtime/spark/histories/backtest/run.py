"""Runs queries over a history of any size: every task tallies its own rows, and the tallies are added up.

    Parquet --task--> Tally \\
    Parquet --task--> Tally  --few tasks--> Tally --driver--> Tally of everything --> QueryResult
    Parquet --task--> Tally /

A tally is as large as its report, whatever the history; so is what comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from eddyline.backtest.axis import axis_of
from eddyline.backtest.prepare import PreparedBacktest
from eddyline.backtest.results import StreamTally, backtest_of
from eddyline.backtest.settings import DEFAULT, Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Backtest
from eddyline.errors import FileError
from eddyline.model.expression import Call
from eddyline.runtime.spark.histories.backtest.worker import BacktestTask, added_up, tallied, unpacked
from eddyline.runtime.spark.histories.parquet_files import ParquetFiles, explained, read_rows
from eddyline.runtime.spark.histories.sending import Sending, despite_failures
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.transport.carrying import carried_rows
from eddyline.runtime.spark.transport.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OnFailure = Callable[[Call, str], None]
ADDERS: Final = 4  # tasks that add up tallies before the driver does


@dataclass(frozen=True)
class SparkHistory:
    """What has happened on one stream."""

    stream: str
    files: ParquetFiles
    source: str = ""
    time: str | None = None  # the column to count over; None: the stream's event time, else the row's number


def run(
    spark: SparkSession,
    prepared: PreparedBacktest,
    histories: Iterable[SparkHistory],
    *,
    time_zone: str = "UTC",
    settings: Settings = DEFAULT,
    folder: str | None = None,
    on_failure: OnFailure = lambda call, reason: None,
) -> Backtest:
    """What the queries would have matched: the numbers, rows and overlaps that the embedded runtime gives.

    `folder` is where compiled queries are put for the workers, as for `match`. `on_failure` is told of calls that only
    Spark can compute and that failed on some row: they count as NULL.
    """
    session_checks.check(spark, time_zone=time_zone)
    findings = [
        _find(spark, prepared, history, time_zone, settings, folder, on_failure) for history in histories
    ]
    return backtest_of(prepared, findings, settings)


def _find(
    spark: SparkSession,
    prepared: PreparedBacktest,
    history: SparkHistory,
    time_zone: str,
    settings: Settings,
    folder: str | None,
    on_failure: OnFailure,
) -> StreamTally:
    lane = prepared.lane(history.stream)
    axis = axis_of(lane.stream, history.time, time_zone)
    rows = read_rows(spark, history.files, lane.stream)
    sending = Sending.of(rows, lane.stream, lane.stream.schema.names, lane.queries.externals())
    shipment = ship(lane.queries, folder=folder, local=session_checks.is_local(spark))
    task = BacktestTask(shipment, sending, axis, len(lane.tested), settings)
    with explained():
        tallies, culprits = despite_failures(
            rows, sending.externals, lambda nulled: _tallies(sending.frame(rows, nulled), task).collect()
        )
    for call, reason in culprits.items():
        on_failure(call, reason)
    total = Tally(axis, len(lane.tested), len(lane.queries), settings)
    for [content] in tallies:
        total.merge(unpacked(content))
    if total.rows != rows.count:
        raise FileError(f'the files of "{history.source}" changed while they were read', hint="run it again")
    return StreamTally(history.stream, total, history.source, len(rows.files))


def _tallies(frame: DataFrame, task: BacktestTask) -> DataFrame:
    parts = frame.mapInArrow(carried_rows(partial(tallied, task)), "tally binary")
    return parts.repartition(ADDERS).mapInArrow(carried_rows(added_up), "tally binary")

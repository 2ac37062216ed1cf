"""What queries would have matched in a history, held against expectations; reports are written on request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from eddyline.backtest.as_json import as_json
from eddyline.backtest.check import check
from eddyline.backtest.expectations import read_expectations
from eddyline.backtest.junit import to_junit
from eddyline.backtest.prepare import PreparedBacktest, prepare
from eddyline.backtest.report import to_html
from eddyline.backtest.settings import Settings
from eddyline.backtest.values import Backtest, RefusedQuery
from eddyline.errors import UsageError
from eddyline.runtime.embedded.backtest.fetch import fetch_row
from eddyline.runtime.embedded.backtest.run import History, run
from eddyline.runtime.embedded.infer import infer
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import read
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.histories.backtest import SparkHistory
from eddyline.runtime.spark.histories.backtest import run as run_on_spark
from eddyline.runtime.spark.sessions.command_session import command_session
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import (
    Data,
    check_zone,
    complete,
    data_of,
    refuse_overwriting,
    with_option,
)
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions
from eddyline.service.files.text import write_text
from eddyline.service.findings import Finding
from eddyline.service.jobs.match import EMBEDDED_ONLY
from eddyline.service.spark_files import infer_on_spark, parquet_files, tell_culprits
from eddyline.service.watcher import SILENT, Watcher

_QUERY_FILES: Final = (".sql", ".jsonl", ".ndjson", ".json", ".csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestRequest:
    """Which queries, on which history; `against` are existing queries: a registry, or a file of them.

    `time` is the column to count over. `spark` are the settings of a session, None to work in this process.
    """

    files: Sequence[str]
    streams: Sequence[str]
    against: str | None = None
    expect: str | None = None
    reports: Sequence[str] = ()
    junit: str | None = None
    time: str | None = None
    schemas: Sequence[str] = ()
    times: TimeOptions = NO_OPTIONS
    join_window: str | None = None
    samples: int = 3
    input_format: str | None = None
    rejects: str | None = None
    time_zone: str = "UTC"
    spark: Mapping[str, str] | None = None


def backtest(request: BacktestRequest, watcher: Watcher = SILENT) -> Backtest:
    """Test queries on a history."""
    zone, format = request.time_zone, request.input_format
    check_zone(zone)
    _check_endings(request.reports)
    expectations = read_expectations(request.expect) if request.expect is not None else []
    with ExitStack() as stack:
        session = None
        if request.spark is not None:
            session = stack.enter_context(command_session(request.spark, time_zone=zone))
        chosen = choose(request.files, None, join_window=request.join_window)
        existing = _existing(request.against, on_spark=session is not None)
        data = data_of(
            request.streams,
            None,
            request.schemas,
            existing.streams,
            [*chosen.queries, *existing.queries],
            times=request.times,
            format=format,
            infer=infer if session is None else partial(infer_on_spark, session),
            watcher=watcher,
        )
        written = (request.rejects, *request.reports, request.junit)
        refuse_overwriting(written, data, (*request.files, request.against, request.expect), format=format)
        prepared = _prepare(chosen, existing, data, zone, session)
        if session is not None:
            found = _run_on_spark(session, request, prepared, data, watcher)
        else:
            rejects = stack.enter_context(Rejects(request.rejects, at_once=True))
            found = _run(request, prepared, data, rejects, watcher)
    found = replace(found, refused=(*map(_refusal, chosen.findings), *found.refused))
    found = check(found, prepared, expectations, fetch=partial(fetch_row, format=format, time_zone=zone))
    _write(found, request.reports, request.junit)
    return found


def _refusal(finding: Finding) -> RefusedQuery:
    """An entry of a file that is no query, or that repeats one."""
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    hint = "" if finding.hint is None else f"\nhint: {finding.hint}"
    message = f"{place}: {finding.message}"
    return RefusedQuery(finding.query or place, "", message, message + hint)


def _check_endings(reports: Sequence[str]) -> None:
    for name in reports:
        if Path(name).suffix.lower() not in (".html", ".htm", ".json"):
            raise UsageError(f'a report is an .html or a .json file, not "{name}"')


def _existing(against: str | None, *, on_spark: bool) -> ChosenQueries:
    if against is None:
        return ChosenQueries()
    if Path(against).suffix.lower() in _QUERY_FILES:
        return choose([against], None)
    return choose(None, against, on_spark=on_spark)


def _prepare(
    chosen: ChosenQueries, existing: ChosenQueries, data: Sequence[Data], time_zone: str, session: Any
) -> PreparedBacktest:
    streams = complete(each.stream for each in data)
    others = complete(existing.streams_besides(streams))
    return prepare(
        chosen.queries,
        streams,
        existing=existing.queries,
        others=others,
        time_zone=time_zone,
        # the registry's if none is stated: queries under test are compiled as they would be there
        join_window=existing.join_window if chosen.join_window is None else chosen.join_window,
        resolver=None if session is None else spark_resolver(session, [*streams, *others]),
        refusing_joins=None if session is None else EMBEDDED_ONLY,
        explained=partial(with_option, data=data),
    )


def _run(
    request: BacktestRequest,
    prepared: PreparedBacktest,
    data: Sequence[Data],
    rejects: Rejects,
    watcher: Watcher,
) -> Backtest:
    histories = []
    for each, column in zip(data, _columns(data, request.time), strict=True):
        own = Rejects(on_reject=rejects.add)
        pieces = read(
            each.source,
            each.stream,
            format=request.input_format,
            rejects=own,
            time_zone=request.time_zone,
            on_progress=watcher.progress,
        )
        histories.append(History(each.stream.name, pieces, each.source, column, own))
    return run(prepared, histories, time_zone=request.time_zone, settings=Settings(samples=request.samples))


def _run_on_spark(
    session: Any, request: BacktestRequest, prepared: PreparedBacktest, data: Sequence[Data], watcher: Watcher
) -> Backtest:
    histories = [
        SparkHistory(each.stream.name, parquet_files(each.source, request.input_format), each.source, column)
        for each, column in zip(data, _columns(data, request.time), strict=True)
    ]

    return run_on_spark(
        session,
        prepared,
        histories,
        time_zone=request.time_zone,
        settings=Settings(samples=request.samples),
        on_failure=lambda call, reason: tell_culprits({call: reason}, watcher),
    )


def _columns(data: Sequence[Data], time: str | None) -> list[str | None]:
    """The column that each stream is counted over: one that is asked for has to be in one of them at least."""
    having = [time is not None and time.lower() in each.stream.spelling for each in data]
    return [time if has or not any(having) else None for has in having]


def _write(found: Backtest, reports: Sequence[str], junit: str | None) -> None:
    for name in reports:
        is_json = Path(name).suffix.lower() == ".json"
        write_text(name, json.dumps(as_json(found), indent=2) + "\n" if is_json else to_html(found))
    if junit is not None:
        write_text(junit, to_junit(found))

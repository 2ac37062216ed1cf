"""`eddyline backtest`: what queries would have matched in a history, before they stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from eddyline.backtest.as_json import as_json
from eddyline.backtest.check import check
from eddyline.backtest.expectations import read_expectations
from eddyline.backtest.junit import to_junit
from eddyline.backtest.prepare import Prepared, prepare
from eddyline.backtest.report import to_html
from eddyline.backtest.settings import Settings
from eddyline.backtest.values import Backtest, Refusal
from eddyline.cli.backtest_text import show
from eddyline.cli.chosen_queries import Chosen, choose
from eddyline.cli.data_sources import Data, InputFormat, data_of, refuse_overwriting
from eddyline.cli.findings import Finding
from eddyline.cli.output import Exit, Output, note, print_json
from eddyline.cli.progress import Bar
from eddyline.cli.runtimes import (
    Runtime,
    RuntimeOption,
    SparkSettings,
    infer_on_spark,
    parquet_files,
    refuse_options,
    settings_of,
    tell_culprits,
)
from eddyline.cli.schemas import HELP
from eddyline.cli.zones import check_zone
from eddyline.errors import FileError
from eddyline.runtime.embedded.backtest.fetch import fetch_row
from eddyline.runtime.embedded.backtest.run import History, run
from eddyline.runtime.embedded.infer import infer
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import read
from eddyline.runtime.spark.backtest import History as SparkHistory
from eddyline.runtime.spark.backtest import run as run_on_spark
from eddyline.runtime.spark.command_session import command_session
from eddyline.runtime.spark.functions import spark_resolver

_QUERY_FILES: Final = (".sql", ".jsonl", ".ndjson", ".json", ".csv")


def backtest(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="The queries to test: .sql, .jsonl, .json or .csv."),
    ],
    stream: Annotated[
        list[str],
        typer.Option(
            "--stream",
            "-s",
            metavar="NAME=SOURCE",
            help="History of a stream: a file, a folder, a glob, or - for standard input; may be given several times.",
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="REGISTRY_OR_FILE",
            help="Existing queries to compare with: a registry, or a file of queries.",
        ),
    ] = None,
    expect: Annotated[
        str | None, typer.Option(metavar="FILE", help="What is expected, as .toml or .jsonl.")
    ] = None,
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Write a report, as .html or .json; may be given several times."),
    ] = None,
    junit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write JUnit XML, for continuous integration.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Count over this column: a timestamp, a date or a whole number. By default the stream's event time, "
            "else the number of the row.",
        ),
    ] = None,
    schema: Annotated[list[str] | None, typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)] = None,
    samples: Annotated[int, typer.Option(min=0, max=100, help="Sample rows of each query.")] = 3,
    input_format: InputFormat = None,
    rejects: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where rows go that cannot be read, as JSON lines.")
    ] = None,
    time_zone: Annotated[str, typer.Option(help="Session time zone, as Spark names them.")] = "UTC",
    as_document: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON document.")
    ] = False,
    runtime: RuntimeOption = Runtime.EMBEDDED,
    spark: SparkSettings = None,
) -> None:
    """Test queries on history: what would they have matched?

    Shows how often and when each query would have fired, its first and last match and sample rows, which existing
    queries match the same rows, and which queries never fire or fire on everything. The history may be larger than
    memory. With --expect it checks what you expect.

    With --runtime spark the history is Parquet of any size, and the report is the same.

    An expectation that fails, a refused query and a row that cannot be read make the exit code 1; the rest goes on.

    \b
    Examples:
      eddyline backtest new.sql --stream quotes=history/
      eddyline backtest new.jsonl --stream quotes=history/ --against eddyline.db --report backtest.html
      eddyline backtest new.sql --runtime spark --stream quotes=s3a://lake/quotes/ --time at --report backtest.html
      eddyline backtest new.sql -s 'quotes=2026-01-*.parquet' --time at --expect expect.toml --junit backtest.xml

    \b
    An expectation in a .toml file:
      [cheap]
      min = 1
      max = 500
      match = [{ symbol = "ACME", price = 9.5 }]
      no_match = ["history/quotes.csv:17"]
    """
    check_zone(time_zone)
    _check_endings(report or ())
    expectations = read_expectations(expect) if expect is not None else []
    _check_runtime(runtime, spark, rejects)
    with ExitStack() as stack:
        session = None
        if runtime is Runtime.SPARK:
            session = stack.enter_context(command_session(settings_of(spark), time_zone=time_zone))
        chosen = choose(files, None)
        existing = _existing(against, on_spark=session is not None)
        data = data_of(
            stream,
            None,
            schema or (),
            existing.streams,
            chosen.queries,
            format=input_format,
            infer=infer if session is None else partial(infer_on_spark, session),
        )
        for each in data:
            if each.note is not None:
                note(each.note)
        refuse_overwriting(
            (rejects, *(report or ()), junit), data, (*files, against, expect), format=input_format
        )
        prepared = _prepare(chosen, existing, data, time_zone, session)
        if session is not None:
            found = _run_on_spark(session, prepared, data, time, samples, input_format, time_zone)
        else:
            refused = stack.enter_context(Rejects(rejects, at_once=True))
            found = _run(prepared, data, time, refused, samples, input_format, time_zone)
    found = replace(found, refused=(*map(_refusal, chosen.findings), *found.refused))
    found = check(
        found, prepared, expectations, fetch=partial(fetch_row, format=input_format, time_zone=time_zone)
    )
    _write(found, report or (), junit)
    if as_document:
        print_json(as_json(found))
    else:
        show(found, Output())
    raise typer.Exit(Exit.FINE if found.passed and not found.rejected else Exit.FINDINGS)


def _refusal(finding: Finding) -> Refusal:
    """An entry of a file that is no query, or that repeats one."""
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    hint = "" if finding.hint is None else f"\nhint: {finding.hint}"
    message = f"{place}: {finding.message}"
    return Refusal(finding.query or place, "", message, message + hint)


def _check_endings(reports: Sequence[str]) -> None:
    for name in reports:
        if Path(name).suffix.lower() not in (".html", ".htm", ".json"):
            raise typer.BadParameter(f'a report is an .html or a .json file, not "{name}"')


def _check_runtime(runtime: Runtime, spark: list[str] | None, rejects: str | None) -> None:
    if runtime is Runtime.SPARK:
        refuse_options(runtime, {"--rejects": rejects}, "a Parquet file is read as a whole, or is an error")
    else:
        refuse_options(runtime, {"--spark": spark}, "it is for --runtime spark")


def _existing(against: str | None, *, on_spark: bool) -> Chosen:
    if against is None:
        return Chosen()
    if Path(against).suffix.lower() in _QUERY_FILES:
        return choose([against], None)
    return choose(None, against, on_spark=on_spark)


def _prepare(
    chosen: Chosen, existing: Chosen, data: Sequence[Data], time_zone: str, session: Any
) -> Prepared:
    streams = [each.stream for each in data]
    names = {stream.name.lower() for stream in streams}
    others = [stream for stream in existing.streams if stream.name.lower() not in names]
    return prepare(
        chosen.queries,
        streams,
        existing=existing.queries,
        others=others,
        time_zone=time_zone,
        resolver=None if session is None else spark_resolver(session, [*streams, *others]),
    )


def _run(
    prepared: Prepared,
    data: Sequence[Data],
    time: str | None,
    rejects: Rejects,
    samples: int,
    format: str | None,
    time_zone: str,
) -> Backtest:
    over = _columns(data, time)
    with Bar() as bar:
        histories = []
        for each, column in zip(data, over, strict=True):
            own = Rejects(on_reject=rejects.add)
            pieces = read(
                each.source, each.stream, format=format, rejects=own, time_zone=time_zone, on_progress=bar
            )
            histories.append(History(each.stream.name, pieces, each.source, column, own))
        return run(prepared, histories, time_zone=time_zone, settings=Settings(samples=samples))


def _run_on_spark(
    session: Any,
    prepared: Prepared,
    data: Sequence[Data],
    time: str | None,
    samples: int,
    format: str | None,
    time_zone: str,
) -> Backtest:
    histories = [
        SparkHistory(each.stream.name, parquet_files(each.source, format), each.source, column)
        for each, column in zip(data, _columns(data, time), strict=True)
    ]
    return run_on_spark(
        session,
        prepared,
        histories,
        time_zone=time_zone,
        settings=Settings(samples=samples),
        on_failure=lambda call, reason: tell_culprits({call: reason}),
    )


def _columns(data: Sequence[Data], time: str | None) -> list[str | None]:
    """The column that each stream is counted over: one that is asked for has to be in one of them at least."""
    having = [time is not None and time.lower() in each.stream.spelling for each in data]
    return [time if has or not any(having) else None for has in having]


def _write(found: Backtest, reports: Sequence[str], junit: str | None) -> None:
    for name in reports:
        is_json = Path(name).suffix.lower() == ".json"
        _write_file(name, json.dumps(as_json(found), indent=2) + "\n" if is_json else to_html(found))
    if junit is not None:
        _write_file(junit, to_junit(found))


def _write_file(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f'the file "{name}" cannot be written: {error.strerror}') from None

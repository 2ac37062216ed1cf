"""`eddyline backtest`: what queries would have matched in a history, before they stand."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline.backtest.as_json import as_json
from eddyline.cli.options import (
    Aheads,
    EventTimes,
    Idles,
    InputFormat,
    JoinWindow,
    Latenesses,
    MaybeSchemas,
    Rejected,
    Runtime,
    RuntimeOption,
    SparkSettings,
    TimeZone,
    refuse_options,
    settings_of,
)
from eddyline.cli.output.backtest import show
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.backtest import BacktestRequest
from eddyline.service.jobs.backtest import backtest as run_backtest


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
    schema: MaybeSchemas = None,
    event_time: EventTimes = [],  # noqa: B006 (typer copies it)
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: JoinWindow = None,
    samples: Annotated[int, typer.Option(min=0, max=100, help="Sample rows of each query.")] = 3,
    input_format: InputFormat = None,
    rejects: Rejected = None,
    time_zone: TimeZone = "UTC",
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

    A query that joins streams needs a history of each, and their event times (--event-time). Its matches are pairs of
    rows, counted over the event time. Joins without time bounds take --join-window, else that of the registry that is
    compared with.

    With --runtime spark the history is Parquet of any size, and the report is the same. Joins are refused there.

    An expectation that fails, a refused query and a row that cannot be read make the exit code 1; the rest goes on.

    \b
    Examples:
      eddyline backtest new.sql --stream quotes=history/
      eddyline backtest new.jsonl --stream quotes=history/ --against eddyline.db --report backtest.html
      eddyline backtest joins.sql -s quotes=quotes/ -s trades=trades/ --event-time at --report backtest.html
      eddyline backtest joins.sql -s quotes=quotes/ -s trades=trades/ --event-time at --join-window "5 minutes"
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
    on_spark = runtime is Runtime.SPARK
    if on_spark:
        refuse_options(runtime, {"--join-window": join_window}, "joins are refused there")
        refuse_options(runtime, {"--rejects": rejects}, "a Parquet file is read as a whole, or is an error")
    else:
        refuse_options(runtime, {"--spark": spark}, "it is for --runtime spark")
    request = BacktestRequest(
        files=files,
        streams=stream,
        against=against,
        expect=expect,
        reports=report or (),
        junit=junit,
        time=time,
        schemas=schema or (),
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        join_window=join_window,
        samples=samples,
        input_format=input_format,
        rejects=rejects,
        time_zone=time_zone,
        spark=settings_of(spark) if on_spark else None,
    )
    with Terminal() as watcher:
        found = run_backtest(request, watcher)
    if as_document:
        print_json(as_json(found))
    else:
        show(found, Printer())
    raise typer.Exit(Exit.FINE if found.passed and not found.rejected else Exit.FINDINGS)

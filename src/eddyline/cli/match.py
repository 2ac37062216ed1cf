"""`eddyline match`: files of rows against standing queries; counts, pairs, or the rows that queries ask for."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from eddyline.cli.options import (
    Aheads,
    EventTimes,
    Idles,
    InputFormat,
    JoinWindow,
    Latenesses,
    MaybeRegistry,
    MaybeSchemas,
    QueryFiles,
    Rejected,
    Runtime,
    RuntimeOption,
    SparkSettings,
    StreamSources,
    TimeZone,
    refuse_options,
    settings_of,
)
from eddyline.cli.output.findings import exit_code
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Exit, Printer, counted, counted_rows, note, print_json
from eddyline.errors import UsageError
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.match import MatchForm, MatchOutcome, MatchRequest, match_files
from eddyline.service.jobs.match_spark import match_on_spark

_LEFT_OUT: Final = {
    "no time": "the event time is NULL",
    "out of range": "the event time is too far from 1970",
}


def match(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="Rows of the only stream: a file, a folder, a glob, or -."),
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    stream: StreamSources = None,
    schema: MaybeSchemas = None,
    event_time: EventTimes = [],  # noqa: B006 (typer copies it)
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: JoinWindow = None,
    output: Annotated[
        MatchForm | None,
        typer.Option(
            help="counts: matches of each query. pairs: which query matched which row, or which two. "
            "rows: what the queries select. "
            "By default counts on a terminal, else rows."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_FOLDER",
            help="Where to: a file (its ending says the format), a folder/ with a file for each SELECT list, or -.",
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Format of what is written where no ending says it.")
    ] = None,
    input_format: InputFormat = None,
    rejects: Rejected = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads that match; by default one for each processor.")
    ] = None,
    time_zone: TimeZone = "UTC",
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as one JSON document.")] = False,
    runtime: RuntimeOption = Runtime.EMBEDDED,
    spark: SparkSettings = None,
) -> None:
    """Match files of rows against standing queries.

    Rows are read from Parquet, Arrow, CSV, TSV and JSON lines, the last three also with .gz, in bounded memory. Row
    numbers count from 1 in each file; a header and empty lines are no rows. A stream's columns are those of --schema,
    else of the registry, else of its files; from text they are guessed, with a note.

    Rows that cannot be read go to --rejects with file, line and reason, else to a file beside --out, else the first of
    them are shown; the other rows are matched. Rejected rows and refused queries make the exit code 1; a file that is
    broken as a whole makes it 3.

    A query that joins streams needs rows of each of them, and their event times (--event-time). Its matches are pairs
    of rows: with_file and with_row name the second one. Files need not be sorted by time. Joins without time bounds take
    --join-window.

    With --runtime spark the rows are Parquet of any size, pairs and rows need --out, and what is written there are
    folders of Spark's part files, in no order. Joins are refused there.

    \b
    Examples:
      eddyline match quotes.parquet --queries rules.sql
      eddyline match --queries rules.sql --stream quotes=history/ --out matches.parquet
      eddyline match --stream 'quotes=2026-01-*.csv.gz' --output pairs --out pairs.csv --rejects bad.jsonl
      eddyline match -q joins.sql --stream quotes=quotes.csv --stream trades=trades/ --event-time ts --out pairs.jsonl
      eddyline match -q joins.sql -s quotes=quotes.csv -s trades=trades.csv --event-time ts --join-window "5 minutes"
      eddyline match --runtime spark --stream quotes=s3a://lake/quotes/ --output pairs --out pairs.parquet
      cat quotes.jsonl | eddyline match - --queries rules.sql --schema 'symbol STRING, price DOUBLE' > matches.jsonl
    """
    on_spark = runtime is Runtime.SPARK
    if on_spark:
        refuse_options(
            runtime, {"--threads": threads}, "its session has cores: --spark spark.master=local[4]"
        )
        refuse_options(runtime, {"--join-window": join_window}, "joins are refused there")
        refuse_options(runtime, {"--rejects": rejects}, "a Parquet file is read as a whole, or is an error")
        form = output or (MatchForm.COUNTS if out is None else MatchForm.ROWS)
        where = out
    else:
        refuse_options(runtime, {"--spark": spark}, "it is for --runtime spark")
        form = output or (
            MatchForm.COUNTS if out is None and (as_json or sys.stdout.isatty()) else MatchForm.ROWS
        )
        where = out or (None if form is MatchForm.COUNTS else STANDARD_OUTPUT)
        if as_json and where == STANDARD_OUTPUT:
            raise UsageError("--json prints its summary to standard output; name a file with --out")
    request = MatchRequest(
        queries=queries or (),
        registry=registry,
        streams=stream or (),
        source=source,
        schemas=schema or (),
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        join_window=join_window,
        form=form,
        out=where,
        format=format,
        input_format=input_format,
        rejects=rejects,
        threads=threads,
        time_zone=time_zone,
    )
    with Terminal() as watcher:
        found = (
            match_on_spark(request, settings_of(spark), watcher)
            if on_spark
            else match_files(request, watcher)
        )
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)
    _show_rejects(found.rejects)
    raise typer.Exit(
        max(exit_code(found.chosen.findings), Exit.FINDINGS if found.rejects.count else Exit.FINE)
    )


def _show(found: MatchOutcome) -> None:
    counts, totals, where = found.counts, found.totals, found.where
    if where is None:
        rows = [
            (id + (" (shadow)" if id in found.chosen.shadow else ""), f"{count:,}")
            for id, count in sorted(counts.items(), key=lambda item: -item[1])
        ]
        Printer().table(("query", "matches"), rows, right=(1,))
    matches = f"{counted(totals.matches, 'match', 'matches')} of {counted(len(counts), 'query', 'queries')}"
    pairs = (
        f" ({counted(totals.pairs, 'pair', 'pairs')} of {counted(len(found.joins), 'join', 'joins')})"
        if found.joins
        else ""
    )
    written = f", written to {where}" if where not in (None, STANDARD_OUTPUT) else ""
    note(f"{counted_rows(totals.rows)}, {matches}{pairs}{written}")
    _show_left_out(found)


def _show_left_out(found: MatchOutcome) -> None:
    for stream, reasons in found.left_out.items():
        for reason, count in reasons.items():
            note(f"{counted_rows(count)} of {stream} left out of joins: {_LEFT_OUT[reason]}")


def _show_rejects(rejects: Rejects) -> None:
    if not rejects.count:
        return
    rows = counted_rows(rejects.count)
    if rejects.path is not None:
        note(f"{rows} could not be read: see {rejects.path}")
        return
    note(f"{rows} could not be read; --rejects FILE keeps them all. The first:")
    for reject in rejects.first:
        note(f"  {reject}")

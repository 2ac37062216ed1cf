"""`eddyline match`: files of rows against standing queries; counts, pairs, or the rows that queries ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from eddyline.cli.chosen_queries import Chosen, MaybeRegistry, QueryFiles, choose
from eddyline.cli.data_sources import Data, InputFormat, StreamSources, data_of, refuse_overwriting
from eddyline.cli.findings import ERROR
from eddyline.cli.match_report import Form, compile_set, file_in, report
from eddyline.cli.match_spark import SparkRequest, match_on_spark
from eddyline.cli.output import Exit, note
from eddyline.cli.progress import Bar
from eddyline.cli.registry_options import DEFAULT, VARIABLE
from eddyline.cli.runtimes import Runtime, RuntimeOption, SparkSettings, refuse_options, settings_of
from eddyline.cli.schemas import HELP
from eddyline.cli.zones import check_zone
from eddyline.compile import Compiler
from eddyline.model.query import Query
from eddyline.project.select_lists import LEAD
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.matching import Totals, match_source
from eddyline.runtime.embedded.outlets import Outlet, Pairs, Rows
from eddyline.runtime.embedded.places import FORMATS
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, Writer, sink_format


def match(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="Rows of the only stream: a file, a folder, a glob, or -."),
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    stream: StreamSources = None,
    schema: Annotated[list[str] | None, typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)] = None,
    output: Annotated[
        Form | None,
        typer.Option(
            help="counts: matches of each query. pairs: which query matched which row. rows: what the queries select. "
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
    rejects: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where rows go that cannot be read, as JSON lines.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads that match; by default one for each processor.")
    ] = None,
    time_zone: Annotated[str, typer.Option(help="Session time zone, as Spark names them.")] = "UTC",
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

    With --runtime spark the rows are Parquet of any size, pairs and rows need --out, and what is written there are
    folders of Spark's part files, in no order.

    \b
    Examples:
      eddyline match quotes.parquet --queries rules.sql
      eddyline match --queries rules.sql --stream quotes=history/ --out matches.parquet
      eddyline match --stream 'quotes=2026-01-*.csv.gz' --output pairs --out pairs.csv --rejects bad.jsonl
      eddyline match --runtime spark --stream quotes=s3a://lake/quotes/ --output pairs --out pairs.parquet
      cat quotes.jsonl | eddyline match - --queries rules.sql --schema 'symbol STRING, price DOUBLE' > matches.jsonl
    """
    check_zone(time_zone)
    _check_formats(format, input_format)
    if "-" in (queries or ()) and (source == "-" or any(s.endswith("=-") for s in stream or ())):
        raise typer.BadParameter("queries and rows cannot both come from standard input")
    if runtime is Runtime.SPARK:
        refuse_options(
            runtime, {"--threads": threads}, "its session has cores: --spark spark.master=local[4]"
        )
        refuse_options(runtime, {"--rejects": rejects}, "a Parquet file is read as a whole, or is an error")
        request = SparkRequest(
            queries, registry, stream, source, schema, output, out, format, input_format, time_zone, as_json
        )
        match_on_spark(request, settings_of(spark))
    refuse_options(runtime, {"--spark": spark}, "it is for --runtime spark")
    chosen = choose(queries, registry)
    data = data_of(stream or (), source, schema or (), chosen.streams, chosen.queries, format=input_format)
    for each in data:
        if each.note is not None:
            note(each.note)
    form = output or (Form.COUNTS if out is None and (as_json or sys.stdout.isatty()) else Form.ROWS)
    where = out or (None if form is Form.COUNTS else STANDARD_OUTPUT)
    if as_json and where == STANDARD_OUTPUT:
        raise typer.BadParameter("--json prints its summary to standard output; name a file with --out")
    refuse_overwriting(
        (where, rejects),
        data,
        (*(queries or ()), registry or os.environ.get(VARIABLE) or DEFAULT),
        format=input_format,
    )
    if form is Form.COUNTS and where is not None:
        where = file_in(where, "counts", format)
        _ = format or sink_format(where)  # before the work is done
    compiled = compile_set(chosen, data, time_zone)
    with Rejects(_rejects_path(rejects, where), at_once=rejects is not None) as refused:
        totals = _run(chosen, compiled, data, form, where, format, refused, threads, input_format)
    report(chosen, compiled, data, totals, refused, form=form, where=where, format=format, as_json=as_json)
    errors = any(finding.severity == ERROR for finding in chosen.findings)
    raise typer.Exit(Exit.FINDINGS if refused.count or errors else Exit.FINE)


def _check_formats(*formats: str | None) -> None:
    known = list(dict.fromkeys(FORMATS.values()))
    for format in formats:
        if format is not None and format not in known:
            raise typer.BadParameter(f'"{format}" is no format; known are {", ".join(known)}')


def _rejects_path(rejects: str | None, where: str | None) -> Path | None:
    if rejects is not None:
        return Path(rejects)
    if where is None or where == STANDARD_OUTPUT:
        return None
    path = Path(f"{where.rstrip('/')}.rejects.jsonl")
    path.unlink(missing_ok=True)  # of an earlier run
    return path


def _run(
    chosen: Chosen,
    compiled: QuerySet,
    data: Sequence[Data],
    form: Form,
    where: str | None,
    format: str | None,
    rejects: Rejects,
    threads: int | None,
    input_format: str | None,
) -> Totals:
    totals = Totals()
    with ExitStack() as stack:
        outlet = _outlet(chosen, compiled, form, where, format, stack)
        bar = stack.enter_context(Bar())
        for each in data:
            bar.restart()
            match_source(
                compiled,
                each.source,
                each.stream,
                totals=totals,
                outlet=outlet,
                rejects=rejects,
                format=input_format,
                threads=threads or _processors(),
                on_progress=bar,
            )
    return totals


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _outlet(
    chosen: Chosen, compiled: QuerySet, form: Form, where: str | None, format: str | None, stack: ExitStack
) -> Outlet | None:
    if form is Form.COUNTS or where is None:
        return None
    if form is Form.PAIRS:
        place = file_in(where, "pairs", format)
        return Pairs(stack.enter_context(Writer(place, LEAD, format)), chosen.shadow)
    compiler = Compiler(compiled.streams, time_zone=compiled.time_zone)
    accepted = [compiler.compile(Query(q.id, q.sql)) for q in chosen.queries if q.id in compiled]
    return Rows(compiled, accepted, where, stack, format=format, hidden=chosen.shadow)

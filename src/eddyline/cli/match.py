"""`eddyline match`: files of rows against standing queries; counts, pairs, or the rows that queries ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import pyarrow as pa
import typer

from eddyline.cli.chosen_queries import Chosen, MaybeRegistry, QueryFiles, choose
from eddyline.cli.data_sources import Data, InputFormat, StreamSources, data_of, refuse_overwriting
from eddyline.cli.findings import ERROR
from eddyline.cli.output import Exit, Output, counted, counted_rows, note, print_json
from eddyline.cli.progress import Bar
from eddyline.cli.registry_options import DEFAULT, VARIABLE
from eddyline.cli.schemas import HELP
from eddyline.cli.zones import check_zone
from eddyline.compile import Compiler
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.matching import Totals, match_source
from eddyline.runtime.embedded.outlets import LEAD, Outlet, Pairs, Rows, is_folder
from eddyline.runtime.embedded.places import FORMATS
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, Writer, sink_format

_COUNTS: Final = pa.schema([("query", pa.string()), ("matches", pa.int64())])


class Form(StrEnum):
    """What is made of matches."""

    COUNTS = "counts"
    PAIRS = "pairs"
    ROWS = "rows"


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
) -> None:
    """Match files of rows against standing queries.

    Rows are read from Parquet, Arrow, CSV, TSV and JSON lines, the last three also with .gz, in bounded memory. Row
    numbers count from 1 in each file; a header and empty lines are no rows. A stream's columns are those of --schema,
    else of the registry, else of its files; from text they are guessed, with a note.

    Rows that cannot be read go to --rejects with file, line and reason, else to a file beside --out, else the first of
    them are shown; the other rows are matched. Rejected rows and refused queries make the exit code 1; a file that is
    broken as a whole makes it 3.

    \b
    Examples:
      eddyline match quotes.parquet --queries rules.sql
      eddyline match --queries rules.sql --stream quotes=history/ --out matches.parquet
      eddyline match --stream 'quotes=2026-01-*.csv.gz' --output pairs --out pairs.csv --rejects bad.jsonl
      cat quotes.jsonl | eddyline match - --queries rules.sql --schema 'symbol STRING, price DOUBLE' > matches.jsonl
    """
    check_zone(time_zone)
    _check_formats(format, input_format)
    if "-" in (queries or ()) and (source == "-" or any(s.endswith("=-") for s in stream or ())):
        raise typer.BadParameter("queries and rows cannot both come from standard input")
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
        where = _file(where, "counts", format)
        _ = format or sink_format(where)  # before the work is done
    compiled = _compile(chosen, data, time_zone)
    with Rejects(_rejects_path(rejects, where), at_once=rejects is not None) as refused:
        totals = _run(chosen, compiled, data, form, where, format, refused, threads, input_format)
    _report(chosen, compiled, data, totals, refused, form=form, where=where, format=format, as_json=as_json)
    errors = any(finding.severity == ERROR for finding in chosen.findings)
    raise typer.Exit(Exit.FINDINGS if refused.count or errors else Exit.FINE)


def _check_formats(*formats: str | None) -> None:
    known = list(dict.fromkeys(FORMATS.values()))
    for format in formats:
        if format is not None and format not in known:
            raise typer.BadParameter(f'"{format}" is no format; known are {", ".join(known)}')


def _streams(chosen: Chosen, data: Sequence[Data]) -> list[Stream]:
    """The streams with rows, and those that the registry declares besides."""
    read = [each.stream for each in data]
    names = {stream.name.lower() for stream in read}
    return [*read, *(stream for stream in chosen.streams if stream.name.lower() not in names)]


def _compile(chosen: Chosen, data: Sequence[Data], time_zone: str) -> QuerySet:
    compiled = QuerySet.build(
        chosen.queries, streams=_streams(chosen, data), on_error="collect", time_zone=time_zone
    )
    chosen.refused(compiled.problems)
    for finding in chosen.findings:
        finding.show(Output(errors=True))
    if not len(compiled):
        note("no query is left to match")
    return compiled


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
        place = _file(where, "pairs", format)
        return Pairs(stack.enter_context(Writer(place, LEAD, format)), chosen.shadow)
    compiler = Compiler(compiled.streams, time_zone=compiled.time_zone)
    accepted = [compiler.compile(Query(q.id, q.sql)) for q in chosen.queries if q.id in compiled]
    return Rows(accepted, compiled.streams, where, stack, format=format, hidden=chosen.shadow)


def _file(where: str, name: str, format: str | None) -> str:
    """The file that is meant: in a folder, which is made, one of a name."""
    if not is_folder(where):
        return where
    Path(where).mkdir(parents=True, exist_ok=True)
    return str(Path(where) / f"{name}.{format or 'parquet'}")


def _report(
    chosen: Chosen,
    compiled: QuerySet,
    data: Sequence[Data],
    totals: Totals,
    rejects: Rejects,
    *,
    form: Form,
    where: str | None,
    format: str | None,
    as_json: bool,
) -> None:
    counts = {query.id: totals.counts[query.id] for query in chosen.queries if query.id in compiled}
    if form is Form.COUNTS and where is not None:
        table = pa.table([list(counts), list(counts.values())], schema=_COUNTS)
        with Writer(where, _COUNTS, format) as writer:
            writer.sink.write(table)
    if as_json:
        print_json(_summary(chosen, data, totals, rejects, counts, where))
    elif where is None:
        _show_counts(chosen, counts)
    if not as_json:
        found = f"{counted(totals.matches, 'match', 'matches')} of {counted(len(counts), 'query', 'queries')}"
        written = f", written to {where}" if where not in (None, STANDARD_OUTPUT) else ""
        note(f"{counted_rows(totals.rows)}, {found}{written}")
    _report_rejects(rejects)


def _show_counts(chosen: Chosen, counts: dict[str, int]) -> None:
    rows = [
        (id + (" (shadow)" if id in chosen.shadow else ""), f"{count:,}")
        for id, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    Output().table(("query", "matches"), rows, right=(1,))


def _summary(
    chosen: Chosen,
    data: Sequence[Data],
    totals: Totals,
    rejects: Rejects,
    counts: dict[str, int],
    where: str | None,
) -> dict[str, object]:
    return {
        "rows": totals.rows,
        "matches": totals.matches,
        "streams": [{"stream": each.stream.name, "source": each.source} for each in data],
        "counts": counts,
        "shadow": sorted(chosen.shadow & set(counts)),
        "findings": [finding.as_json() for finding in chosen.findings],
        "rejected": rejects.count,
        "rejects": str(rejects.path) if rejects.count and rejects.path is not None else None,
        "first_rejects": [reject.as_json() for reject in rejects.first],
        "out": where,
    }


def _report_rejects(rejects: Rejects) -> None:
    if not rejects.count:
        return
    rows = counted_rows(rejects.count)
    if rejects.path is not None:
        note(f"{rows} could not be read: see {rejects.path}")
        return
    note(f"{rows} could not be read; --rejects FILE keeps them all. The first:")
    for reject in rejects.first:
        note(f"  {reject}")

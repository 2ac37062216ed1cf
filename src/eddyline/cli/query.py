"""`eddyline query ...`: `check` finds every problem, `explain` shows one's way; the rest works on a registry."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated, Final

import typer

from eddyline.cli import explanation, query_change, query_list, query_transfer, query_versions
from eddyline.cli.check import Report, check_files
from eddyline.cli.options import AsJson, Schemas, StreamName, TimeZone
from eddyline.cli.output import Exit, Output, print_json
from eddyline.cli.query_files import Entry, QueryFile, is_query_file, read_queries
from eddyline.cli.runtimes import Runtime
from eddyline.cli.schemas import read_source, streams_of
from eddyline.cli.zones import check_zone
from eddyline.compile import Compiler
from eddyline.errors import FileError, QueryError
from eddyline.model.query import Query
from eddyline.runtime.spark.functions.asking import asking_spark

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at queries, and keep them: files are checked, registries changed, every change is a version.",
)
app.command("add")(query_change.add)
app.command("remove")(query_change.remove)
app.command("list")(query_list.list_queries)
app.command("show")(query_list.show)
app.command("enable")(query_change.enable)
app.command("disable")(query_change.disable)
app.command("shadow")(query_change.shadow)
app.command("import")(query_transfer.import_queries)
app.command("export")(query_transfer.export)
app.command("history")(query_versions.history)
app.command("diff")(query_versions.diff)
app.command("rollback")(query_versions.rollback)

AD_HOC: Final = ""  # id of a query that is given as text


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help=".sql, .jsonl, .json or .csv; - is standard input as JSON lines."
        ),
    ],
    schema: Schemas,
    stream: StreamName = None,
    time_zone: TimeZone = "UTC",
    runtime: Annotated[
        Runtime, typer.Option("--runtime", help="spark: queries may use whatever Spark has; it is asked.")
    ] = Runtime.EMBEDDED,
    as_json: AsJson = False,
) -> None:
    """Find every problem in files of queries.

    Errors (a query that is refused, an entry that cannot be read, an id used twice) and warnings (a query that no
    tuple can ever match) make the exit code 1; a note (a query that every tuple matches) does not. A file that
    cannot be read at all makes it 3.

    \b
    Examples:
      eddyline query check rules.sql --schema quotes.parquet
      eddyline query check rules.jsonl --schema 'symbol STRING, price DOUBLE'
      eddyline query check *.sql --schema q=quotes.csv --schema t=trades.ddl
      eddyline query check rules.sql --schema quotes.parquet --runtime spark

    \b
    A .sql file has a line with the query's id above each query:
      -- name: cheap
      SELECT symbol FROM quotes WHERE price < 10;
    """
    check_zone(time_zone)
    sources = [read_source(option) for option in schema]
    with ExitStack() as stack:
        ask = stack.enter_context(asking_spark(time_zone)) if runtime == Runtime.SPARK else None

        def compiler_for(queries: list[Query]) -> Compiler:
            streams = streams_of(sources, queries, name=stream)
            return Compiler(streams, time_zone=time_zone, resolver=ask and ask(streams))

        report = check_files(files, compiler_for)
    if as_json:
        print_json(report.as_json())
    else:
        report.show(Output())
    raise typer.Exit(_exit_code(report))


def _exit_code(report: Report) -> Exit:
    if report.count("failure"):
        return Exit.FAILURE
    return Exit.FINDINGS if report.count("error") or report.count("warning") else Exit.FINE


@app.command()
def explain(
    query: Annotated[
        str, typer.Argument(metavar="FILE_OR_SQL", help="A file of queries, or the text of one.")
    ],
    schema: Schemas,
    id: Annotated[str | None, typer.Option("--id", help="Which query of the file.")] = None,
    stream: StreamName = None,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Show a query's way from text to normal form.

    The text, the expression with all names and types settled, every rewrite that changed something, the normal form,
    and what it says about each subject.

    \b
    Examples:
      eddyline query explain "SELECT * FROM quotes WHERE NOT price > 10" --schema 'price DOUBLE'
      eddyline query explain rules.sql --id cheap --schema quotes.parquet
    """
    check_zone(time_zone)
    entry = (
        _choose(read_queries(query), id)
        if is_query_file(query)
        else Entry(Query(AD_HOC, query), "SQL", 1, query)
    )
    streams = streams_of([read_source(option) for option in schema], [entry.query], name=stream)
    output = Output()
    try:
        explained = explanation.explain(Compiler(streams, time_zone=time_zone), entry.query)
    except QueryError as error:
        finding = entry.finding("error", error)
        if entry.query.id == AD_HOC:
            finding = replace(finding, query=None)
        if as_json:
            print_json({"finding": finding.as_json()})
        else:
            finding.show(output)
        raise typer.Exit(Exit.FINDINGS) from None
    if as_json:
        print_json(explained.as_json())
    else:
        explained.show(output)


def _choose(file: QueryFile, id: str | None) -> Entry:
    ids = [entry.query.id for entry in file.entries]
    listed = ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
    if not ids:
        problem = file.problems[0]
        where = "" if problem.line is None else f", line {problem.line}"
        raise FileError(f'"{file.name}"{where}: {problem.message}', hint=problem.hint)
    if id is None and len(ids) > 1:
        raise typer.BadParameter(f"the file has {len(ids)} queries; choose one with --id: {listed}")
    if id is not None and id not in ids:
        raise typer.BadParameter(f'the file has no query "{id}"; it has {listed}')
    return file.entries[0 if id is None else ids.index(id)]

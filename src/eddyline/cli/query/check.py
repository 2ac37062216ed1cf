"""`query check` finds every problem in files of queries, `query explain` shows one query's way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from eddyline.cli.options import (
    Aheads,
    AsJson,
    EventTimes,
    FilesJoinWindow,
    Idles,
    Latenesses,
    Runtime,
    Schemas,
    StreamName,
    TimeZone,
)
from eddyline.cli.output.findings import exit_code, show_finding
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.model.expression import Expression
from eddyline.model.query import Output
from eddyline.normalize import explain as tree_of
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.findings import ERROR, FAILURE, NOTE, WARNING, Finding
from eddyline.service.jobs.check import Report, check_files
from eddyline.service.jobs.explanation import Explanation, JoinExplanation
from eddyline.service.jobs.explanation import explain as explained
from eddyline.sql.render import render, render_joined


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help=".sql, .jsonl, .json or .csv; - is standard input as JSON lines."
        ),
    ],
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    stream: StreamName = None,
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: FilesJoinWindow = None,
    time_zone: TimeZone = "UTC",
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="REGISTRY",
            help="Also compare them with the queries of a registry, whose streams need no --schema.",
        ),
    ] = None,
    runtime: Annotated[
        Runtime, typer.Option("--runtime", help="spark: queries may use whatever Spark has; it is asked.")
    ] = Runtime.EMBEDDED,
    as_json: AsJson = False,
) -> None:
    """Find every problem in files of queries.

    Errors (a query that is refused, an entry that cannot be read, an id used twice) and warnings (a query that no
    tuple, or no pair of tuples, can ever match) make the exit code 1; a note (a query that every tuple matches) does not. A file that
    cannot be read at all makes it 3.
    With --against queries are compared with those of a registry and with one another, as if they were imported: one that
    matches the same rows as another, or only rows that another matches, is a warning, too.

    \b
    Examples:
      eddyline query check rules.sql --schema quotes.parquet
      eddyline query check rules.jsonl --schema 'symbol STRING, price DOUBLE'
      eddyline query check *.sql --schema q=quotes.csv --schema t=trades.ddl
      eddyline query check *.sql --schema q=quotes.csv --schema t=trades.csv --event-time ts --lateness "10 seconds"
      eddyline query check *.sql --schema q=quotes.ddl --schema t=trades.ddl --event-time ts --lateness 0s --join-window "5 minutes"
      eddyline query check rules.sql --schema quotes.parquet --runtime spark
      eddyline query check rules.sql --against eddyline.db

    \b
    A .sql file has a line with the query's id above each query:
      -- name: cheap
      SELECT symbol FROM quotes WHERE price < 10;
    """
    on_spark = runtime is Runtime.SPARK
    times = TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle)
    report = check_files(
        files,
        schema,
        stream=stream,
        times=times,
        join_window=join_window,
        time_zone=time_zone,
        on_spark=on_spark,
        against=against,
    )
    if as_json:
        print_json(report.as_json())
    else:
        _show_report(report, Printer())
    raise typer.Exit(exit_code(report.findings))


def _show_report(report: Report, output: Printer) -> None:
    """All findings, then the sum."""
    for finding in report.findings:
        show_finding(finding, output)
        output.line()
    parts = [_counted(report.queries, "query", "queries") + " read", f"{report.accepted} accepted"]
    for severity in (ERROR, WARNING, NOTE, FAILURE):
        if report.count(severity):
            parts.append(_counted(report.count(severity), severity, f"{severity}s"))
    style = "green" if not report.findings else "bold"
    output.line(f"{_counted(len(report.files), 'file', 'files')}: {', '.join(parts)}", style)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def explain(
    query: Annotated[
        str, typer.Argument(metavar="FILE_OR_SQL", help="A file of queries, or the text of one.")
    ],
    schema: Schemas,
    id: Annotated[str | None, typer.Option("--id", help="Which query of the file.")] = None,
    stream: StreamName = None,
    event_time: EventTimes = [],  # noqa: B006 (typer copies it)
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: FilesJoinWindow = None,
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
      eddyline query explain rules.sql --id rises --schema quotes.csv --event-time ts --lateness "10 seconds"
      eddyline query explain rules.sql --id pairs --schema quotes.ddl --join-window "5 minutes"
    """
    times = TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle)
    found = explained(
        query, schema, id=id, stream=stream, times=times, join_window=join_window, time_zone=time_zone
    )
    if as_json:
        print_json({"finding": found.as_json()} if isinstance(found, Finding) else found.as_json())
    elif isinstance(found, Finding):
        show_finding(found, Printer())
    elif isinstance(found, JoinExplanation):
        _show_join(found, Printer())
    else:
        _show_explanation(found, Printer())
    raise typer.Exit(Exit.FINDINGS if isinstance(found, Finding) else Exit.FINE)


def _show_explanation(explanation: Explanation, output: Printer) -> None:
    """One part per stage."""
    bound = explanation.bound
    _show_text(output, bound.id, bound.sql)
    output.heading(f"bound to the stream {bound.stream}, time zone {bound.time_zone}")
    _indented(output, render(bound.predicate))
    for rule, _, after in explanation.rewrites:
        output.heading(f"rewritten by {rule}")
        _indented(output, after)
    output.heading("normal form")
    _indented(output, explanation.verdict or tree_of(explanation.normal, render))
    if explanation.verdict is None:
        output.heading("subjects")
        output.table(("subject", "type", "is in"), explanation.subjects)
    _show_outputs(output, bound.outputs, render)


def _show_join(explanation: JoinExplanation, output: Printer) -> None:
    """The same for a join, the rewrites side by side."""
    bound = explanation.bound
    _show_text(output, bound.id, bound.sql)
    output.heading(f"bound to the streams {bound.stream}, time zone {bound.time_zone}")
    _indented(output, render_joined(bound.predicate))
    for side, rule, after in explanation.rewrites:
        output.heading(f"{side} rewritten by {rule}")
        _indented(output, after)
    output.heading("normal form")
    _indented(output, explanation.normal_form)
    _show_outputs(output, bound.outputs, render_joined)


def _show_text(output: Printer, id: str, sql: str) -> None:
    output.line(f'query "{id}"' if id else "query", "bold")
    _indented(output, sql)


def _show_outputs(output: Printer, outputs: Sequence[Output], text: Callable[[Expression], str]) -> None:
    output.heading("delivers")
    rows = [(o.name, str(o.expression.type), text(o.expression)) for o in outputs]
    output.table(("name", "type", "from"), rows)


def _indented(output: Printer, text: str) -> None:
    for line in text.split("\n"):
        output.line(f"  {line}")

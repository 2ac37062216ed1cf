"""`query why`: why rows match a query or not, in words and as JSON."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pyarrow as pa
import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import (
    Aheads,
    AsJson,
    EventTimes,
    Idles,
    InputFormat,
    JoinWindow,
    Latenesses,
    MaybeRegistry,
    MaybeSchemas,
    QueryFiles,
    TimeZone,
)
from eddyline.cli.output.findings import show_finding
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Exit, Printer, complain, counted, counted_rows, note, print_json
from eddyline.delivery.json_text import json_lines
from eddyline.errors import EddylineError, UsageError
from eddyline.execute.why import Why
from eddyline.model.query import NormalQuery
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.verdicts import Verdicts, as_json, describe, words
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.findings import Finding
from eddyline.service.jobs.why import JoinedRow, JudgedRow, JudgedRows, WhyRequest, ask_why


def why(
    id: Annotated[str, typer.Argument(metavar="ID", help="The query.", autocompletion=query_ids)],
    row: Annotated[
        list[str] | None,
        typer.Option(
            "--row",
            metavar="FILE:N",
            help="One row: the N-th of a file, counted from 1; or a JSON object. NAME=ROW says which stream it is of.",
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="All rows of a file, a folder, a glob, or -.")
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    stream: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            "-s",
            metavar="NAME=SOURCE",
            help="For a join: where the partners of the row are; a file, a folder, a glob, or -.",
        ),
    ] = None,
    schema: MaybeSchemas = None,
    event_time: EventTimes = [],  # noqa: B006 (typer copies it)
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: JoinWindow = None,
    input_format: InputFormat = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="With --rows: only how often what failed.")
    ] = False,
    time_zone: TimeZone = "UTC",
    as_document: AsJson = False,
) -> None:
    """Say why rows match a query, or why not.

    A match names the conditions of one branch that holds; otherwise those are named that fail, any of which would have
    to hold. Rows count from 1; a header and empty lines are no rows, rows that cannot be read are.

    A query that joins streams is asked about one row and all rows of the partner stream: how many of these are left
    after the key, the window, the conditions on the partner and those on both, and what the nearest one lacks.

    \b
    Examples:
      eddyline query why cheap --row quotes.csv:17 --queries rules.sql
      eddyline query why cheap --row '{"symbol": "ACME", "price": 9.5}'
      eddyline query why cheap --rows quotes.parquet --summary
      eddyline query why spread --row trades.csv:12 --stream quotes=quotes.csv
      eddyline query why spread --row trades.csv:12 --stream quotes=quotes.csv --join-window "1 hour"
    """
    if row is not None and len(row) > 1:
        raise UsageError(
            f"--row is given {len(row)} times, and one row is asked about at a time; "
            "of a join, --stream says where the partners of the row are"
        )
    request = WhyRequest(
        id=id,
        row=row[0] if row else None,
        rows=rows,
        queries=queries or (),
        registry=registry,
        streams=stream or (),
        schemas=schema or (),
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        join_window=join_window,
        input_format=input_format,
        time_zone=time_zone,
    )
    with Terminal() as watcher:
        answer = ask_why(request, watcher)
        if isinstance(answer, Finding):
            show_finding(answer, Printer(errors=True))
            raise typer.Exit(Exit.FINDINGS)
        if isinstance(answer, JoinedRow):
            raise typer.Exit(_show_joined(answer, as_document))
        if isinstance(answer.judged, JudgedRow):
            _show_row(answer.query, answer.judged, as_document)
            return
        failure = _show_rows(answer.judged, as_document=as_document, summary=summary)
    raise typer.Exit(_show_end(answer.judged, failure, as_document=as_document))


def _show_row(query: NormalQuery, row: JudgedRow, as_document: bool) -> None:
    verdict = row.why
    if as_document:
        print_json(
            {
                "query": query.id,
                "sql": query.sql,
                **_where(row),
                "tuple": _tuple(row.batch),
                **_verdict(verdict),
            }
        )
        return
    output = Printer()
    output.line(
        f'{_subject(row)} {_headline(verdict)} "{query.id}"' + (", because" if verdict.reasons else ""),
        "bold",
    )
    for reason in verdict.reasons:
        output.line(f"  {words(reason)}")
    if not verdict.reasons:
        output.line(f"  {'every' if verdict.matched else 'no'} tuple does")


def _show_joined(row: JoinedRow, as_document: bool) -> Exit:
    rejects, why, join = row.rejects, row.why, row.join
    if as_document:
        print_json(
            {
                "query": join.id,
                "sql": join.sql,
                "stream": row.stream,
                **_where(row),
                "tuple": _tuple(row.batch),
                **why.as_json(),
                "rejected": rejects.count,
                "first_rejects": [reject.as_json() for reject in rejects.first],
            }
        )
    else:
        output = Printer()
        pairs = counted(why.pairs, "pair", "pairs") if why.pairs else "no pair"
        output.line(f'{_subject(row)} is in {pairs} of "{join.id}"', "bold")
        for line in why.lines():
            output.line(line)
        _show_rejects(rejects)
    return Exit.FINDINGS if rejects.count else Exit.FINE


def _subject(row: JudgedRow | JoinedRow) -> str:
    return f"row {row.number} of {row.file}" if row.file else "the row"


def _where(row: JudgedRow | JoinedRow) -> dict[str, object]:
    return {"file": row.file, "row": row.number} if row.file else {"file": None, "row": None}


def _headline(verdict: Why) -> str:
    return "matches" if verdict.matched else "does not match"


def _tuple(batch: pa.RecordBatch) -> Any:
    return json.loads(json_lines(batch)[0].as_py())


def _verdict(verdict: Why) -> dict[str, object]:
    return {"matched": verdict.matched, "reasons": [as_json(reason) for reason in verdict.reasons]}


def _show_rows(judged: JudgedRows, *, as_document: bool, summary: bool) -> EddylineError | None:
    """Every row; a document is written on the way, so that any number of rows can be looked at.

    It is whole all the same where a source cannot be read to its end, and says what is missing: the error that is given.
    """
    output, query = Printer(), judged.query
    if as_document:
        print("{" + f'"query": {json.dumps(query.id)}, "sql": {json.dumps(query.sql)}, "rows": [', end="")
    between = "\n  "
    try:
        for row in judged:
            if summary:
                continue
            if as_document:
                record = {"file": row.file, "row": row.number, **_verdict(row.why)}
                print(between + json.dumps(record), end="")
                between = ",\n  "
            else:
                reasons = "; ".join(map(words, row.why.reasons))
                headline = f"{_headline(row.why)}{': ' if reasons else ''}{reasons}"
                output.line(f"{row.file}:{row.number}  {headline}")
    except EddylineError as error:
        if not as_document:
            raise
        return error
    return None


def _show_end(judged: JudgedRows, failure: EddylineError | None, *, as_document: bool) -> Exit:
    """The sums, and the rows that could not be read."""
    verdicts, rejects = judged.verdicts, judged.rejects
    if as_document:
        missing = {} if failure is None else {"error": failure.message}
        print("\n], " + json.dumps({**missing, **_sums(verdicts, rejects)})[1:])
    else:
        _show_sums(Printer(), verdicts)
        _show_rejects(rejects)
    if failure is not None:
        complain(str(failure))
        return Exit.FAILURE
    return Exit.FINDINGS if rejects.count else Exit.FINE


def _show_rejects(rejects: Rejects) -> None:
    for reject in rejects.first:
        note(f"not read: {reject}")
    if rejects.count:
        note(f"{counted_rows(rejects.count)} could not be read")


def _sums(verdicts: Verdicts, rejects: Rejects) -> dict[str, object]:
    conditions = [
        {"condition": describe(c), "failed": verdicts.failed[c], "named": verdicts.decided[c]}
        for c in verdicts.conditions
    ]
    return {
        "summary": {"rows": verdicts.rows, "matched": verdicts.matched, "conditions": conditions},
        "rejected": rejects.count,
        "first_rejects": [reject.as_json() for reject in rejects.first],
    }


def _show_sums(output: Printer, verdicts: Verdicts) -> None:
    output.line(f"{verdicts.matched:,} of {verdicts.rows:,} rows match", "bold")
    if verdicts.conditions:
        rows = [
            (describe(c), f"{verdicts.failed[c]:,}", f"{verdicts.decided[c]:,}") for c in verdicts.conditions
        ]
        output.table(("condition", "rows where it fails", "named as the reason"), rows, right=(1, 2))

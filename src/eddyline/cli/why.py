"""`eddyline query why`: why rows match a query or not, in words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import pyarrow as pa
import typer

from eddyline.cli.chosen_queries import Chosen, MaybeRegistry, QueryFiles, choose
from eddyline.cli.completion import query_ids
from eddyline.cli.data_sources import Data, InputFormat, data_of
from eddyline.cli.output import Exit, Output, complain, counted_rows, note, print_json
from eddyline.cli.progress import Bar
from eddyline.cli.schemas import HELP, read_source
from eddyline.cli.zones import check_zone
from eddyline.compile import Compiler
from eddyline.errors import EddylineError, FileError, QueryError
from eddyline.execute.why import Why
from eddyline.model.catalog import Stream
from eddyline.model.query import NormalQuery
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.json_rows import row_of
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import Piece, read
from eddyline.runtime.embedded.verdicts import Verdicts, as_json, describe, words
from eddyline.sql.select import parse


def why(
    id: Annotated[str, typer.Argument(metavar="ID", help="The query.", autocompletion=query_ids)],
    row: Annotated[
        str | None,
        typer.Option(metavar="FILE:N", help="One row: the N-th of a file, counted from 1; or a JSON object."),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="All rows of a file, a folder, a glob, or -.")
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    schema: Annotated[list[str] | None, typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)] = None,
    input_format: InputFormat = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="With --rows: only how often what failed.")
    ] = False,
    time_zone: Annotated[str, typer.Option(help="Session time zone, as Spark names them.")] = "UTC",
    as_document: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say why rows match a query, or why not.

    A match names the conditions of one branch that holds; otherwise those are named that fail, any of which would have
    to hold. Rows count from 1; a header and empty lines are no rows, rows that cannot be read are.

    \b
    Examples:
      eddyline query why cheap --row quotes.csv:17 --queries rules.sql
      eddyline query why cheap --row '{"symbol": "ACME", "price": 9.5}'
      eddyline query why cheap --rows quotes.parquet --summary
    """
    check_zone(time_zone)
    if (row is None) == (rows is None):
        raise typer.BadParameter("name one row with --row FILE:N, or all rows of a file with --rows FILE")
    chosen = choose(queries, registry, only=id)
    if not chosen.entries:
        raise EddylineError(f'there is no query "{id}"', hint="query list shows those of a registry")
    try:
        stream_name = parse(chosen.entries[0].query.sql).stream
        if row is not None and row.lstrip().startswith("{"):
            stream = _declared(stream_name, schema or (), chosen)
            batch = row_of(row, stream, time_zone)
            _show_row(_compile(chosen, stream, time_zone), stream, Piece(batch, "", 0), 0, as_document)
            return
        file, number = (rows or "", 0) if row is None else _place(row)
        data = data_of(
            [f"{stream_name}={file}"], None, schema or (), chosen.streams, chosen.queries, format=input_format
        )
        if data[0].note is not None:
            note(data[0].note)
        query = _compile(chosen, data[0].stream, time_zone)
    except QueryError as error:
        chosen.refused([error])
        chosen.findings[-1].show(Output(errors=True))
        raise typer.Exit(Exit.FINDINGS) from None
    if row is not None:
        piece, place = _find(data[0], number, input_format, time_zone)
        _show_row(query, data[0].stream, piece, place, as_document)
        return
    raise typer.Exit(_show_rows(query, data[0], input_format, as_document=as_document, summary=summary))


def _compile(chosen: Chosen, stream: Stream, time_zone: str) -> NormalQuery:
    return Compiler([stream], time_zone=time_zone).compile(chosen.entries[0].query)


def _declared(name: str, schemas: Sequence[str], chosen: Chosen) -> Stream:
    """The stream of a row that is given as text."""
    for source in map(read_source, schemas):
        if source.name is None or source.name.lower() == name.lower():
            return Stream(name, source.schema)
    for stream in chosen.streams:
        if stream.name.lower() == name.lower():
            return stream
    raise typer.BadParameter(f'the columns of stream "{name}" are not known; state them with --schema')


def _place(text: str) -> tuple[str, int]:
    file, colon, number = text.rpartition(":")
    if not colon or not file or not number.isdecimal() or int(number) < 1:
        raise typer.BadParameter(
            f'--row is written as FILE:N with N from 1, such as quotes.csv:17, not "{text}"'
        )
    return file, int(number)


def _find(data: Data, number: int, format: str | None, time_zone: str) -> tuple[Piece, int]:
    """The piece that holds a row, numbered from 1, and the row's place in it."""
    seen = {0: ""}  # the row if it was rejected, and the last one that was

    def remember(reject: Reject) -> None:
        if reject.row == number or max(seen) != number:
            seen.clear()
            seen[reject.row] = reject.reason

    rejects = Rejects(on_reject=remember)
    files: set[str] = set()
    last = 0
    for piece in read(data.source, data.stream, format=format, rejects=rejects, time_zone=time_zone):
        files.add(piece.file)
        if len(files) > 1:
            raise FileError(f'"{data.source}" is several files', hint="name one of them")
        numbers = piece.rows
        last = int(numbers[-1]) + 1
        if last >= number:
            place = int(numbers.searchsorted(number - 1))
            if numbers[place] == number - 1:
                return piece, place
            break
    if number in seen:
        raise FileError(f'row {number} of "{data.source}" cannot be read: {seen[number]}')
    last = max(last, *seen)
    raise FileError(f'"{data.source}" has no row {number}: it has {last:,}', hint="rows count from 1")


def _show_row(query: NormalQuery, stream: Stream, piece: Piece, place: int, as_document: bool) -> None:
    batch = piece.batch.slice(place, 1)
    verdict = next(Verdicts(query, stream).judge(batch))
    number = int(piece.rows[place]) + 1
    where = {"file": piece.file, "row": number} if piece.file else {"file": None, "row": None}
    if as_document:
        print_json(
            {"query": query.id, "sql": query.sql, **where, "tuple": _tuple(batch), **_verdict(verdict)}
        )
        return
    output = Output()
    subject = f"row {number} of {piece.file}" if piece.file else "the row"
    output.line(
        f'{subject} {_headline(verdict)} "{query.id}"' + (", because" if verdict.reasons else ""), "bold"
    )
    for reason in verdict.reasons:
        output.line(f"  {words(reason)}")
    if not verdict.reasons:
        output.line(f"  {'every' if verdict.matched else 'no'} tuple does")


def _headline(verdict: Why) -> str:
    return "matches" if verdict.matched else "does not match"


def _tuple(batch: pa.RecordBatch) -> Any:
    from eddyline.delivery.json_text import json_lines

    return json.loads(json_lines(batch)[0].as_py())


def _verdict(verdict: Why) -> dict[str, object]:
    return {"matched": verdict.matched, "reasons": [as_json(reason) for reason in verdict.reasons]}


def _show_rows(
    query: NormalQuery, data: Data, format: str | None, *, as_document: bool, summary: bool
) -> Exit:
    """Every row, then the sums; the document is written on the way, so that any number of rows can be looked at."""
    verdicts, rejects, output = Verdicts(query, data.stream), Rejects(), Output()
    if as_document:
        print("{" + f'"query": {json.dumps(query.id)}, "sql": {json.dumps(query.sql)}, "rows": [', end="")
    between = "\n  "
    with Bar() as bar:
        pieces = read(
            data.source,
            data.stream,
            format=format,
            rejects=rejects,
            time_zone=query.time_zone,
            on_progress=bar,
        )
        try:
            for piece in pieces:
                for number, verdict in zip(piece.rows.tolist(), verdicts.judge(piece.batch), strict=True):
                    if summary:
                        continue
                    if as_document:
                        record = {"file": piece.file, "row": number + 1, **_verdict(verdict)}
                        print(between + json.dumps(record), end="")
                        between = ",\n  "
                    else:
                        reasons = "; ".join(map(words, verdict.reasons))
                        output.line(
                            f"{piece.file}:{number + 1}  {_headline(verdict)}{': ' if reasons else ''}{reasons}"
                        )
        except EddylineError as error:
            if not as_document:
                raise
            # the document is whole all the same, and says what is missing
            print("\n], " + json.dumps({"error": error.message, **_sums(verdicts, rejects)})[1:])
            complain(str(error))
            return Exit.FAILURE
    if as_document:
        print("\n], " + json.dumps(_sums(verdicts, rejects))[1:])
    else:
        _show_sums(output, verdicts)
        for reject in rejects.first:
            note(f"not read: {reject}")
        if rejects.count:
            note(f"{counted_rows(rejects.count)} could not be read")
    return Exit.FINDINGS if rejects.count else Exit.FINE


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


def _show_sums(output: Output, verdicts: Verdicts) -> None:
    output.line(f"{verdicts.matched:,} of {verdicts.rows:,} rows match", "bold")
    if verdicts.conditions:
        rows = [
            (describe(c), f"{verdicts.failed[c]:,}", f"{verdicts.decided[c]:,}") for c in verdicts.conditions
        ]
        output.table(("condition", "rows where it fails", "named as the reason"), rows, right=(1, 2))

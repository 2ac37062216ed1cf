"""Why rows match a query or not: one row, or all rows of a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.errors import FileError, QueryError, UsageError
from eddyline.execute.why import Why
from eddyline.model.catalog import Stream
from eddyline.model.query import NormalQuery
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.json_rows import row_of
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows, read
from eddyline.runtime.embedded.verdicts import Verdicts
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import Data, check_zone, data_of
from eddyline.service.files.schemas import read_source
from eddyline.service.findings import Finding
from eddyline.service.watcher import SILENT, Watcher
from eddyline.sql.grammar.select import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRequest:
    """Which query and which rows: `row` is FILE:N or a JSON object, `rows` a whole source."""

    id: str
    row: str | None = None
    rows: str | None = None
    queries: Sequence[str] = ()
    registry: str | None = None
    schemas: Sequence[str] = ()
    input_format: str | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The verdict on one row; `file` is empty for a row that was given as text. Rows count from 1."""

    file: str
    number: int
    batch: pa.RecordBatch
    why: Why


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The verdicts on all rows of a source, as they are read; the sums are whole when all of them are."""

    query: NormalQuery
    data: Data
    verdicts: Verdicts
    format: str | None
    watcher: Watcher
    rejects: Rejects = field(default_factory=Rejects)

    def __iter__(self) -> Iterator[JudgedRow]:
        pieces = read(
            self.data.source,
            self.data.stream,
            format=self.format,
            rejects=self.rejects,
            time_zone=self.query.time_zone,
            on_progress=self.watcher.progress,
        )
        for piece in pieces:
            judged = zip(piece.rows.tolist(), self.verdicts.judge(piece.batch), strict=True)
            for number, verdict in judged:
                yield JudgedRow(piece.file, number + 1, piece.batch, verdict)


@dataclass(frozen=True, slots=True)
class Answer:
    """The query, and what was asked about: one row, or many."""

    query: NormalQuery
    judged: JudgedRow | JudgedRows


def ask_why(request: WhyRequest, watcher: Watcher = SILENT) -> Answer | Finding:
    """Judge the rows that are asked about; a finding where the query is refused."""
    check_zone(request.time_zone)
    if (request.row is None) == (request.rows is None):
        raise UsageError("name one row with --row FILE:N, or all rows of a file with --rows FILE")
    chosen = choose(request.queries, request.registry, only=request.id)
    try:
        return _answer(request, chosen, watcher)
    except QueryError as error:
        chosen.refused([error])
        return chosen.findings[-1]


def _answer(request: WhyRequest, chosen: ChosenQueries, watcher: Watcher) -> Answer:
    row, zone, format = request.row, request.time_zone, request.input_format
    name = parse(chosen.entries[0].query.sql).stream
    if row is not None and row.lstrip().startswith("{"):
        stream = _declared(name, request.schemas, chosen)
        piece = FileRows(row_of(row, stream, zone), "", 0)
        query = _compile(chosen, stream, zone)
        return Answer(query, _judged(query, stream, piece, 0))
    file, number = (request.rows or "", 0) if row is None else _place(row)
    [data] = data_of(
        [f"{name}={file}"],
        None,
        request.schemas,
        chosen.streams,
        chosen.queries,
        format=format,
        watcher=watcher,
    )
    query = _compile(chosen, data.stream, zone)
    if row is not None:
        return Answer(query, _judged(query, data.stream, *_find(data, number, format, zone)))
    return Answer(query, JudgedRows(query, data, Verdicts(query, data.stream), format, watcher))


def _judged(query: NormalQuery, stream: Stream, piece: FileRows, place: int) -> JudgedRow:
    batch = piece.batch.slice(place, 1)
    verdict = next(Verdicts(query, stream).judge(batch))
    return JudgedRow(piece.file, int(piece.rows[place]) + 1, batch, verdict)


def _compile(chosen: ChosenQueries, stream: Stream, time_zone: str) -> NormalQuery:
    return Compiler([stream], time_zone=time_zone).compile(chosen.entries[0].query)


def _declared(name: str, schemas: Sequence[str], chosen: ChosenQueries) -> Stream:
    """The stream of a row that is given as text."""
    for source in map(read_source, schemas):
        if source.name is None or source.name.lower() == name.lower():
            return Stream(name, source.schema)
    for stream in chosen.streams:
        if stream.name.lower() == name.lower():
            return stream
    raise UsageError(f'the columns of stream "{name}" are not known; state them with --schema')


def _place(text: str) -> tuple[str, int]:
    file, colon, number = text.rpartition(":")
    if not colon or not file or not number.isdecimal() or int(number) < 1:
        raise UsageError(f'--row is written as FILE:N with N from 1, such as quotes.csv:17, not "{text}"')
    return file, int(number)


def _find(data: Data, number: int, format: str | None, time_zone: str) -> tuple[FileRows, int]:
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

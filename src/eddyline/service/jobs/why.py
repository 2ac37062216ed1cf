"""Why rows match a query or not: one row, or all rows of a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.errors import QueryError, UsageError
from eddyline.execute.why import Why
from eddyline.execute.why_partners import PartnersWhy
from eddyline.model.catalog import Stream
from eddyline.model.join import NormalJoin
from eddyline.model.query import NormalQuery
from eddyline.runtime.embedded.joins.pair_verdicts import PairVerdicts
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows, read
from eddyline.runtime.embedded.verdicts import Verdicts
from eddyline.service.asked_row import AskedRow, declared_stream, find_row, is_object, object_row, split_place
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import Data, check_zone, complete, data_of, with_option
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions
from eddyline.service.files.schemas import read_source
from eddyline.service.findings import Finding
from eddyline.service.watcher import SILENT, Watcher
from eddyline.sql.grammar.select import parse
from eddyline.standing.one_pair import RowOfJoin


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRequest:
    """Which query and which rows: `row` is FILE:N or a JSON object, `rows` a whole source.

    `streams` says where the partners of a row are, for a join: NAME=SOURCE.
    """

    id: str
    row: str | None = None
    rows: str | None = None
    queries: Sequence[str] = ()
    registry: str | None = None
    streams: Sequence[str] = ()
    schemas: Sequence[str] = ()
    times: TimeOptions = NO_OPTIONS
    join_window: str | None = None
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
class JoinedRow:
    """What one row of a stream finds among all rows of those that a join joins it with; `file` as for `JudgedRow`."""

    join: NormalJoin
    stream: str
    file: str
    number: int
    batch: pa.RecordBatch
    why: PartnersWhy
    rejects: Rejects


@dataclass(frozen=True, slots=True)
class Answer:
    """The query, and what was asked about: one row, or many."""

    query: NormalQuery
    judged: JudgedRow | JudgedRows


def ask_why(request: WhyRequest, watcher: Watcher = SILENT) -> Answer | JoinedRow | Finding:
    """Judge the rows that are asked about; a finding where the query is refused."""
    check_zone(request.time_zone)
    if (request.row is None) == (request.rows is None):
        raise UsageError("name one row with --row FILE:N, or all rows of a file with --rows FILE")
    chosen = choose(request.queries, request.registry, only=request.id, join_window=request.join_window)
    try:
        return _answer(request, chosen, watcher)
    except QueryError as error:
        chosen.refused([error])
        return chosen.findings[-1]


def _answer(request: WhyRequest, chosen: ChosenQueries, watcher: Watcher) -> Answer | JoinedRow:
    row, zone, format = request.row, request.time_zone, request.input_format
    name, *others = (stream.name for stream in parse(chosen.entries[0].query.sql).streams)
    if others:
        return _joined(request, chosen, (name, others[0]), watcher)
    if request.streams:
        given = " and ".join(f"--stream {stream}" for stream in request.streams)
        raise UsageError(f'query "{request.id}" reads "{name}" alone and joins nothing: leave out {given}')
    if row is not None and is_object(row):
        [stream] = request.times.apply([declared_stream(name, request.schemas, chosen.streams)])
        query = _compile(chosen, stream, zone)
        return Answer(query, _judged(query, stream, *object_row(row, stream, zone)))
    file, number = (request.rows or "", 0) if row is None else split_place(row)
    [data] = data_of(
        [f"{name}={file}"],
        None,
        request.schemas,
        chosen.streams,
        chosen.queries,
        times=request.times,
        format=format,
        watcher=watcher,
    )
    query = _compile(chosen, data.stream, zone)
    if row is not None:
        return Answer(query, _judged(query, data.stream, *find_row(data, number, format, zone)))
    return Answer(query, JudgedRows(query, data, Verdicts(query, data.stream), format, watcher))


def _judged(query: NormalQuery, stream: Stream, piece: FileRows, place: int) -> JudgedRow:
    batch = piece.batch.slice(place, 1)
    verdict = next(Verdicts(query, stream).judge(batch))
    return JudgedRow(piece.file, int(piece.rows[place]) + 1, batch, verdict)


def _compile(chosen: ChosenQueries, stream: Stream, time_zone: str) -> NormalQuery:
    normal = Compiler([stream], time_zone=time_zone).compile(chosen.entries[0].query)
    assert isinstance(normal, NormalQuery), "it reads one stream"
    return normal


def _joined(
    request: WhyRequest, chosen: ChosenQueries, names: tuple[str, str], watcher: Watcher
) -> JoinedRow:
    """Look for the partners of one row among all rows of the stream that a join of two streams joins it with."""
    if request.row is None:
        raise UsageError(
            f'query "{request.id}" joins streams: name one row with --row, and where its partners are with --stream'
        )
    asked = AskedRow.of(request.row, names, request.streams, request.id)
    own, partner = _read_by(asked, request, chosen, watcher)
    streams = {stream.name: stream for stream in (own, partner.stream)}
    try:
        compiler = Compiler(streams.values(), time_zone=request.time_zone, join_window=chosen.join_window)
        join = compiler.compile(chosen.entries[0].query)
    except QueryError as error:
        raise with_option(error, [partner._replace(stream=stream) for stream in streams.values()]) from None
    assert isinstance(join, NormalJoin), "it reads two streams"
    piece, place = asked.find(own, request.input_format, request.time_zone)
    batch, number = piece.batch.slice(place, 1), int(piece.rows[place])
    row, rejects = RowOfJoin.of(join, streams, own, batch), Rejects()
    if row.left_out is not None:
        return JoinedRow(
            join, own.name, piece.file, number + 1, batch, PartnersWhy(0, row.left_out, ()), rejects
        )
    verdicts = PairVerdicts(row, partner.source)
    for rows in read(
        partner.source,
        partner.stream,
        format=request.input_format,
        rejects=rejects,
        time_zone=request.time_zone,
        on_progress=watcher.progress,
    ):
        is_own = asked.is_partner_of_itself and _is_same(piece.file, rows.file)
        at = np.flatnonzero(rows.rows == number).tolist() if is_own else []
        verdicts.judge(rows, at[0] if at else None)
    return JoinedRow(join, own.name, piece.file, number + 1, batch, verdicts.why(), rejects)


def _read_by(
    asked: AskedRow, request: WhyRequest, chosen: ChosenQueries, watcher: Watcher
) -> tuple[Stream, Data]:
    """The stream of the row, and its partners: all rows are there, so that an event time is enough to join them."""
    schemas, sources = list(request.schemas), [f"{asked.partner}={asked.partners}"]
    if asked.file is not None and not asked.is_partner_of_itself:
        sources.append(f"{asked.stream}={asked.file}")
    elif not asked.is_partner_of_itself:
        named = [(read_source(schema).name or "").lower() for schema in schemas]
        schemas = [
            schema for schema, name in zip(schemas, named, strict=True) if name != asked.stream.lower()
        ]
    data = data_of(
        sources, None, schemas, chosen.streams, chosen.queries, format=request.input_format, watcher=watcher
    )
    streams = [each.stream for each in data]
    if len(streams) == 1 and not asked.is_partner_of_itself:
        streams.append(declared_stream(asked.stream, request.schemas, chosen.streams))
    streams = complete(request.times.apply(streams))
    return streams[-1], data[0]._replace(stream=streams[0])


def _is_same(file: str, other: str) -> bool:
    return bool(file) and Path(file).resolve() == Path(other).resolve()

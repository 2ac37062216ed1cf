"""A set of standing queries, compiled: built, matched, changed into new versions, explained, saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.errors import EddylineError, QueryError
from eddyline.execute.batch import Columns, columns_of
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.why import Why, decide
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import values_of
from eddyline.index.segment import build_segment
from eddyline.model.book import Book
from eddyline.model.catalog import Stream
from eddyline.model.expression import columns_of as attributes_of
from eddyline.model.matches import Matches
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery, Query
from eddyline.queryset import store
from eddyline.queryset.cost import Cost, Costs
from eddyline.queryset.explain import explain_query, explain_set
from eddyline.queryset.garbage import uncollected
from eddyline.queryset.pending import Pending
from eddyline.queryset.pricing import Pricing
from eddyline.sql.render import render

Queries = Mapping[str, str] | Iterable[Query]
BLOCK_ROWS: Final = 16_384  # fewer cost more calls: at 4,096 a thousand queries take twice the time
MERGE: Final = 2  # a new segment takes in those of up to so many times its size


class QuerySet:
    """An immutable set of queries that are evaluated together; changes give new versions that share what stays.

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> queries = QuerySet.build({"cheap": "SELECT symbol FROM quotes WHERE price < 10"}, streams=[quotes])
    >>> queries.match(pa.record_batch({"symbol": ["A", "B"], "price": [5.0, 50.0]})).counts()
    {'cheap': 1}
    >>> print(queries.why("cheap", {"symbol": "B", "price": 50.0}))
    does not match, because
      price is 50.0, which does not lie in (-inf, 10.0)
    """

    def __init__(
        self,
        compiler: Compiler,
        book: Book,
        segments: tuple[SegmentExecutor, ...],
        pending: Pending | None = None,
        problems: Sequence[QueryError] = (),
        version: int = 1,
        settings: IndexSettings = DEFAULT_INDEX,
    ) -> None:
        self._compiler = compiler
        self._book = book
        self._segments = segments
        self._pending = Pending() if pending is None else pending
        self.problems = list(problems)
        self.version = version
        self.settings = settings

    @staticmethod
    def build(
        queries: Queries,
        *,
        streams: Iterable[Stream],
        on_error: Literal["raise", "collect"] = "raise",
        time_zone: str = "UTC",
        settings: IndexSettings = DEFAULT_INDEX,
    ) -> QuerySet:
        """Compile queries; those that are refused raise, or are collected in `problems`."""
        empty = QuerySet(Compiler(streams, time_zone=time_zone), Book(), (), version=0, settings=settings)
        with uncollected():
            return empty.add(queries, on_error=on_error)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that queries may read."""
        return tuple(self._compiler.streams)

    @property
    def time_zone(self) -> str:
        """The session time zone of all queries."""
        return self._compiler.time_zone

    def __len__(self) -> int:
        return len(self._book)

    def __contains__(self, id: str) -> bool:
        return id in self._book

    def add(self, queries: Queries, *, on_error: Literal["raise", "collect"] = "raise") -> QuerySet:
        """A version with more queries. An id that is taken is refused: remove it first."""
        accepted: list[Query] = []
        normal: list[NormalQuery] = []
        problems: list[QueryError] = []
        fresh: set[str] = set()
        for query in _as_queries(queries):
            try:
                if query.id in fresh or query.id in self._book:
                    raise QueryError(
                        "the id is taken already", query=query.id, hint="remove that query first"
                    )
                normal.append(self._compiler.compile(query))
            except QueryError as error:
                if on_error == "raise":
                    raise
                problems.append(error)
            else:
                accepted.append(query)
                fresh.add(query.id)
        book, numbers = self._book.add(accepted)
        pending = self._pending.add(list(zip(numbers, normal, strict=True)))
        return self._next(book, pending, problems)

    def remove(self, ids: Iterable[str]) -> QuerySet:
        """A version without some queries."""
        book = self._book.remove([self._number(id) for id in ids])
        return self._next(book, self._pending)

    def _next(self, book: Book, pending: Pending, problems: Sequence[QueryError] = ()) -> QuerySet:
        return QuerySet(
            self._compiler, book, self._segments, pending, problems, self.version + 1, self.settings
        )

    def match(self, batch: Any, *, stream: str | None = None, threads: int = 1) -> Matches:
        """Which tuples of a batch (Arrow, pandas or polars) satisfy which queries."""
        executors, columns, rows = self._columns(batch, stream)
        return self._matches(executors, columns, rows, threads)

    def blocks(
        self, batch: Any, *, stream: str | None = None, rows: int = BLOCK_ROWS, threads: int = 1
    ) -> Iterator[Matches]:
        """The matches of a batch in pieces of at most `rows` rows, in order, each with the row numbers of the batch.

        For matches that would be too many to keep: what is let go before the next piece is asked for leaves its memory
        to that one.
        """
        executors, columns, total = self._columns(batch, stream)
        for first in range(0, total, rows):
            size = min(rows, total - first)
            piece = {name: column.slice(first, size) for name, column in columns.items()}
            yield self._matches(executors, piece, size, threads, first)

    def _matches(
        self, executors: list[SegmentExecutor], columns: Columns, rows: int, threads: int, first: int = 0
    ) -> Matches:
        evaluation = Evaluation(columns, time_zone=self.time_zone, rows=rows)
        found = [executor.match(evaluation, rows, threads=threads) for executor in executors] if rows else []
        return Matches(self._book.roster, rows, [part for parts in found for part in parts], first=first)

    def count(self, batch: Any, *, stream: str | None = None, threads: int = 1) -> dict[str, int]:
        """How many tuples of a batch match each query, zeros included; quicker than `match` where that is all one wants."""
        executors, columns, rows = self._columns(batch, stream)
        evaluation = Evaluation(columns, time_zone=self.time_zone, rows=rows)
        totals = np.zeros(self._book.size, np.int64)
        if rows:
            for executor in executors:
                executor.count(evaluation, rows, totals, threads=threads)
        return self._book.roster.by_id(totals.tolist())

    def _columns(self, batch: Any, stream: str | None) -> tuple[list[SegmentExecutor], Columns, int]:
        """The executors of a stream, the columns of a batch that they read, and its number of rows."""
        source = self._stream(stream)
        executors = [e for e in self._compiled() if e.segment.stream == source.name]
        used = dict.fromkeys(column for executor in executors for column in executor.segment.columns)
        columns, rows = columns_of(batch, source, used)
        return executors, columns, rows

    def explain(self, id: str | None = None) -> str:
        """How the set is compiled, or how one query is served."""
        segments = [executor.segment for executor in self._compiled()]
        if id is None:
            return explain_set(len(self), self.version, segments)
        number = self._number(id)
        return explain_query(self._compiler.compile(Query(id, self._book.text(number))), number, segments)

    def pricing(self) -> Pricing:
        """Prices the set's queries and others; for several questions about costs, which then share the work."""
        return Pricing(self._compiled(), self._book, self._compiler, self.settings.direct)

    def cost(self, batches: Mapping[str, Iterable[Any]] | None = None) -> Costs:
        """Every query's share of work and memory; with batches of streams, what matching them took, divided alike."""
        named = [(batch, name) for name, several in (batches or {}).items() for batch in several]
        return self.pricing().costs(self._run(batch, name) for batch, name in named)

    def marginal_cost(self, sql: str) -> Cost:
        """What the set would cost more with one more query."""
        return self.pricing().marginal(Query("", sql))

    def _run(self, batch: Any, stream: str | None) -> tuple[list[tuple[int, SegmentExecutor]], Columns, int]:
        executors, columns, rows = self._columns(batch, stream)
        return [(n, e) for n, e in enumerate(self._compiled()) if e in executors], columns, rows

    def save(self, folder: str | Path) -> None:
        """Write the compiled set into a new folder."""
        segments = [executor.segment for executor in self._compiled()]
        saved = store.Saved(
            list(self.streams), self.time_zone, self.version, self.settings, self._book, segments
        )
        store.save(Path(folder), saved)

    @staticmethod
    def load(folder: str | Path, *, settings: IndexSettings | None = None) -> QuerySet:
        """Open a saved set; its arrays stay on disk until they are used.

        Queries that are added later are compiled by the settings that the set was saved with, or by those given.
        """
        saved = store.load(Path(folder))
        return QuerySet(
            Compiler(saved.streams, time_zone=saved.time_zone),
            saved.book,
            tuple([SegmentExecutor(segment) for segment in saved.segments]),
            version=saved.version,
            settings=settings or saved.settings,
        )

    def why(self, id: str, row: Mapping[str, Any] | Any) -> Why:
        """Why a tuple, given as a mapping or as a batch of one row, matches a query or not."""
        query = self._compiler.compile(Query(id, self._book.text(self._number(id))))
        stream = self._stream(query.stream)
        if isinstance(row, Mapping):
            schema = pa.schema([field for field in stream.schema if field.name in row])
            row = pa.RecordBatch.from_pylist([dict(row)], schema=schema)
        subjects = dict.fromkeys(condition.subject for condition in conditions_of(query.predicate))
        used = dict.fromkeys(name for subject in subjects for name in sorted(attributes_of(subject)))
        columns, rows = columns_of(row, stream, used)
        if rows != 1:
            raise EddylineError(
                f"why looks at one row, not at {rows}", hint="slice the batch: batch.slice(i, 1)"
            )
        evaluation = Evaluation(columns, time_zone=self.time_zone, rows=1)
        values = {subject: _value(evaluation, subject) for subject in subjects}
        return decide(query.predicate, values, render)

    def _number(self, id: str) -> int:
        number = self._book.find(id)
        if number is None:
            raise EddylineError(f'there is no query "{id}"')
        return number

    def _stream(self, name: str | None) -> Stream:
        streams = {stream.name: stream for stream in self._compiler.streams}
        if name is None and len(streams) == 1:
            return next(iter(streams.values()))
        if name is None or name not in streams:
            problem = "the set has several streams" if name is None else f'stream "{name}" is not known'
            raise EddylineError(problem, hint=f"name one of {', '.join(streams)}")
        return streams[name]

    def _compiled(self) -> tuple[SegmentExecutor, ...]:
        """All segments, those of queries added since the last call compiled now."""
        if len(self._pending):
            by_stream: dict[str, list[tuple[int, NormalQuery]]] = {}
            for number, query in self._pending:
                by_stream.setdefault(query.stream, []).append((number, query))
            segments = list(self._segments)
            with uncollected():
                for stream, members in by_stream.items():
                    segments = self._merged(segments, stream, members)
            self._segments, self._pending = tuple(segments), Pending()
        return self._segments

    def _merged(
        self, segments: list[SegmentExecutor], stream: str, members: list[tuple[int, NormalQuery]]
    ) -> list[SegmentExecutor]:
        """Segments with a new one; it takes in those that are not much larger than itself, removed queries left out."""
        limit = self.settings.segment_size
        while limit is None:
            small = [
                e
                for e in segments
                if e.segment.stream == stream and len(e.segment.members) <= MERGE * len(members)
            ]
            if not small:
                break
            taken = min(small, key=lambda e: len(e.segment.members))
            segments = [e for e in segments if e is not taken]
            numbers = [n for n in taken.segment.members.tolist() if n not in self._book.removed]
            compiled = [self._compiler.compile(Query(self._book.id(n), self._book.text(n))) for n in numbers]
            members = [*zip(numbers, compiled, strict=True), *members]
        live = [(number, query) for number, query in members if number not in self._book.removed]
        live.sort(key=lambda member: member[0])
        step = limit or max(1, len(live))
        for start in range(0, len(live), step):
            piece = live[start : start + step]
            numbers, queries = [number for number, _ in piece], [query for _, query in piece]
            segments = [*segments, SegmentExecutor(build_segment(stream, queries, numbers, self.settings))]
        return segments


def _as_queries(queries: Queries) -> Iterable[Query]:
    if isinstance(queries, Mapping):
        return [Query(id, sql) for id, sql in queries.items()]
    return queries


def _value(evaluation: Evaluation, subject: Any) -> Any:
    """The value of a subject for the only row, in the Python form of constants."""
    return values_of(evaluation.values(subject), subject.type)[0]

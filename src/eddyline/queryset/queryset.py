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
from eddyline.execute.batch import columns_of
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
from eddyline.queryset.explain import explain_query, explain_set
from eddyline.sql.render import render

Queries = Mapping[str, str] | Iterable[Query]
MERGE: Final = 2  # a new segment takes in those of up to so many times its size


class Pending:
    """Queries that are not in a segment yet; versions that grow out of one another share one list."""

    def __init__(self, shared: list[tuple[int, NormalQuery]] | None = None, size: int = 0) -> None:
        self._shared = [] if shared is None else shared
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[tuple[int, NormalQuery]]:
        return iter(self._shared[: self._size])

    def add(self, members: list[tuple[int, NormalQuery]]) -> Pending:
        """More queries, at the cost of these alone if nobody else has added to the list."""
        shared = self._shared if len(self._shared) == self._size else self._shared[: self._size]
        shared.extend(members)
        return Pending(shared, len(shared))


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
        executors, evaluation, rows = self._evaluation(batch, stream)
        parts = (
            [part for e in executors for part in e.match(evaluation, rows, threads=threads)] if rows else []
        )
        return Matches(self._book.ids, rows, parts, removed=self._book.removed)

    def count(self, batch: Any, *, stream: str | None = None, threads: int = 1) -> dict[str, int]:
        """How many tuples of a batch match each query, zeros included; quicker than `match` where that is all one wants."""
        executors, evaluation, rows = self._evaluation(batch, stream)
        totals = np.zeros(self._book.size, np.int64)
        if rows:
            for executor in executors:
                executor.count(evaluation, rows, totals, threads=threads)
        counts = totals.tolist()
        return {self._book.id(number): counts[number] for number in self._book.numbers()}

    def _evaluation(self, batch: Any, stream: str | None) -> tuple[list[SegmentExecutor], Evaluation, int]:
        """The executors of a stream and a batch's columns that they read."""
        source = self._stream(stream)
        executors = [e for e in self._compiled() if e.segment.stream == source.name]
        used = dict.fromkeys(column for executor in executors for column in executor.segment.columns)
        columns, rows = columns_of(batch, source, used)
        return executors, Evaluation(columns, time_zone=self.time_zone, rows=rows), rows

    def explain(self, id: str | None = None) -> str:
        """How the set is compiled, or how one query is served."""
        segments = [executor.segment for executor in self._compiled()]
        if id is None:
            return explain_set(len(self), self.version, segments)
        number = self._number(id)
        return explain_query(self._compiler.compile(Query(id, self._book.text(number))), number, segments)

    def save(self, folder: str | Path) -> None:
        """Write the compiled set into a new folder."""
        segments = [executor.segment for executor in self._compiled()]
        store.save(Path(folder), self.streams, self.time_zone, self.version, self._book, segments)

    @staticmethod
    def load(folder: str | Path) -> QuerySet:
        """Open a saved set; its arrays stay on disk until they are used."""
        streams, time_zone, version, book, segments = store.load(Path(folder))
        compiler = Compiler(streams, time_zone=time_zone)
        return QuerySet(compiler, book, tuple([SegmentExecutor(s) for s in segments]), version=version)

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

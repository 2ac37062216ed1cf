"""A set of standing queries, compiled: built, matched, changed into new versions, explained, saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.errors import FileError, QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.reading.batch import Columns
from eddyline.execute.rescue import rescue
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.live import OrderReport
from eddyline.execute.why import Why
from eddyline.functions.evaluate import Evaluation
from eddyline.model.book import Book
from eddyline.model.catalog import Stream, find_stream
from eddyline.model.expression import Call, Expression
from eddyline.model.matches import Matches, Part
from eddyline.model.names import unknown_query
from eddyline.model.query import NormalQuery, Query, StandingQuery, as_ids, as_queries, check_query
from eddyline.queryset.compilation import Compilation
from eddyline.queryset.cost.cost import Cost, Costs
from eddyline.queryset.cost.pricing import Pricing
from eddyline.queryset.explain import explain_query, explain_set
from eddyline.queryset.garbage import uncollected
from eddyline.queryset.members import BookMembers
from eddyline.queryset.merging import Merging
from eddyline.queryset.one_row import why_of
from eddyline.queryset.reader import Reader
from eddyline.sql.resolver import Resolver
from eddyline.standing import files
from eddyline.standing.pages import Page

Queries = Mapping[str, str] | Iterable[Query]
Known = Mapping[Call, pa.Array | pa.ChunkedArray]  # values of what only Spark can compute
BLOCK_ROWS: Final = 16_384  # fewer cost more calls: at 4,096 a thousand queries take twice the time


class QuerySet:
    """An immutable set of queries that are evaluated together; changes give new versions that share what stays.

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> queries = QuerySet.build({"cheap": "SELECT symbol FROM quotes WHERE price < 10"}, streams=[quotes])
    >>> queries.match(pa.record_batch({"symbol": ["A", "B"], "price": [5.0, 50.0]})).counts()
    {'cheap': 1}
    >>> list(queries), "cheap" in queries, queries["cheap"].stream
    (['cheap'], True, 'quotes')
    >>> print(queries.why("cheap", {"symbol": "B", "price": 50.0}))
    does not match, because
      price is 50.0, which does not lie in (-inf, 10.0)
    """

    def __init__(
        self,
        compiler: Compiler,
        book: Book,
        compilation: Compilation,
        problems: Sequence[QueryError] = (),
        version: int = 1,
        settings: IndexSettings = DEFAULT_INDEX,
        pages: Mapping[Path, tuple[Page, ...]] | None = None,
    ) -> None:
        self._compiler = compiler
        self._book = book
        self._compilation = compilation
        self.problems = list(problems)
        self.version = version
        self.settings = settings
        self.folder: Path | None = None  # where the set was loaded from, as it is
        self._members = BookMembers(compiler, book)
        self._readers: dict[str | None, Reader] = {}
        self._pages = dict(pages or {})  # folders in which the queries are saved, up to some number

    @staticmethod
    def build(
        queries: Queries,
        *,
        streams: Iterable[Stream],
        on_error: Literal["raise", "collect"] = "raise",
        time_zone: str = "UTC",
        settings: IndexSettings = DEFAULT_INDEX,
        resolver: Resolver | None = None,
    ) -> QuerySet:
        """Compile queries; those that are refused raise, or are collected in `problems`.

        `resolver` gives the types of functions that are not in our table, for a runtime that evaluates them.
        """
        compiler = Compiler(streams, time_zone=time_zone, resolver=resolver)
        empty = QuerySet(compiler, Book(), Compilation(), version=0, settings=settings)
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

    def __iter__(self) -> Iterator[str]:
        """The ids of the queries, in the order in which they were added."""
        return (query.id for _, query in self.queries())

    def __getitem__(self, id: str) -> StandingQuery:
        """A query by its id; an `UnknownQueryError`, which is a `KeyError`, if there is none."""
        query = Query(id, self._book.text(self.number(id)))
        return StandingQuery(id, query.sql, self._compiler.compile(query).stream)

    @property
    def size(self) -> int:
        """How many numbers were given so far, those of removed queries included."""
        return self._book.size

    @property
    def segments(self) -> tuple[SegmentExecutor, ...]:
        """Who evaluates the compiled parts; queries that were added since the last match are compiled now."""
        return tuple([placed.executor for placed in self._compiled()])

    def placed(self) -> tuple[Placed, ...]:
        """The compiled parts, with the numbers of their queries."""
        return self._compiled()

    @property
    def uncompiled(self) -> list[tuple[int, NormalQuery]]:
        """The queries that were added and wait to be compiled, with their numbers."""
        return list(self._compilation.pending)

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of its queries, ascending."""
        return np.delete(np.arange(self._book.size), self._book.roster.removed)

    def queries(self) -> Iterator[tuple[int, Query]]:
        """The queries of this version with their numbers."""
        ids, texts = self._book.rows(0, self._book.size)
        for number, (id, text) in enumerate(zip(ids, texts, strict=True)):
            if number not in self._book.removed:
                yield number, Query(id, text)

    def add(self, queries: Queries, *, on_error: Literal["raise", "collect"] = "raise") -> QuerySet:
        """A version with more queries. An id that is taken is refused: remove it first."""
        accepted: list[Query] = []
        normal: list[NormalQuery] = []
        problems: list[QueryError] = []
        fresh: set[str] = set()
        for query in as_queries(queries):
            try:
                check_query(query.id, query.sql)
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
        compilation = self._compilation.with_members(list(zip(numbers, normal, strict=True)))
        return self._next(book, compilation, problems)

    def remove(self, ids: str | Iterable[str]) -> QuerySet:
        """A version without a query, or without several."""
        book = self._book.remove([self.number(id) for id in as_ids(ids)])
        return self._next(book, self._compilation.copied())

    def _next(self, book: Book, compilation: Compilation, problems: Sequence[QueryError] = ()) -> QuerySet:
        version = self.version + 1
        return QuerySet(self._compiler, book, compilation, problems, version, self.settings, self._pages)

    def served_by(self, executors: Iterable[SegmentExecutor]) -> QuerySet:
        """The same set, its segments evaluated by others."""
        served = self._next(self._book, self._compilation.served_by(list(executors)))
        served.version = self.version
        return served

    def match(
        self,
        batch: Any,
        *,
        stream: str | None = None,
        threads: int = 1,
        known: Known | None = None,
        failed: dict[Expression, int] | None = None,
    ) -> Matches:
        """Which tuples of a batch (Arrow, pandas or polars) satisfy which queries.

        `known` has the values of all `externals`, for queries that need what only Spark can compute. `failed` has
        expressions whose failures are of interest: the rows in which they fail are added to its numbers.
        """
        segments, columns, rows = self._columns(batch, stream)
        evaluation = Evaluation(columns, time_zone=self.time_zone, rows=rows, known=known)
        matches = self._matches(segments, evaluation, rows, threads)
        if failed and rows:
            evaluation.add_failures(failed)
        return matches

    def blocks(
        self,
        batch: Any,
        *,
        stream: str | None = None,
        rows: int = BLOCK_ROWS,
        threads: int = 1,
        known: Known | None = None,
    ) -> Iterator[Matches]:
        """The matches of a batch in pieces of at most `rows` rows, in order, each with the row numbers of the batch.

        For matches that would be too many to keep: what is let go before the next piece is asked for leaves its memory
        to that one.
        """
        segments, columns, total = self._columns(batch, stream)
        for first in range(0, total, rows):
            size = min(rows, total - first)
            piece = {name: column.slice(first, size) for name, column in columns.items()}
            values = {call: column.slice(first, size) for call, column in (known or {}).items()}
            evaluation = Evaluation(piece, time_zone=self.time_zone, rows=size, known=values)
            yield self._matches(segments, evaluation, size, threads, first)

    def _matches(
        self, segments: list[Placed], evaluation: Evaluation, rows: int, threads: int, first: int = 0
    ) -> Matches:
        failed: rescue.Failed = {}
        parts: list[Part] = []
        for placed in segments if rows else ():
            parts += rescue.match(placed, evaluation, rows, self._members, failed, threads=threads)
        failed = {number: error for number, error in failed.items() if number not in self._book.removed}
        return Matches(self._book.roster, rows, parts, first=first, failed=failed)

    def count(self, batch: Any, *, stream: str | None = None, threads: int = 1) -> dict[str, int]:
        """How many tuples of a batch match each query, zeros included; quicker than `match` where that is all one wants."""
        return self._book.roster.by_id(self.totals(batch, stream=stream, threads=threads).tolist())

    def totals(
        self,
        batch: Any,
        *,
        stream: str | None = None,
        threads: int = 1,
        known: Known | None = None,
        into: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.int64]:
        """As `count`, by query number, those of removed queries being 0; added to what `into` has, if given."""
        segments, columns, rows = self._columns(batch, stream)
        evaluation = Evaluation(columns, time_zone=self.time_zone, rows=rows, known=known)
        totals = np.zeros(self._book.size, np.int64) if into is None else into
        if rows:
            failed: rescue.Failed = {}
            for placed in segments:
                rescue.count(placed, evaluation, rows, self._members, totals, failed, threads=threads)
        totals[self._book.roster.removed] = 0
        return totals

    def names(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of query numbers."""
        return self._book.roster.named(numbers)

    def columns_read(self, stream: str | None = None) -> tuple[str, ...]:
        """The columns of a stream that any query reads in its condition."""
        return self._reader(stream).used

    def externals(self, stream: str | None = None) -> tuple[Call, ...]:
        """The calls in conditions of a stream's queries that only Spark can compute; `match` wants their values."""
        segments = self._reader(stream).segments
        return tuple(dict.fromkeys(call for placed in segments for call in placed.segment.externals))

    def _columns(self, batch: Any, stream: str | None) -> tuple[list[Placed], Columns, int]:
        """The segments of a stream, the columns of a batch that they read, and its number of rows."""
        reader = self._reader(stream)
        return reader.segments, *reader.read(batch)

    def _reader(self, stream: str | None) -> Reader:
        segments, known = self._compiled(), self._readers.get(stream)
        if known is None or known.among is not segments:
            known = self._readers[stream] = Reader(self.stream(stream), segments)
        return known

    def explain(self, id: str | None = None) -> str:
        """How the set is compiled, or how one query is served."""
        segments = self._compiled()
        if id is None:
            return explain_set(len(self), self.version, segments)
        number = self.number(id)
        query = self._compiler.compile(Query(id, self._book.text(number)))
        return explain_query(query, number, segments)

    def order_report(self) -> tuple[OrderReport, ...]:
        """Of each segment that evaluated tuples row by row: in which order, ASCs visited and time taken so far."""
        executors = [placed.executor for placed in self._compilation.segments]
        return tuple([found for executor in executors if (found := executor.order_report()) is not None])

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
        segments, columns, rows = self._columns(batch, stream)
        own = [(n, placed.executor) for n, placed in enumerate(self._compiled()) if placed in segments]
        return own, columns, rows

    def save(self, folder: str | Path) -> None:
        """Write the compiled set into a new folder."""
        folder = Path(folder)
        if folder.exists() and any(folder.iterdir()):
            raise FileError(f"folder {folder} is not empty", hint="save into a new folder")
        self._save(folder, None)

    def save_shared(
        self, root: str | Path, name: str | None = None, *, notes: Mapping[str, Any] | None = None
    ) -> str:
        """Write the compiled set into a folder as one of several versions, which share what they have in common.

        Only what is new is written: open it by `open_set(root / "versions" / name)`. The name is the version's number
        if none is given; `notes` are kept with it.
        """
        name = str(self.version) if name is None else name
        self._save(Path(root), name, notes)
        return name

    def _save(self, root: Path, name: str | None, notes: Mapping[str, Any] | None = None) -> None:
        root, segments = root.absolute(), self._compiled()
        saved = files.Saved(
            list(self.streams),
            self.time_zone,
            self.version,
            self.settings,
            self._book,
            segments,
            self._pages.get(root, ()),
            notes,
        )
        self._pages[root] = files.save(root, name, saved)

    @staticmethod
    def load(
        folder: str | Path,
        *,
        settings: IndexSettings | None = None,
        resolver: Resolver | None = None,
        verify: bool = True,
    ) -> QuerySet:
        """Open a set that `save` or `save_shared` wrote; its arrays stay on disk until they are used.

        Queries that are added later are compiled by the settings that the set was saved with, or by those given.
        Without `verify` files are not read through first: for those that were checked before.
        """
        folder = Path(folder).absolute()
        root, saved = files.load(folder, verify=verify)
        loaded = QuerySet(
            Compiler(saved.streams, time_zone=saved.time_zone, resolver=resolver),
            saved.book,
            Compilation(saved.segments),
            version=saved.version,
            settings=settings or saved.settings,
            pages={root: saved.pages},
        )
        loaded.folder = folder
        return loaded

    def why(self, id: str, row: Mapping[str, Any] | Any) -> Why:
        """Why a tuple, given as a mapping or as a batch of one row, matches a query or not."""
        query = self._compiler.compile(Query(id, self._book.text(self.number(id))))
        return why_of(query, self.stream(query.stream), row)

    def number(self, id: str) -> int:
        """The number of a query, by which matches name it in this version and those that grow out of it."""
        number = self._book.find(id)
        if number is None:
            raise unknown_query(id, self)
        return number

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name; without one, the only one that there is."""
        return find_stream({stream.name: stream for stream in self._compiler.streams}, name)

    def _compiled(self) -> tuple[Placed, ...]:
        """All segments, those of queries added since the last call compiled now."""
        return self._compilation.compiled(self._merging, self._leave_out)

    @property
    def _merging(self) -> Merging:
        return Merging(self._compiler, self._book, self.settings)

    def _leave_out(self, culprits: Mapping[int, QueryError]) -> Merging:
        """Go on without queries at which compiling fails, which is noticed when all of them are put together."""
        self._book = self._book.remove(culprits)
        self.problems += culprits.values()
        return self._merging


def open_set(path: str | Path, *, verify: bool = True, resolver: Resolver | None = None) -> QuerySet:
    """Open a saved set, as `QuerySet.load` does; workers skip `verify`, which the driver has done."""
    return QuerySet.load(path, resolver=resolver, verify=verify)

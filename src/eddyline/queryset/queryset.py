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
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.live import OrderReport
from eddyline.execute.why import Why
from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.expression import Call, Expression
from eddyline.model.join import Normal
from eddyline.model.matches import Matches
from eddyline.model.query import NormalQuery, Query, StandingQuery, as_ids, as_queries, check_query
from eddyline.queryset.cost.cost import Cost, Costs
from eddyline.queryset.cost.pricing import Pricing, Run
from eddyline.queryset.explain import explain_query, explain_set
from eddyline.queryset.join_matches import JoinMatches, join_tables
from eddyline.relations.covers import Progress
from eddyline.relations.newcomer import relations_to
from eddyline.relations.question import Terms
from eddyline.relations.redundancies import Redundancies, redundancies
from eddyline.relations.set_proofs import proofs_of
from eddyline.sql.resolver import Resolver
from eddyline.standing.saved import files
from eddyline.standing.version import Known, Version

Queries = Mapping[str, str] | Iterable[Query]
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
        version: Version,
        problems: Sequence[QueryError] = (),
        pages: Mapping[Path, files.Pages] | None = None,
    ) -> None:
        self._version = version
        self._problems = list(problems)
        self.folder: Path | None = None  # where the set was loaded from, as it is
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
        join_window: Length | None = None,
    ) -> QuerySet:
        """Compile queries; those that are refused raise, or are collected in `problems`.

        `resolver` gives the types of functions that are not in our table, for a runtime that evaluates them.
        `join_window`, "5 minutes" say, is that of joins that name none: event times differ by at most so much.
        """
        compiler = Compiler(streams, time_zone=time_zone, resolver=resolver, join_window=join_window)
        return QuerySet(Version(0, compiler, settings)).add(queries, on_error=on_error)

    @property
    def version(self) -> int:
        """The number of this version."""
        return self._version.version

    @property
    def settings(self) -> IndexSettings:
        """How queries are compiled."""
        return self._version.settings

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that queries may read."""
        return tuple(self._version.compiler.streams)

    @property
    def time_zone(self) -> str:
        """The session time zone of all queries."""
        return self._version.compiler.time_zone

    @property
    def join_window(self) -> Length | None:
        """The window of joins that name none."""
        return self._version.compiler.join_window

    @property
    def problems(self) -> list[QueryError]:
        """Queries that were refused, and those that turned out not to compile when they were first wanted."""
        return [*self._problems, *self._version.latest.left_out]

    def __len__(self) -> int:
        return len(self._version.latest.table)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._version.latest.table.find(id) is not None

    def __iter__(self) -> Iterator[str]:
        """The ids of the queries, in the order in which they were added."""
        return (query.id for _, query in self.queries())

    def __getitem__(self, id: str) -> StandingQuery:
        """A query by its id; an `UnknownQueryError`, which is a `KeyError`, if there is none."""
        query = self._normal_form(id)
        return StandingQuery(id, query.sql, query.stream)

    @property
    def size(self) -> int:
        """How many numbers were given so far, those of removed queries included."""
        return self._version.table.size

    @property
    def joins(self) -> list[str]:
        """The ids of its joins, whose matches are pairs of rows: `join` finds them."""
        version = self._version.latest
        return version.table.listed(version.table.alive_joins)

    def standing(self) -> Version:
        """The version of the standing set that this is a face of; what waits to be compiled is compiled now."""
        return self._version.ready()

    def placed(self) -> tuple[Placed, ...]:
        """The compiled parts, with the numbers of their queries; what waits to be compiled is compiled now."""
        return self._version.ready().segments

    def executors(self) -> tuple[SegmentExecutor, ...]:
        """Who evaluates the compiled parts; what waits to be compiled is compiled now."""
        return tuple([placed.executor for placed in self.placed()])

    @property
    def uncompiled(self) -> list[tuple[int, NormalQuery]]:
        """The queries that were added and wait to be compiled, with their numbers."""
        return list(self._version.latest.tail)

    @property
    def numbers(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The numbers of its queries, ascending."""
        return self._version.latest.table.alive

    def queries(self) -> Iterator[tuple[int, Query]]:
        """The queries of this version with their numbers."""
        return self._version.latest.table.queries()

    def add(self, queries: Queries, *, on_error: Literal["raise", "collect"] = "raise") -> QuerySet:
        """A version with more queries. An id that is taken is refused: remove it first."""
        accepted: list[Query] = []
        normal: list[Normal] = []
        problems: list[QueryError] = []
        fresh: set[str] = set()
        for query in as_queries(queries):
            try:
                check_query(query.id, query.sql)
                if query.id in fresh or query.id in self:
                    raise QueryError(
                        "the id is taken already", query=query.id, hint="remove that query first"
                    )
                normal.append(self._version.compiler.compile(query))
            except QueryError as error:
                if on_error == "raise":
                    raise
                problems.append(error)
            else:
                accepted.append(query)
                fresh.add(query.id)
        return QuerySet(self._version.add(accepted, normal), problems, self._pages)

    def remove(self, ids: str | Iterable[str]) -> QuerySet:
        """A version without some queries."""
        return QuerySet(self._version.remove(as_ids(ids)), (), self._pages)

    def served_by(self, executors: Iterable[SegmentExecutor]) -> QuerySet:
        """The same set, its segments evaluated by others."""
        return QuerySet(self._version.ready().served_by(list(executors)), (), self._pages)

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
        return self._version.ready().match(batch, stream, threads=threads, known=known, failed=failed)

    def join(self, tables: Mapping[str, Any]) -> JoinMatches:
        """Which pairs of rows of whole tables, given by stream, satisfy which joins; every pair of the data counts.

        >>> import pyarrow as pa
        >>> fields = [("symbol", pa.string()), ("ts", pa.int64())]
        >>> quotes, trades = (Stream(name, pa.schema(fields), "ts", 0) for name in ("quotes", "trades"))
        >>> text = "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE t.ts BETWEEN q.ts AND q.ts + 5"
        >>> queries = QuerySet.build({"soon": text}, streams=[quotes, trades])
        >>> asked = pa.table({"symbol": ["A", "B"], "ts": [10, 20]})
        >>> found = queries.join(
        ...     {"quotes": asked, "trades": pa.table({"symbol": ["A", "A"], "ts": [12, 99]})}
        ... )
        >>> found.counts(), [rows.tolist() for rows in found.rows("soon")]
        ({'soon': 1}, [[0], [0]])
        """
        return join_tables(self._version.ready(), tables)

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
        return self._version.ready().blocks(batch, stream, rows, threads=threads, known=known)

    def count(self, batch: Any, *, stream: str | None = None, threads: int = 1) -> dict[str, int]:
        """How many tuples of a batch match each query, zeros included; quicker than `match` where that is all one wants."""
        version = self._version.ready()
        return version.table.by_id(version.count(batch, stream, threads=threads).tolist())

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
        return self._version.ready().count(batch, stream, threads=threads, known=known, into=into)

    def names(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of query numbers."""
        return self._version.table.named(numbers)

    def columns_read(self, stream: str | None = None) -> tuple[str, ...]:
        """The columns of a stream that any query reads in its condition."""
        return self._version.ready().reading(stream).used

    def externals(self, stream: str | None = None) -> tuple[Call, ...]:
        """The calls in conditions of a stream's queries that only Spark can compute; `match` wants their values."""
        segments = self._version.ready().reading(stream).segments
        return tuple(dict.fromkeys(call for placed in segments for call in placed.segment.externals))

    def explain(self, id: str | None = None) -> str:
        """How the set is compiled, or how one query is served."""
        version = self._version.ready()
        return explain_set(version) if id is None else explain_query(version, version.table.dense(id))

    def order_report(self) -> tuple[OrderReport, ...]:
        """Of each segment that evaluated tuples row by row: in which order, ASCs visited and time taken so far."""
        return self._version.latest.order_report()

    def pricing(self) -> Pricing:
        """Prices the set's queries and others; for several questions about costs, which then share the work."""
        return Pricing(self._version.ready(), self.settings.direct)

    def cost(self, batches: Mapping[str, Iterable[Any]] | None = None) -> Costs:
        """Every query's share of work and memory; with batches of streams, what matching them took, divided alike."""
        named = [(batch, name) for name, several in (batches or {}).items() for batch in several]
        return self.pricing().costs(self._run(batch, name) for batch, name in named)

    def marginal_cost(self, sql: str) -> Cost:
        """What the set would cost more with one more query."""
        return self.pricing().marginal(Query("", sql))

    def _run(self, batch: Any, stream: str | None) -> Run:
        version = self._version.ready()
        reading = version.reading(stream)
        own = [
            (n, placed.executor) for n, placed in enumerate(version.segments) if placed in reading.segments
        ]
        return own, *reading.read(batch)

    def redundancies(
        self, *, budget: Budget | None = None, progress: Progress | None = None, proofs: bool = False
    ) -> Redundancies:
        """What is redundant in the set: queries that are the same as others, implied by others, or never true.

        Of those that cover a query the three tightest are listed, and the rest counted. Joins are compared with joins of the same
        streams.
        `budget` limits the search for each pair. `progress` is called with a stream, how many of its queries are done, and
        how many there are. With `proofs` the table says why each row holds.

        >>> import pyarrow as pa
        >>> quotes = Stream("quotes", pa.schema([("price", pa.float64())]))
        >>> texts = {"cheap": "price < 10", "very cheap": "price < 5", "odd": "price < 5 AND price > 9"}
        >>> queries = {id: f"SELECT * FROM quotes WHERE {text}" for id, text in texts.items()}
        >>> QuerySet.build(queries, streams=[quotes]).redundancies().table.to_pylist()[0]
        {'query': 'very cheap', 'relation': 'implied', 'other': 'cheap'}
        >>> QuerySet.build(queries, streams=[quotes]).redundancies(proofs=True).table["proof"][0].as_py()
        'price in (-inf, 5.0)   lies in   price in (-inf, 10.0)'
        """
        terms = Terms(budget=budget or Budget())
        found = redundancies(self._version, terms, progress)
        return found.with_proofs(proofs_of(found, self._version, terms)) if proofs else found

    def relations(self, query: str | Query, *, budget: Budget | None = None) -> Redundancies:
        """What a query has to do with the others: all that are the same, cover it, or are covered by it.

        It is given by its id; or, one that is not in the set, as a `Query`.
        """
        asked = query if isinstance(query, Query) else Query(query, self[query].sql)
        return relations_to(self._version, asked, Terms(budget=budget or Budget()))

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
        root = root.absolute()
        saved = files.Saved(self._version.ready(), self._pages.get(root, files.NO_PAGES), notes)
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
        root, saved = files.load(folder, settings=settings, resolver=resolver, verify=verify)
        loaded = QuerySet(saved.version, (), {root: saved.pages})
        loaded.folder = folder
        return loaded

    def why(self, id: str, row: Mapping[str, Any] | Any) -> Why:
        """Why a tuple, given as a mapping or as a batch of one row, matches a query or not.

        A join is asked about a tuple of each of its sources: `why(id, {alias: row, ...})`.
        """
        return self._version.latest.why(id, row)

    def number(self, id: str) -> int:
        """The number of a query, by which matches name it in this version and those that grow out of it."""
        return self._version.latest.table.dense(id)

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name; without one, the only one that there is."""
        return self._version.stream(name)

    def _normal_form(self, id: str) -> Normal:
        return self._version.normal_form(self.number(id))


def open_set(path: str | Path, *, verify: bool = True, resolver: Resolver | None = None) -> QuerySet:
    """Open a saved set, as `QuerySet.load` does; workers skip `verify`, which the driver has done."""
    return QuerySet.load(path, resolver=resolver, verify=verify)

"""One version of the standing set: its queries, what they are compiled into, and those that still wait for it.

    change      Version v ── add, remove ──► Version v+1        both share rows, segments and what waits
    match       Version v ── ready ──► the same, compiled       once, whichever thread comes first

Nothing of a version changes. What is compiled later is another value of the same version, kept in its cell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import LedgerError, QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.rescue import rescue
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.live import OrderReport
from eddyline.execute.why import Why
from eddyline.functions.evaluate import Evaluation
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream, find_stream
from eddyline.model.expression import Call, Expression, columns_of
from eddyline.model.join import Normal, NormalJoin, virtual_source
from eddyline.model.matches import Matches, Part
from eddyline.model.numbering import Numbering
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery, Query
from eddyline.model.roles import Roles
from eddyline.standing.merging import policy
from eddyline.standing.merging.building import Building, Culprits, Members, members_of
from eddyline.standing.one_pair import why_of_pair
from eddyline.standing.one_row import why_of
from eddyline.standing.rows.columns import NO_ATTRIBUTES, ROLE, Attributes
from eddyline.standing.rows.counted import Counted, CountedWhenAsked, dense_ids, recounted
from eddyline.standing.rows.join_columns import JoinColumns, roles_of
from eddyline.standing.rows.table import Table
from eddyline.standing.tail import Tail
from eddyline.standing.tolerant_reader import TolerantReader

FEW: Final = 1_000  # rows of removed queries that are not worth an effort
Known = Mapping[Call, pa.Array | pa.ChunkedArray]  # values of what only Spark can compute


class Reading(TolerantReader):
    """The segments of a stream that have living queries, and the columns that they read."""

    def __init__(
        self, stream: Stream, among: Iterable[Placed], is_wanted: Callable[[Placed, str], bool]
    ) -> None:
        self.segments = [p for p in among if p.segment.stream == stream.name and p.alive]
        self.all_alive = not any(placed.dead for placed in self.segments)
        self._is_wanted = is_wanted
        used = dict.fromkeys(c for placed in self.segments for c in placed.segment.columns)
        super().__init__(stream, used, self._is_needed)

    def _is_needed(self, names: Iterable[str]) -> bool:
        return self.all_alive or any(
            self._is_wanted(placed, name) for placed in self.segments for name in names
        )


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A query to be added, in normal form too, and what its owner says of it."""

    query: Query
    normal: Normal
    attributes: Attributes = NO_ATTRIBUTES

    def rows(self) -> list[tuple[Query, Normal, Attributes]]:
        """What the table gets: the query, and behind a join its roles."""
        own = (self.query, self.normal, self.attributes)
        if not isinstance(self.normal, NormalJoin):
            return [own]
        roles = [(Query(role.id, role.sql), role, ROLE) for role in roles_of(self.normal)]
        return [own, *roles]


class _Cell:
    """Where a version keeps what was made of it: once, however many threads ask."""

    def __init__(self) -> None:
        self.making = threading.Lock()
        self.ready: Version | None = None
        # without a lock: two threads may make the same, and either serves
        self.readings: dict[str | None, Reading] = {}
        self.fallible: dict[str, tuple[Expression, ...]] = {}
        self.roles: Roles | None = None


@dataclass(frozen=True, slots=True)
class _Members:
    """What segments are made of, one by one, for whoever takes over where an executor fails."""

    version: Version

    def normal_form(self, number: int) -> NormalQuery:
        """A query, or a role of a join, in normal form."""
        return self.version.compiler.member(self.version.table.query(number))

    def name(self, number: int) -> str:
        """The id of a query, or of the join that a role belongs to."""
        (owner,) = self.version.table.owners([number])
        return self.version.name(owner)


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a standing set; versions that grow out of one another share most of it.

    Invariant: a query that is not gone stands in one segment, or in the tail; of a join its roles do, but for those that
    have no condition. Segments of a stream stand by age.
    `left_out` are queries of the tail of which no segment can be made, each with the reason; they are gone. `counted`
    says what can fail in conditions, in sets that keep columns. In one `epoch` dense ids mean the same.
    """

    version: int
    compiler: Compiler
    settings: IndexSettings
    table: Table = field(default_factory=Table)
    segments: tuple[Placed, ...] = ()
    tail: Tail = field(default_factory=Tail)
    left_out: tuple[QueryError, ...] = ()
    counted: Counted = field(default_factory=dict)
    epoch: int = 0
    _cell: _Cell = field(default_factory=_Cell, init=False, repr=False)

    def add(self, queries: Sequence[Query], normal: Sequence[Normal]) -> Version:
        """The next version, with more queries, given with their normal forms; their ids must be free."""
        return self.change((), [Newcomer(*pair) for pair in zip(queries, normal, strict=True)])

    def remove(self, ids: Iterable[str]) -> Version:
        """The next version, without some queries."""
        base = self.latest
        return base.change([base.table.dense(id) for id in ids], ())

    def change(
        self,
        leaving: Sequence[int],
        coming: Sequence[Newcomer],
        *,
        staying: Sequence[tuple[int, Attributes]] = (),
        version: int | None = None,
        compiler: Compiler | None = None,
    ) -> Version:
        """The next version: without some queries, given by dense id, and with more, whose ids must then be free.

        Those that are `staying` get another state and destination, nothing else.
        Whoever changes the streams gives a compiler for the new ones, and has all queries of the old ones leave.
        """
        base = self.latest
        version = base.version + 1 if version is None else version
        leaving = base.table.rows_of(leaving)
        table, tail, counted = base.table.remove(leaving), base.tail, base.counted
        compiler = base.compiler if compiler is None else compiler
        if staying:
            table = table.changed(staying)
        added = range(0)
        if coming:
            table, added, waiting = _with_rows(table, coming, compiler)
            tail = tail.add(waiting)
        if table.has_columns:
            counted = recounted(counted, table.columns, leaving, added)
        return replace(
            base,
            version=version,
            compiler=compiler,
            table=table,
            segments=_without(base.segments, leaving),
            tail=tail,
            counted=counted,
            left_out=(),
        )

    def served_by(self, executors: Sequence[SegmentExecutor]) -> Version:
        """The same version, its segments evaluated by others."""
        pairs = zip(executors, self.segments, strict=True)
        return replace(self, segments=tuple([replace(placed, executor=other) for other, placed in pairs]))

    @property
    def latest(self) -> Version:
        """This version with the most of it compiled that anybody wanted so far."""
        return self._cell.ready or self

    def ready(self, building: Building | None = None) -> Version:
        """This version with all of its queries in segments; who comes first compiles, the others wait.

        Without a `building` segments are made as the settings say, and those that are due are merged as well.
        """
        if not len(self.tail):
            return self
        cell = self._cell
        if cell.ready is None:
            with cell.making:
                if cell.ready is None:
                    cell.ready = self._compiled(building)
        return cell.ready

    def _compiled(self, building: Building | None) -> Version:
        by_stream: dict[str, Members] = {}
        for dense, query in self.tail:
            if not self.table.is_gone(dense):
                by_stream.setdefault(query.stream, []).append((dense, query))
        segments, culprits = self.segments, Culprits()
        for stream, members in by_stream.items():
            segments = self._taken_in(
                segments, stream, members, building or Building(self.settings), culprits
            )
            if building is None and self.settings.segment_size is None:
                segments = self._merged(segments, stream, culprits)
        failed = self.table.rows_of(self.table.owners(culprits))
        segments = _without(segments, [dense for dense in failed if dense not in culprits])
        table, counted = self.table.remove(failed), self.counted
        if table.has_columns and failed:
            counted = recounted(counted, table.columns, failed, ())
        left_out = tuple(culprits.values())
        return replace(self, table=table, segments=segments, tail=Tail(), left_out=left_out, counted=counted)

    def _taken_in(
        self,
        segments: tuple[Placed, ...],
        stream: str,
        members: Members,
        building: Building,
        culprits: Culprits,
    ) -> tuple[Placed, ...]:
        """Segments with a new one of these queries, which takes in the youngest while that is small."""
        own = [placed for placed in segments if placed.segment.stream == stream]
        limited = self.settings.segment_size is not None
        taken = None if limited else policy.open_segment(own, len(members), self.settings.largest_merge)
        if taken is not None:
            try:
                members = [*members_of(taken, self.table, self.compiler), *members]
            except QueryError:
                # it needs a function that the resolver no longer knows; compiled it stays usable
                taken = None
        before = [taken] if taken is not None else []
        left = [placed for placed in segments if placed is not taken]
        return (*left, *building.segments(stream, members, before, culprits))

    def _merged(self, segments: tuple[Placed, ...], stream: str, culprits: Culprits) -> tuple[Placed, ...]:
        """Segments of which none is due to be merged."""
        building, stuck = Building(self.settings), set[Placed]()
        while chosen := policy.due(
            [p for p in segments if p.segment.stream == stream and p not in stuck],
            self.settings.largest_merge,
        ):
            members: Members = []
            for placed in chosen:
                try:
                    members += members_of(placed, self.table, self.compiler)
                except QueryError:  # as above
                    stuck.add(placed)
            if stuck.isdisjoint(chosen):
                made = building.segments(stream, members, chosen, culprits)
                if len(made) > 1:  # they cannot be compiled together: trying again would never end
                    stuck.update(made)
                segments = (*made, *(placed for placed in segments if placed not in chosen))
        return segments

    def replaced(self, before: Collection[Placed], after: Sequence[Placed], epoch: int) -> Version | None:
        """The same version, the living queries of some segments in others; None if those are not there any more.

        Both come from an earlier version of an epoch: who was removed since then is dead in the new segments.
        """
        # by executor: a removal replaces the `Placed` and keeps that
        executors = {placed.executor for placed in before}
        kept = [placed for placed in self.segments if placed.executor not in executors]
        if epoch != self.epoch or len(kept) + len(executors) != len(self.segments):
            return None
        dead = [self.table.dead_among(placed.numbering) for placed in after]
        fresh = [replace(placed, dead=lost) for placed, lost in zip(after, dead, strict=True)]
        # in front: merged queries are older than those of the youngest segment, which stays last
        return replace(self, segments=(*fresh, *kept))

    @property
    def is_worn(self) -> bool:
        """Whether the table has more rows that nobody needs than others."""
        needed = sum(placed.size for placed in self.segments) + len(self.tail) + self.table.unplaced
        return self.table.size - needed > max(FEW, needed)

    def compacted(self) -> tuple[Version, Integers]:
        """The same version in a table without rows that nobody needs, and for every row where it is now, or -1.

        Rows of removed queries stay as long as they are compiled: so segments stay as they are, and only what their
        queries are called is written anew.
        """
        assert not len(self.tail), "what waits to be compiled would be lost"
        needed = np.zeros(self.table.size, np.bool_)
        for placed in self.segments:
            needed[placed.numbering.all()] = True
        if self.table.joins is not None:
            needed |= self.table.joins.involved(self.table.size) & self.table.alive_among(
                np.arange(self.table.size)
            )
        moved = np.where(needed, np.cumsum(needed) - 1, -1)
        segments = [
            replace(placed, numbering=Numbering.of(moved[placed.numbering.all()])) for placed in self.segments
        ]
        table = self.table.compacted(np.flatnonzero(needed), moved)
        # Lists of what can fail have other numbers now. They are counted here, where no push waits for it.
        counted = dict(CountedWhenAsked(table, segments)) if table.has_columns else {}
        shorter = replace(self, table=table, segments=tuple(segments), counted=counted, epoch=self.epoch + 1)
        return shorter, moved

    def check(self) -> None:
        """Raise a `LedgerError` unless every query stands in a segment or in the tail: one that did not would be skipped."""
        compiled = sum(placed.alive for placed in self.segments)
        waiting = sum(1 for dense, _ in self.tail if not self.table.is_gone(dense))
        if compiled + waiting != self.table.placed:
            raise LedgerError(f"{self.table.placed} queries are alive, but {compiled + waiting} are compiled")

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name; without one, the only one that there is."""
        return find_stream({stream.name: stream for stream in self.compiler.streams}, name)

    def of_stream(self, stream: str) -> Integers:
        """The dense ids of a stream's queries that are compiled, ascending."""
        return dense_ids(stream, self.table, self.segments)

    def fallible(self, stream: str) -> tuple[Expression, ...]:
        """What can fail in the conditions of a stream's queries, each expression once.

        Every process that has the version finds them in the same order, so that it can name them by their places.
        """
        known = self._cell.fallible.get(stream)
        if known is None:
            lists = self.table.columns.shared.fallibles
            numbers = sorted(self.counted.get(stream, ()))
            known = tuple(dict.fromkeys(part for number in numbers for part in lists[number]))
            self._cell.fallible[stream] = known
        return known

    def reading(self, stream: str | None = None) -> Reading:
        """What there is to read and to evaluate for the batches of a stream."""
        known = self._cell.readings.get(stream)
        if known is None:
            known = self._cell.readings[stream] = Reading(self.stream(stream), self.segments, self._is_wanted)
        return known

    def _is_wanted(self, placed: Placed, column: str) -> bool:
        """Whether a query of a segment that is not gone reads a column; only those whose text names it are compiled."""
        if column not in placed.segment.columns:
            return False
        if not placed.dead:
            return True
        for dense in placed.numbering.all().tolist():
            if self.table.is_gone(dense) or column.lower() not in self.table.query(dense).sql.lower():
                continue
            conditions = conditions_of(self.compiler.member(self.table.query(dense)).predicate)
            if any(column in columns_of(condition.subject) for condition in conditions):
                return True
        return False

    def match(
        self,
        batch: Any,
        stream: str | None = None,
        *,
        threads: int = 1,
        known: Known | None = None,
        failed: dict[Expression, int] | None = None,
    ) -> Matches:
        """Which rows of a batch satisfy which queries; `known` and `failed` as for `QuerySet.match`."""
        reading = self.reading(stream)
        columns, rows = reading.read(batch)
        evaluation = Evaluation(columns, time_zone=self.compiler.time_zone, rows=rows, known=known)
        matches = self._matches(reading, evaluation, rows, threads)
        if failed and rows:
            evaluation.add_failures(failed)
        return matches

    def blocks(
        self, batch: Any, stream: str | None, size: int, *, threads: int, known: Known | None
    ) -> Iterator[Matches]:
        """The matches of a batch in pieces of at most `size` rows, in order."""
        reading = self.reading(stream)
        columns, total = reading.read(batch)
        for first in range(0, total, size):
            rows = min(size, total - first)
            piece = {name: column.slice(first, rows) for name, column in columns.items()}
            values = {call: column.slice(first, rows) for call, column in (known or {}).items()}
            evaluation = Evaluation(piece, time_zone=self.compiler.time_zone, rows=rows, known=values)
            yield self._matches(reading, evaluation, rows, threads, first)

    @property
    def _members(self) -> _Members:
        return _Members(self)

    def _matches(
        self, reading: Reading, evaluation: Evaluation, rows: int, threads: int, first: int = 0
    ) -> Matches:
        failed: rescue.Failed = {}
        parts: list[Part] = []
        for placed in reading.segments if rows else ():
            parts += rescue.match(placed, evaluation, rows, self._members, failed, threads=threads)
        failed = {number: error for number, error in failed.items() if not self.table.is_gone(number)}
        nothing_hidden = reading.all_alive and self.table.joins is None
        return Matches(self.table, rows, parts, first=first, failed=failed, nothing_hidden=nothing_hidden)

    def count(
        self,
        batch: Any,
        stream: str | None = None,
        *,
        threads: int = 1,
        known: Known | None = None,
        into: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many rows of a batch match each query, by number, those of removed queries being 0; added to `into`."""
        reading = self.reading(stream)
        columns, rows = reading.read(batch)
        evaluation = Evaluation(columns, time_zone=self.compiler.time_zone, rows=rows, known=known)
        totals = np.zeros(self.table.size, np.int64) if into is None else into
        failed: rescue.Failed = {}
        for placed in reading.segments if rows else ():
            rescue.count(placed, evaluation, rows, self._members, totals, failed, threads=threads)
        if self.table.hidden is not None:
            totals[self.table.hidden] = 0
        return totals

    @property
    def roles(self) -> Roles | None:
        """What the join stage wants to know of the joins; None if there are none."""
        if self.table.joins is None:
            return None
        if self._cell.roles is None:
            self._cell.roles = self.table.joins.roles(self.table.size, self.epoch, self.table.gone)
        return self._cell.roles

    def why(self, id: str, row: Mapping[str, Any] | Any) -> Why:
        """Why a tuple, given as a mapping or as a batch of one row, matches a query or not; for a join tuples by alias."""
        query = self.normal_form(self.table.dense(id))
        if isinstance(query, NormalJoin):
            return why_of_pair(query, {stream.name: stream for stream in self.compiler.streams}, row)
        return why_of(query, self.stream(query.stream), row)

    def order_report(self) -> tuple[OrderReport, ...]:
        """Of each segment that evaluated tuples row by row: in which order, ASCs visited and time taken so far."""
        reports = [placed.executor.order_report() for placed in self.segments]
        return tuple([report for report in reports if report is not None])

    def streams_of(self, dense: int) -> tuple[str, ...]:
        """The streams that a query reads."""
        join = self._join(dense)
        if join is None:
            return (self.table.columns.selection(dense)[0].name,)
        return tuple([source.stream for source in join.sources])

    def takes_join_window(self, dense: int) -> bool:
        """Whether a query is a join that names no time bound."""
        join = self._join(dense)
        return join is not None and join.takes_join_window

    def _join(self, dense: int) -> NormalJoin | None:
        """A query if it is a join, in normal form."""
        if self.table.joins is None or not self.table.joins.involved(self.table.size)[dense]:
            return None
        join = self.normal_form(dense)
        assert isinstance(join, NormalJoin), "a row that takes part in joins and is asked for by id is a join"
        return join

    def normal_form(self, number: int) -> Normal:
        """A query in normal form, a removed one as well: versions that still have it share the executor."""
        return self.compiler.compile(self.table.query(number))

    def name(self, number: int) -> str:
        """The id of a query."""
        return self.table.query(number).id


def _with_rows(
    table: Table, coming: Sequence[Newcomer], compiler: Compiler
) -> tuple[Table, range, list[tuple[int, NormalQuery]]]:
    """A table with rows for more queries, their dense ids, and what of them waits to be compiled."""
    rows = [row for new in coming for row in new.rows()]
    columns, joins = None, table.joins
    if joins is not None or any(isinstance(new.normal, NormalJoin) for new in coming):
        joins = JoinColumns.of(table.size) if joins is None else joins
        joins = joins.grown(table.size, [new.normal for new in coming])
    if table.has_columns:
        streams = {stream.name: stream for stream in compiler.streams}
        pairs = [(normal, attributes, _stream_of(normal, streams)) for _, normal, attributes in rows]
        columns = table.columns.grown(table.size, pairs)
    first = table.size
    waiting = [
        (dense, normal)
        for dense, (_, normal, _) in enumerate(rows, first)
        if isinstance(normal, NormalQuery) and (joins is None or joins.is_compiled(dense))
    ]
    roles, unplaced = len(rows) - len(coming), len(rows) - len(waiting)
    table, added = table.add([query for query, _, _ in rows], columns, joins, roles=roles, unplaced=unplaced)
    return table, added, waiting


def _stream_of(normal: Normal, streams: Mapping[str, Stream]) -> Stream:
    """What a SELECT list is over: a stream, or the virtual source of a join."""
    if isinstance(normal, NormalJoin):
        return virtual_source(normal.sources, streams)
    return streams[normal.stream]


def _without(segments: tuple[Placed, ...], leaving: Sequence[int]) -> tuple[Placed, ...]:
    """Segments that know that some of their queries are gone."""
    if not leaving:
        return segments
    gone = np.unique(np.array(leaving, np.int64))
    lost = [placed.numbering.count(gone) for placed in segments]
    return tuple(
        [
            replace(placed, dead=placed.dead + count) if count else placed
            for placed, count in zip(segments, lost, strict=True)
        ]
    )

"""Joins over whole tables: which pairs of rows satisfy which joins.

Tables are complete: nothing is late, and every pair counts. Their rows go through the join stage in the order of event time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.errors import EddylineError, SchemaError
from eddyline.execute.reading.batch import arrow_of
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import numbers
from eddyline.join.joined import Joined
from eddyline.join.keys import Codes
from eddyline.kernels.sorting import add_numbers, sort_digits
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream, find_stream
from eddyline.model.event_time import LONGEST, longest
from eddyline.model.expression import Column
from eddyline.model.names import short_repr
from eddyline.model.query_ids import PlainIds, QueryIds
from eddyline.model.roles import Roles, role_row
from eddyline.queryset.join_replay import Numbers, Replay, RunRows
from eddyline.queryset.kept_columns import Kept, keeping
from eddyline.standing.join_reading import JoinReading, stems_in_use
from eddyline.standing.version import Version

_NONE: Final = np.empty(0, np.int64)
NO_FAILURES: Final[Mapping[int, Exception]] = {}


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Some of the pairs: the dense id of each pair's join, and its rows in the tables of source 0 and of source 1."""

    query: Integers
    rows: tuple[Integers, Integers]


class JoinMatches:
    """The pairs of rows that satisfy the joins of a set.

    `counts()` has every join, `rows(id)` the row numbers of its pairs in both tables, `pairs()` all of it as a table. Joins
    that could not be evaluated for some pairs lack these and stand in `failed`, with the reason.
    """

    def __init__(
        self,
        ids: QueryIds,
        joins: Integers,
        found: Iterable[FoundPairs],
        failed: Mapping[int, Exception] = NO_FAILURES,
    ) -> None:
        self._parts = [*found]
        self._ids, self._joins = ids, joins
        self._failed = failed  # read when all is found: complete by now

    @property
    def failed(self) -> dict[str, Exception]:
        """The joins that could not be evaluated for some pairs, by id, each with what was raised."""
        ids = self._ids.listed(np.array(list(self._failed), np.int64))
        return dict(zip(ids, self._failed.values(), strict=True))

    def __len__(self) -> int:
        return sum(len(part.query) for part in self._parts)

    def counts(self) -> dict[str, int]:
        """How many pairs satisfy each join, zeros included."""
        counts = np.zeros(self._ids.size, np.int64)
        for part in self._parts:
            add_numbers(part.query, counts)
        return dict(zip(self._ids.listed(self._joins), counts[self._joins].tolist(), strict=True))

    def rows(self, id: str) -> tuple[Integers, Integers]:
        """The rows of a join's pairs in the tables of its first and of its second source, by the first, then by the second."""
        dense = self._ids.dense(id)
        if dense not in self._joins:
            raise EddylineError(f'query "{id}" is no join', hint="match(batch) tells which rows satisfy it")
        found = self._by_join
        start, end = np.searchsorted(found.query, [dense, dense + 1]).tolist()
        first, second = found.rows
        return first[start:end], second[start:end]

    def pairs(self) -> pa.Table:
        """All pairs as columns `query`, `first` and `second`: an id, and the rows of both sources."""
        first, second = self._by_join.rows
        return pa.table(
            {
                "query": self._ids.named(self._by_join.query),
                "first": pa.array(first, pa.int64()),
                "second": pa.array(second, pa.int64()),
            }
        )

    @cached_property
    def _by_join(self) -> FoundPairs:
        """All pairs by join and rows, put in order when they are first wanted: those who count have no need of it."""
        columns = [(part.query, *part.rows) for part in self._parts] or [(_NONE, _NONE, _NONE)]
        query, first, second = _sorted(
            *(np.concatenate([_NONE, *column]) for column in zip(*columns, strict=True))
        )
        self._parts = [FoundPairs(query, (first, second))]
        return self._parts[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes without the set that it came from: the ids of the joins, and their pairs."""
        found = self._by_join
        joins = np.sort(self._joins)
        places = np.searchsorted(joins, list(self._failed)).tolist()
        failed = dict(zip(places, self._failed.values(), strict=True))
        return _restored, (self._ids.listed(joins), np.searchsorted(joins, found.query), found.rows, failed)

    def __repr__(self) -> str:
        return f"<JoinMatches: {len(self)} pairs of {len(self._joins)} joins>"


def _restored(
    ids: list[str], query: Integers, rows: tuple[Integers, Integers], failed: Mapping[int, Exception]
) -> JoinMatches:
    return JoinMatches(PlainIds(ids), np.arange(len(ids)), [FoundPairs(query, rows)], failed)


def _sorted(*columns: Codes) -> tuple[Codes, ...]:
    """Rows of columns of numbers from 0 on, by the first column, then by the next: as single words where they fit in one."""
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) > 63:
        order = np.lexsort(columns[::-1])
        return tuple(column[order] for column in columns)
    packed = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, bits, strict=True):
        packed = packed << width | column
    packed = sort_digits(packed, np.empty_like(packed), sum(bits))
    found = []
    for width in reversed(bits):
        found.append(packed & ((1 << width) - 1))
        packed = packed >> width
    return tuple(reversed(found))


def join_tables(version: Version, tables: Mapping[str, Any]) -> JoinMatches:
    """The pairs of rows of whole tables, given by stream, that satisfy a version's joins."""
    if not isinstance(tables, Mapping):
        raise EddylineError(
            f"tables are given by stream, not as {short_repr(tables)}", hint='join({"quotes": table, ...})'
        )
    if version.table.joins is None:
        raise EddylineError("the set has no joins", hint="match(batch) tells which rows satisfy its queries")
    roles = version.roles
    assert roles is not None, "the set has joins"
    roles = keeping(roles, Kept.NOTHING, ())  # pairs are given by row numbers
    runs = _runs(version, roles, tables)
    replay = Replay(roles, list(runs.values()), time_zone=version.compiler.time_zone, in_order=False)
    found = (
        FoundPairs(pairs.query, _row_numbers(pairs, roles, runs)) for several in replay for pairs in several
    )
    return JoinMatches(version.table, version.table.alive_joins, found, replay.failed)


@dataclass(frozen=True, eq=False)
class TableRun:
    """A table, its rows by event time; `order` tells the number of each in the table as it was given, None: the same."""

    version: Version
    reading: JoinReading
    stream: Stream
    table: pa.Table
    times: Numbers
    order: Integers | None
    places: None = None

    def rows(self, start: int, end: int) -> RunRows:
        """The rows from one to another, matched with the roles of the joins."""
        roles = self.version.roles
        assert roles is not None, "the set has joins"
        piece = self.table.slice(start, end - start)
        columns, _ = self.reading.read(piece)
        return RunRows(columns, *self.version.match(piece, self.stream.name).pairs_among(roles.alive))


def _runs(version: Version, roles: Roles, tables: Mapping[str, Any]) -> dict[str, TableRun]:
    streams = {stream.name: stream for stream in version.compiler.streams}
    found = {}
    for name, table in tables.items():
        stream = find_stream(streams, name)
        if stream.name in found:
            raise EddylineError(
                f'there are two tables of stream "{stream.name}"', hint="give one for each stream"
            )
        reading = JoinReading(version, stream)
        if reading:
            found[stream.name] = _run(version, reading, stream, table)
    read = {stem.stream for stem in stems_in_use(roles)}
    missing = sorted(read - found.keys())
    if missing:
        raise SchemaError(
            f'joins read stream "{missing[0]}", of which there is no table',
            hint=f"join({{{', '.join(f'{name!r}: ...' for name in sorted(read))}}})",
        )
    return found


def _run(version: Version, reading: JoinReading, stream: Stream, given: Any) -> TableRun:
    table = arrow_of(given, stream)
    table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    columns, rows = reading.read(table)
    assert stream.times is not None, "it is joined"
    column = Column(stream.times.column, stream.times.type)
    values = Evaluation(columns, time_zone=version.compiler.time_zone, rows=rows).values(column)
    times = numbers(values).astype(np.int64, copy=False)
    if values.null_count:
        # they are left out, as those are that no window reaches
        times = np.where(np.asarray(values.is_null()), LONGEST, times)
    order = None
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        # Only what is read, as it is read: Arrow cannot take rows of every layout that a column may have.
        read = {**version.reading(stream.name).read(table)[0], **columns}
        times, table = times[order], pa.table(read).take(pa.array(order))
    furthest = longest(stream.times.type)
    start, end = int(np.searchsorted(times, -furthest, "right")), int(np.searchsorted(times, furthest))
    if order is not None or start:
        order = (np.arange(rows) if order is None else order)[start:end]
    return TableRun(version, reading, stream, table.slice(start, end - start), times[start:end], order)


def _row_numbers(pairs: Joined, roles: Roles, runs: Mapping[str, TableRun]) -> tuple[Integers, Integers]:
    """The rows of both sources in the tables as they were given; a table has one run, so that positions count its rows."""
    if all(run.order is None for run in runs.values()):
        return pairs.positions
    found = []
    for source, positions in enumerate(pairs.positions):
        stem_of_pair = roles.stem[role_row(pairs.query, 0, source)]
        rows = positions.copy()
        for stem in np.flatnonzero(np.bincount(stem_of_pair)).tolist():
            order = runs[roles.stems[stem].stream].order
            if order is not None:
                own = stem_of_pair == stem
                rows[own] = order[positions[own]]
        found.append(rows)
    return found[0], found[1]

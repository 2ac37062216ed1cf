r"""What the workers of a batch do: rows in, result rows out, one for every match that is delivered.

    rows of the source --> matches --> results by SELECT list --> as each sink wants them: text, typed columns, both
                       \-> rows that cannot be read, matches that have no sink --> dead letters
                       \-> one summary for each task: rows, accounts of queries, rows of each sink, what the driver
                           finds orders from

All of it is one `mapInArrow`; see `result_rows` for the kinds of rows. Text is made only where a sink wants it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines
from eddyline.delivery.router import Router
from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Call
from eddyline.project.account import QueryAccounts, nothing
from eddyline.project.stage import QueryColumns, Results, Selected
from eddyline.runtime.spark.dataframe.gathering import BatchSizer, gathered
from eddyline.runtime.spark.feedback.task import UNDIRECTED, Directions, TaskFeedback
from eddyline.runtime.spark.functions import external_name
from eddyline.runtime.spark.pipeline.batch.event_times import as_event_times, newest_event
from eddyline.runtime.spark.pipeline.batch.result_rows import (
    DEAD_LETTER,
    SUMMARY,
    TIME,
    RowFormat,
    parts,
)
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.input.identity import Identity, Keys, TaskBatch
from eddyline.runtime.spark.pipeline.input.sources import CORRUPT
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.written_together import put_summary
from eddyline.runtime.spark.transport.shipping import Shipment
from eddyline.runtime.spark.versions import open_deliverables
from eddyline.standing.version import Known

UNREADABLE: Final = "the row cannot be read as the stream's columns"
MOST_PAIRS: Final = 50_000  # pairs whose rows are made at once


@dataclass(frozen=True, slots=True)
class ResultWork:
    """What the workers of a batch are asked for; it travels in the closure."""

    shipment: Shipment
    stream: str
    time_zone: str
    source: str
    batch_id: int
    identity: Identity
    event_time: str | None
    router: Router
    keeps_corrupt: bool
    columns: tuple[str, ...]  # names of what comes in, in their order: Spark stumbles over some of them
    version: int
    format: RowFormat
    externals: tuple[Call, ...] = ()  # what Spark has computed, one column each behind the others
    directions: Directions = UNDIRECTED
    summaries: str | None = None  # the folder of this machine for summaries that do not leave as rows


def result_rows(work: ResultWork, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of one task, and its summary: as the last row, or as a file."""
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    task = _ResultTask(work, partition)
    for batch in gathered(batches, task.sizer):
        yield from task.results(batch.rename_columns(work.columns))
    if work.summaries is None:
        yield task.summary_row()
    else:
        # A task that Spark runs again says the same, in place of what it said before.
        put_summary(Path(work.summaries), partition, task.summary().packed())


@dataclass(frozen=True, slots=True)
class _Readable:
    """The readable rows of a batch; `place` says which ones of the batch they are."""

    rows: pa.RecordBatch
    known: Known
    origin: TaskBatch
    place: Integers


class _ResultFormat(NamedTuple):
    """How the results of one SELECT list leave, by sink: as text, and in which of the typed columns (-1: in none)."""

    as_text: Flags
    column: Integers


class _ResultTask:
    """One task: the set and what goes with it, opened; the counts so far."""

    def __init__(self, work: ResultWork, partition: int) -> None:
        self.sizer = BatchSizer()
        self._work = work
        self._started = thread_time()
        self._feedback = TaskFeedback(
            work.shipment.open(),
            work.stream,
            work.directions,
            batch_id=work.batch_id,
            partition=partition,
        )
        self._queries = self._feedback.queries
        self._table = table = open_deliverables(work.shipment)
        self._columns = QueryColumns(table.select, table.shadow, table.select_list_of)
        destinations = table.destinations
        routes = [work.router.find(destination) for destination in destinations]
        self._routes = routes
        self._sinks = list(work.format.typed.sinks)
        sink_index = {sink: index for index, sink in enumerate(self._sinks)}
        # by destination: which sink takes it, one past the last for none
        self._sink = np.array(
            [sink_index.get(route.sink or "", len(sink_index)) for route in routes], np.int64
        )
        self._reasons = pa.array([route.reason for route in routes], pa.string())
        names = [to or route.sink for to, route in zip(destinations, routes, strict=True)]
        self._destination_texts = pa.array(names, pa.string())
        self._formats: dict[int, _ResultFormat] = {}
        self._struct_types = [
            pa.struct(list(zip(typed.names, table.select_list(typed.numbers[0]).schema.types, strict=True)))
            for typed in work.format.typed.distinct
        ]
        self._keys = Keys(work.identity, work.source, work.batch_id)
        self._failed = dict.fromkeys(table.fallible_in(work.stream).expressions, 0)
        self._rows = self._unreadable = self._matched_rows = 0
        self._newest: int | None = None
        self._accounts = nothing()
        self._delivered: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

    def results(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The result rows of one Arrow batch."""
        origin = self._keys.see(batch)
        self._rows += batch.num_rows
        place = np.arange(batch.num_rows)
        if self._work.keeps_corrupt:
            readable = np.asarray(batch.column(CORRUPT).is_null())
            if not readable.all():
                yield self._unreadable_rows(batch, origin, np.flatnonzero(~readable))
                place = np.flatnonzero(readable)
                batch = batch.take(pa.array(place))
        self._newest = newest_event(batch, self._work.event_time, self._work.time_zone, self._newest)
        known = {call: batch.column(external_name(at)) for at, call in enumerate(self._work.externals)}
        found = self._queries.match(batch, stream=self._work.stream, known=known, failed=self._failed)
        row, query = found.pair_arrays()
        self.sizer.learn(batch.num_rows, len(row))
        results = Results(self._columns, row, query)
        for selected in results.selected(batch, known=known, most=MOST_PAIRS):
            yield self._result_rows(_Readable(batch, known, origin, place), selected, results.accounts)
        failed = np.array(
            sorted(found.failed_numbers), np.int64
        )  # whose condition no row could be tested for
        self._matched_rows += results.matched
        self._accounts = self._accounts.plus(
            results.accounts, QueryAccounts.of(failed, failures=batch.num_rows)
        )

    def summary_row(self) -> pa.RecordBatch:
        """The counts of the task, as a row."""
        columns = {PART: parts(SUMMARY, 1), "payload": pa.array([self.summary().packed()])}
        return self._batch(1, self._structs(1), **columns)

    def summary(self) -> Summary:
        """The counts of the task."""
        return Summary(
            rows=self._rows,
            unreadable=self._unreadable,
            matched_rows=self._matched_rows,
            accounts=self._accounts,
            failed=Counter({index: rows for index, rows in enumerate(self._failed.values()) if rows}),
            sinks=self._delivered,
            reasons=self._lost,
            blocks=self._keys.blocks,
            newest=self._newest,
            working=thread_time() - self._started,
            segments=self._feedback.tallies(),
        )

    def _unreadable_rows(self, batch: pa.RecordBatch, origin: TaskBatch, rows: Integers) -> pa.RecordBatch:
        """Rows that cannot be read, as dead letters with their text."""
        self._unreadable += len(rows)
        self._lost[UNREADABLE] += len(rows)
        return self._batch(
            len(rows),
            self._structs(len(rows)),
            **origin.identifying(rows),
            **{PART: parts(DEAD_LETTER, len(rows))},
            payload=batch.column(CORRUPT).take(pa.array(rows)),
            reason=pa.array([UNREADABLE] * len(rows)),
        )

    def _result_rows(self, batch: _Readable, selected: Selected, accounts: QueryAccounts) -> pa.RecordBatch:
        """The rows of results that select the same; what identifies a row is made once for each distinct one."""
        destination = self._table.destination[selected.query]
        sink = self._sink[destination]
        failure = None
        if selected.error is not None:
            sink = np.full(len(selected), len(self._sinks))
            failure = f"what the query selects cannot be computed: {type(selected.error).__name__}: {selected.error}"
        lost = sink == len(self._sinks)
        if failure is None and lost.any():
            accounts.withdraw(selected.account[lost])
        self._count(destination, sink, failure)
        identifying = batch.origin.identifying(batch.place[selected.rows])
        return self._batch(
            len(selected),
            self._structs(len(selected), selected, sink),
            **{PART: pa.array(np.where(lost, DEAD_LETTER, sink), pa.int32())},
            destination=lambda: self._destination_texts.take(pa.array(destination)),
            query_id=self._table.ids.take(pa.array(selected.query)),
            query_revision=pa.array(self._table.revision[selected.query], pa.int32()),
            query_number=lambda: pa.array(self._table.number[selected.query], pa.int64()),
            **{name: selected.spread(column) for name, column in identifying.items()},
            event_time=selected.spread(self._event_times(batch.rows, selected.rows)),
            payload=self._payload(selected, sink),
            reason=lambda: (
                self._reasons.take(pa.array(destination))
                if failure is None
                else pa.array([failure] * len(lost))
            ),
        )

    def _payload(self, selected: Selected, sink: Integers) -> pa.Array:
        """What was selected as text, where the sink wants it; made once for each distinct row."""
        wanted = self._form(selected)[0][sink]
        if selected.error is not None or not wanted.any():
            return pa.nulls(len(selected), pa.string())
        table = pa.Table.from_arrays(selected.values, schema=selected.select.schema)
        texts = selected.spread(json_lines(table))
        return texts if wanted.all() else pc.if_else(pa.array(wanted), texts, None)

    def _structs(
        self, count: int, selected: Selected | None = None, sink: Integers | None = None
    ) -> list[pa.Array]:
        """The typed columns: what was selected, in the rows of the sinks that have just these columns."""
        found = [pa.nulls(count, kind) for kind in self._struct_types]
        if selected is None or selected.error is not None or not found:
            return found
        column = self._form(selected).column[sink]
        for index in np.unique(column[column >= 0]).tolist():
            found[index] = pa.StructArray.from_arrays(
                selected.columns, fields=list(self._struct_types[index]), mask=pa.array(column != index)
            )
        return found

    def _form(self, selected: Selected) -> _ResultFormat:
        number = selected.select.number
        found = self._formats.get(number)
        if found is None:
            typed = self._work.format.typed
            columns = [typed.place(sink, number) for sink in self._sinks]
            as_text = [
                column is None or typed.by_sink[sink].beside_payload
                for sink, column in zip(self._sinks, columns, strict=True)
            ]
            column_index = [-1 if column is None else column for column in columns]
            # what has no sink is a dead letter, and these are text
            found = self._formats[number] = _ResultFormat(
                np.array([*as_text, True]), np.array([*column_index, -1])
            )
        return found

    def _count(self, destination: Integers, sink: Integers, failure: str | None) -> None:
        """Count results by sink, and those without one by the reason."""
        for index, count in _counts(sink):
            if index < len(self._sinks):
                self._delivered[self._sinks[index]] += count
            elif failure is not None:
                self._lost[failure] += count
            else:
                for code, times in _counts(destination[sink == index]):
                    self._lost[self._routes[code].reason or ""] += times

    def _event_times(self, batch: pa.RecordBatch, rows: Integers) -> pa.Array:
        """The event times of rows; NULL where the stream has none."""
        name = self._work.event_time
        if name is None:
            return pa.nulls(len(rows), TIME)
        times = as_event_times(batch.column(name).take(pa.array(rows)), self._work.time_zone)
        return pa.nulls(len(rows), TIME) if times is None else times

    def _batch(
        self, count: int, structs: list[pa.Array], **columns: pa.Array | Callable[[], pa.Array]
    ) -> pa.RecordBatch:
        """Rows that leave; columns that cost something are made only where they are asked for."""
        format = self._work.format
        columns["version"] = lambda: pa.repeat(pa.scalar(self._work.version, pa.int64()), count)
        found = {name: of() if callable(of) else of for name, of in columns.items() if name in format}
        return format.rows(count, structs, found)


def _counts(numbers: Integers) -> list[tuple[int, int]]:
    distinct, counts = np.unique(numbers, return_counts=True)
    return list(zip(distinct.tolist(), counts.tolist(), strict=True))

r"""What the workers of a batch do: rows in, result rows out, one for every match that is delivered.

    rows of the source --> matches --> one JSON text for each distinct (projection, row) --> result rows
                       \-> rows that cannot be read, matches that have no sink --> dead letters
                       \-> one summary a task: rows, matches of each query, rows of each sink, what the driver
                           finds orders from

All of it is one `mapInArrow`. Result rows have a `sink`; dead letters have a `reason` and the sink DEAD; a summary has
neither, and is the only kind of row without a sink.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines
from eddyline.delivery.router import Router
from eddyline.model.expression import Call
from eddyline.project.select_list import Known
from eddyline.runtime.spark.feedback.task import UNDIRECTED, Directions, TaskFeedback
from eddyline.runtime.spark.functions import external_name
from eddyline.runtime.spark.pipeline.identity import Identity, Keys, TaskBatch
from eddyline.runtime.spark.pipeline.sources import CORRUPT
from eddyline.runtime.spark.pipeline.summary import Summary
from eddyline.runtime.spark.shipping import Shipment
from eddyline.runtime.spark.versions import open_deliverables

Integers = npt.NDArray[np.signedinteger[Any]]

DEAD: Final = "_dead_letters"  # no sink can have this name
UNREADABLE: Final = "the row cannot be read as the stream's columns"
MOST_PAIRS: Final = 50_000  # pairs whose rows are made at once

SCHEMA: Final = (
    "destination string, query_id string, query_revision int, query_number bigint, version bigint, source string, "
    "batch_id bigint, tuple_key string, event_time timestamp, payload string, projection int, sink string, "
    "reason string, block_start bigint, block_row bigint"
)
OWN: Final = ("sink", "reason", "block_start", "block_row")  # columns that sinks do not get

_ARROW: Final = pa.schema(
    [
        ("destination", pa.string()),
        ("query_id", pa.string()),
        ("query_revision", pa.int32()),
        ("query_number", pa.int64()),
        ("version", pa.int64()),
        ("source", pa.string()),
        ("batch_id", pa.int64()),
        ("tuple_key", pa.string()),
        ("event_time", pa.timestamp("us", tz="UTC")),
        ("payload", pa.string()),
        ("projection", pa.int32()),
        ("sink", pa.string()),
        ("reason", pa.string()),
        ("block_start", pa.int64()),
        ("block_row", pa.int64()),
    ]
)

_TIME: Final = _ARROW.field("event_time").type


@dataclass(frozen=True, slots=True)
class Work:
    """What the workers of a batch are asked for; it travels in the closure."""

    shipment: Shipment
    stream: str
    time_zone: str
    source: str
    batch_id: int
    version: int
    identity: Identity
    event_time: str | None
    router: Router
    keeps_corrupt: bool
    columns: tuple[str, ...]  # names of what comes in, in their order: Spark stumbles over some of them
    externals: tuple[Call, ...] = ()  # what Spark has computed, one column each behind the others
    directions: Directions = UNDIRECTED


def result_rows(work: Work, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of one task, and its summary as the last row."""
    from pyspark import TaskContext

    context = TaskContext.get()
    task = _Task(work, 0 if context is None else context.partitionId())
    for batch in batches:
        yield from task.results(batch.rename_columns(work.columns))
    yield task.summary_row()


@dataclass(frozen=True, slots=True)
class _Readable:
    """The readable rows of a batch; `place` says which ones of the batch they are."""

    rows: pa.RecordBatch
    known: Known
    origin: TaskBatch
    place: Integers


class _Task:
    """One task: the set and what goes with it, opened; the counts so far."""

    def __init__(self, work: Work, partition: int) -> None:
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
        self._table = open_deliverables(work.shipment)
        routes = [work.router.find(destination) for destination in self._table.destinations]
        self._routes = routes
        self._is_lost = np.array([route.sink is None for route in routes], np.bool_)
        self._sinks = pa.array([route.sink or DEAD for route in routes], pa.string())
        self._reasons = pa.array([route.reason for route in routes], pa.string())
        names = [to or route.sink for to, route in zip(self._table.destinations, routes, strict=True)]
        self._destination_texts = pa.array(names, pa.string())
        self._keys = Keys(work.identity, work.source, work.batch_id)
        self._failed = dict.fromkeys(self._table.fallible_in(work.stream, self._queries).expressions, 0)
        self._summary = Summary()

    def results(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The result rows of one Arrow batch."""
        origin = self._keys.see(batch)
        self._summary.rows += batch.num_rows
        place = np.arange(batch.num_rows)
        if self._work.keeps_corrupt:
            readable = np.asarray(batch.column(CORRUPT).is_null())
            if not readable.all():
                yield self._unreadable(batch, origin, np.flatnonzero(~readable))
                place = np.flatnonzero(readable)
                batch = batch.take(pa.array(place))
        known = {call: batch.column(external_name(at)) for at, call in enumerate(self._work.externals)}
        found = self._queries.match(batch, stream=self._work.stream, known=known, failed=self._failed)
        for failed in found.failed_numbers:  # for none of these rows its condition could be evaluated
            self._summary.failures[failed] += batch.num_rows
        row, number = found.pair_arrays()
        self._count(row, number)
        wanted = ~self._table.shadow[number]
        if not wanted.all():
            row, number = row[wanted], number[wanted]
        for start in range(0, len(row), MOST_PAIRS):
            piece = slice(start, start + MOST_PAIRS)
            for rows, numbers in self._by_projection(row[piece], number[piece]):
                yield self._projected(_Readable(batch, known, origin, place), rows, numbers)

    def summary_row(self) -> pa.RecordBatch:
        """The counts of the task, as the only row without a sink."""
        self._summary.failed += Counter(dict(enumerate(self._failed.values())))  # zeros are left out
        self._summary.blocks = self._keys.blocks
        self._summary.segments = self._feedback.tallies()
        self._summary.working = thread_time() - self._started
        return _batch(1, payload=pa.array([self._summary.text()]))

    def _count(self, row: Integers, number: Integers) -> None:
        self._summary.matched_rows += len(np.unique(row))
        self._summary.matches.update(_counts(number))

    def _by_projection(self, row: Integers, number: Integers) -> Iterator[tuple[Integers, Integers]]:
        projection = self._table.projection[number]
        for one in np.unique(projection):
            chosen = projection == one
            yield row[chosen], number[chosen]

    def _unreadable(self, batch: pa.RecordBatch, origin: TaskBatch, rows: Integers) -> pa.RecordBatch:
        """Rows that cannot be read, as dead letters with their text."""
        self._summary.unreadable += len(rows)
        self._summary.reasons[UNREADABLE] += len(rows)
        return self._rows(
            len(rows),
            **origin.identifying(rows),
            payload=batch.column(CORRUPT).take(pa.array(rows)),
            sink=pa.array([DEAD] * len(rows)),
            reason=pa.array([UNREADABLE] * len(rows)),
        )

    def _projected(self, batch: _Readable, row: Integers, number: Integers) -> pa.RecordBatch:
        """The result rows of pairs whose queries select the same; each distinct row's text is made once."""
        distinct, inverse = np.unique(row, return_inverse=True)
        back = pa.array(inverse)
        failure = None
        try:
            payload = self._payload(batch, distinct, inverse, number).take(back)
        except Exception as error:  # whatever one SELECT list does, the others are delivered
            payload = pa.nulls(len(row), pa.string())
            failure = f"what the query selects cannot be computed: {type(error).__name__}: {error}"
        sink, reason = self._routed(number, failure)
        identifying = batch.origin.identifying(batch.place[distinct])
        return self._rows(
            len(row),
            destination=self._destination_texts.take(pa.array(self._table.destination[number])),
            query_id=self._table.ids.take(pa.array(number)),
            query_revision=pa.array(self._table.revision[number], pa.int32()),
            query_number=pa.array(self._table.number[number], pa.int64()),
            **{name: column.take(back) for name, column in identifying.items()},
            event_time=self._event_times(batch.rows, distinct).take(back),
            payload=payload,
            projection=pa.array(self._table.projection[number], pa.int32()),
            sink=sink,
            reason=reason,
        )

    def _payload(self, batch: _Readable, distinct: Integers, inverse: Integers, number: Integers) -> pa.Array:
        projection = self._table.projections[self._table.projection[number[0]]]
        known = {call: batch.known[call] for call in projection.externals}
        projected = projection.values(batch.rows, distinct, known)
        for _, times in projected.failures:
            failed = np.asarray(times)[inverse]
            for one in np.unique(number[failed > 0]).tolist():
                self._summary.failures[one] += int(failed[number == one].sum())
        return json_lines(pa.Table.from_arrays(projected.columns, schema=projection.schema))

    def _routed(self, number: Integers, failure: str | None) -> tuple[pa.Array, pa.Array]:
        """The sink and the reason of each pair; both are counted."""
        summary = self._summary
        codes = self._table.destination[number]
        lost = np.full(len(number), True) if failure else self._is_lost[codes]
        summary.delivered.update(_counts(number[~lost]))
        summary.undelivered.update(_counts(number[lost]))
        for code, count in _counts(codes).items():
            route = self._routes[code]
            if failure or route.sink is None:
                summary.reasons[failure or route.reason or ""] += count
            else:
                summary.sinks[route.sink] += count
        if failure:
            return pa.array([DEAD] * len(number)), pa.array([failure] * len(number))
        places = pa.array(codes)
        return self._sinks.take(places), self._reasons.take(places)

    def _event_times(self, batch: pa.RecordBatch, rows: Integers) -> pa.Array:
        """The event times of rows; NULL where the stream has none."""
        name = self._work.event_time
        if name is None:
            return pa.nulls(len(rows), _TIME)
        times = batch.column(name).take(pa.array(rows))
        if pa.types.is_date(times.type):
            times = times.cast(pa.timestamp("us"))
        if not pa.types.is_timestamp(times.type):
            return pa.nulls(len(rows), _TIME)
        if times.type.tz is None:
            times = pc.assume_timezone(
                times, self._work.time_zone, ambiguous="earliest", nonexistent="earliest"
            )
        return times.cast(_TIME)

    def _rows(self, count: int, **columns: pa.Array) -> pa.RecordBatch:
        work = self._work
        same = {"version": work.version, "source": work.source, "batch_id": work.batch_id}
        constant = {
            name: pa.repeat(pa.scalar(value, _ARROW.field(name).type), count) for name, value in same.items()
        }
        return _batch(count, **constant, **columns)


def _batch(count: int, **columns: Any) -> pa.RecordBatch:
    """A batch of results; columns that are not given are NULL."""
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in _ARROW
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def _counts(numbers: Integers) -> dict[int, int]:
    distinct, counts = np.unique(numbers, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))

"""One micro-batch: pinned to a version, matched, delivered, counted, committed; the same again when it is replayed.

    pin       the version that serves the batch is on disk before anything else happens
    match     one pass over the rows; its results are kept until the end of the batch
    deliver   to every sink that has rows, then the dead letters
    commit    counters in the registry, once; the record that the batch is done; the report

A failure anywhere leaves the batch to be run again with the same version. Every step then gives what it gave before, or
sees that it was done. The order must stay: what is delivered before its pin is on disk would be matched by another version
when it is replayed, and a batch that counts as done before its dead letters are written would lose them in a crash.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from eddyline.delivery.retry import Patience, TryAgainError, persist
from eddyline.errors import DeliveryError, SchemaError
from eddyline.model.catalog import Stream
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.feedback.source import BatchTold
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.dead_letters import file_letter, refused_letter
from eddyline.runtime.spark.pipeline.batch.matching import matched
from eddyline.runtime.spark.pipeline.batch.quarantine import failures, quarantine
from eddyline.runtime.spark.pipeline.batch.result_rows import DEAD_LETTER, TypedColumns
from eddyline.runtime.spark.pipeline.batch.set_aside import settle
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.identity import with_complete_keys
from eddyline.runtime.spark.pipeline.input.inputs import readable_path
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sinks import RefusedResult, RowsRefusedError
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.written_together import WrittenTogether
from eddyline.runtime.spark.versions import Pin
from eddyline.runtime.spark.versions.orders import Orders, in_words
from eddyline.runtime.spark.watching import BatchReport
from eddyline.runtime.spark.watching.values import EPOCH, MOST_TOP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PATIENCE: Final = Patience(attempts=4, first=0.5, longest=10.0)


@dataclass(slots=True)
class Delivered:
    """What became of the results: rows by sink, and what sinks will never take."""

    rows: dict[str, int] = field(default_factory=dict)
    refused: list[RefusedResult] = field(default_factory=list)


class StageTimer:
    """Seconds of the stages of a batch."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begin = time.monotonic()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - begin
            self.seconds["total"] = time.monotonic() - self._begin


def run_batch(
    context: BatchContext, source: PipelineSource, df: DataFrame, batch_id: int
) -> BatchReport | None:
    """Run a batch to its end; None where that was done before."""
    name = source.settings.name
    if context.log.committed(name, batch_id):
        return None
    stages = StageTimer()
    with stages.stage("pin"):
        pin = context.log.pin(name, batch_id, context.current, partial(_orders, context, source))
        batch = Batch(context.identity.id, context.identity.name, name, batch_id, pin.version, pin.at)
        plan = context.plan(pin.version)
        _check_stream(plan, source)
    with stages.stage("match"):
        found = matched(context, plan, source, df, batch, pin)
        results, summary, culprits, pin, typed, release = found
    try:
        with stages.stage("deliver"):
            if summary.sinks:
                settle(context, source, pin)
            if not isinstance(results, WrittenTogether):
                results = with_complete_keys(results, source.identity.kind, summary.blocks)
            delivered = _deliver(context, typed, results, summary, batch)
            _write_dead_letters(context, results, summary, delivered, batch, pin, df.sparkSession)
    finally:
        release()
    with stages.stage("commit"):
        own = plan.table.fallible_in(source.stream.name)
        summary = summary.with_failures(
            own.by_query(summary.failed), failures(context, plan, source, culprits, summary)
        )
        problems = quarantine(context, plan, source, culprits)
        late = context.counting.add(name, batch_id, _counters(plan, summary, delivered))
        problems += [late] if late is not None else []
        problems += [f"{readable_path(file.path)} is set aside: {file.reason}" for file in pin.set_aside[:10]]
        report = _report(plan, summary, delivered, batch, stages, problems)
        report = replace(report, dropped_files=len(pin.set_aside))
        report = _with_orders(report, summary, pin.orders, context.learning.of(name).taken())
        context.log.commit(name, batch_id, _account(report))
        context.forget(pin.version)
    told = BatchTold(pin.orders, summary.segments, summary.working, report.total)
    context.learning.learn(name, plan.queries, source.stream.name, told)
    context.metrics.batch(report)
    return report


def _orders(context: BatchContext, source: PipelineSource, version: int) -> Orders:
    """The orders in which the segments of a version are evaluated next."""
    return context.learning.of(source.settings.name).orders(context.plan(version).queries, source.stream.name)


class StreamChanged(Exception):
    """The version of a batch knows the source's stream with other columns: the source has to be opened again."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(f'the columns of stream "{stream.name}" have changed')
        self.stream = stream


def _check_stream(plan: VersionPlan, source: PipelineSource) -> None:
    streams = {stream.name: stream for stream in plan.queries.streams}
    found = streams.get(source.stream.name)
    if found is None:
        raise SchemaError(
            f'version {plan.table.version} of the registry has no stream "{source.stream.name}", which source '
            f'"{source.settings.name}" reads',
            hint="declare it again, or take the source out of the settings",
        )
    if found != source.stream:
        raise StreamChanged(found)


def _deliver(
    context: BatchContext,
    typed: TypedColumns,
    results: DataFrame | WrittenTogether,
    summary: Summary,
    batch: Batch,
) -> Delivered:
    """Hand every sink its rows; a sink that fails for a while is asked again."""
    delivered = Delivered()
    for name, count in summary.sinks.items():
        columns = typed.by_sink.get(name)
        deliver: Callable[[], object]
        if isinstance(results, WrittenTogether):
            deliver = partial(results.hand_over, typed.sinks.index(name), columns)
        else:
            deliver = partial(context.sinks[name].deliver, typed.of_sink(results, name), batch, columns)
        try:
            _patiently(context, name, deliver)
            delivered.rows[name] = count
        except RowsRefusedError as error:
            delivered.refused += error.refused
            delivered.rows[name] = count - len(error.refused)
    return delivered


def _patiently(context: BatchContext, name: str, deliver: Callable[[], object]) -> None:
    """Deliver to one sink, several times if it has to be; what it says at last is raised."""
    last: list[DeliveryError] = []

    def attempt() -> None:
        context.owner.check()  # the pauses may be long, and another owner delivers the batch by itself
        try:
            with context.sink_locks[name]:
                deliver()
        except DeliveryError as error:
            last.append(error)
            raise TryAgainError(error.message) from error

    try:
        persist(attempt, PATIENCE)
    except TryAgainError:
        raise last[-1] from None


def _write_dead_letters(
    context: BatchContext,
    results: DataFrame | WrittenTogether,
    summary: Summary,
    delivered: Delivered,
    batch: Batch,
    pin: Pin,
    spark: SparkSession,
) -> None:
    """Write the dead letters, if there are any."""
    rows = None
    if summary.reasons:
        assert not isinstance(results, WrittenTogether), "rows with dead letters are kept"
        rows = results.where(f"{PART} = {DEAD_LETTER}")
    letters = [*map(refused_letter, delivered.refused), *map(file_letter, pin.set_aside)]
    if rows is not None or letters:
        context.owner.check()
        context.dead_letters.write(rows, letters, batch, spark)


def _counters(plan: VersionPlan, summary: Summary, delivered: Delivered) -> dict[str, dict[str, int]]:
    """What the batch adds to the counters of queries, by id, under the names that an engine uses."""
    refused = Counter(one.query_id for one in delivered.refused)
    found = {}
    for number, account in summary.accounts:
        id = plan.table.ids[number].as_py()
        found[id] = {
            "matches": account.matches,
            "deliveries": account.delivered - refused[id],
            "shadowed": account.shadowed,
            "undelivered": account.undelivered + refused[id],
            "failures": account.failures,
        }
    return found


def _report(
    plan: VersionPlan,
    summary: Summary,
    delivered: Delivered,
    batch: Batch,
    stages: StageTimer,
    problems: list[str],
) -> BatchReport:
    ids, total = plan.table.ids, summary.accounts.total
    problems = problems + [
        f"{count} dead letters: {reason}" for reason, count in summary.reasons.most_common(10)
    ]
    problems += sorted({f"dead letter: {one.reason}" for one in delivered.refused})[:10]
    return BatchReport(
        source=batch.source,
        batch_id=batch.batch_id,
        version=batch.version,
        queries=len(plan.queries),
        rows=summary.rows,
        matched_rows=summary.matched_rows,
        dropped_rows=summary.reasons.total() + len(delivered.refused),
        matches=total.matches,
        failures=total.failures,
        delivered=delivered.rows,
        seconds=stages.seconds,
        top=tuple((ids[number].as_py(), n) for number, n in summary.accounts.most_matches(MOST_TOP)),
        failing=tuple((ids[number].as_py(), n) for number, n in summary.accounts.most_failures(MOST_TOP)),
        newest_event=None if summary.newest is None else EPOCH + timedelta(microseconds=summary.newest),
        at=batch.at,
        problems=tuple(problems),
    )


def _with_orders(report: BatchReport, summary: Summary, orders: Orders, thinking: float) -> BatchReport:
    """With what the orders of the batch came to; `thinking` are the driver's seconds since the last report."""
    tallies = summary.segments.values()
    return replace(
        report,
        problems=(*report.problems, *sorted({tally.problem for tally in tallies if tally.problem})),
        order=in_words(orders),
        by_row=sum(tally.by_row for tally in tallies),
        visited=sum(tally.visited for tally in tallies),
        working=summary.working,
        watching=sum(tally.watching for tally in tallies),
        thinking=thinking,
    )


def _account(report: BatchReport) -> Mapping[str, Any]:
    """What the record of a batch says of it."""
    return {
        "rows": report.rows,
        "matched_rows": report.matched_rows,
        "matches": report.matches,
        "dropped_rows": report.dropped_rows,
        "dropped_files": report.dropped_files,
        "delivered": dict(report.delivered),
        "queries": report.queries,
        "seconds": round(report.total, 3),
    }

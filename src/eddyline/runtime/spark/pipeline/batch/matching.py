"""The results of a batch: one pass over its rows, written for the sinks or kept for them, with its counts.

What only Spark can compute is computed in front of it. Where that fails for some row it would fail the batch for all
queries: the calls that do are looked for, written down with the batch, and count as NULL in it, now and when it is
replayed. So are files that cannot be read.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eddyline.model.expression import Call
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.halving import was_stopped
from eddyline.runtime.spark.base.schemas import quoted
from eddyline.runtime.spark.base.secrets import secrets_in
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.feedback.task import UNDIRECTED, Directions
from eddyline.runtime.spark.functions import external_name, find_culprits, pin_text, with_externals
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.result_rows import SUMMARY, RowFormat, TypedColumns, with_constants
from eddyline.runtime.spark.pipeline.batch.results import ResultWork, result_rows
from eddyline.runtime.spark.pipeline.batch.set_aside import rows_of, without_broken, without_misfits
from eddyline.runtime.spark.pipeline.batch.summary import Summary, total
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.identity import first_rows
from eddyline.runtime.spark.pipeline.input.sources import CORRUPT, PipelineSource
from eddyline.runtime.spark.sessions.session_checks import is_local
from eddyline.runtime.spark.sinks.files import KEPT
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.typed import TypedList
from eddyline.runtime.spark.sinks.written_together import WrittenTogether, written_together
from eddyline.runtime.spark.transport.carrying import carried_rows
from eddyline.runtime.spark.versions import Pin
from eddyline.runtime.spark.watching.logs import event

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("eddyline.pipeline")
FAILED_BEFORE = "failed when the batch first ran"
PAUSE = 50  # batches whose results are kept after one that could not be written: what stood in its way is often in theirs


class Matched(NamedTuple):
    """The results of a batch, kept or written, their counts, the calls that count as NULL with the reason of each, the pin.

    typed: the columns that sinks have, as the results were made for them. release: lets go of what is kept or left.
    """

    results: DataFrame | WrittenTogether
    summary: Summary
    culprits: dict[Call, str]
    pin: Pin
    typed: TypedColumns
    release: Callable[[], object]


def matched(
    context: BatchContext, plan: VersionPlan, source: PipelineSource, df: DataFrame, batch: Batch, pin: Pin
) -> Matched:
    """Match a batch; what stands in the way of the others is left out, which the pin says before this returns."""
    calls = plan.externals(source.stream.name)
    culprits = {call: FAILED_BEFORE for call in calls if pin_text(call) in pin.nulled}
    pin = without_misfits(context, source, df.sparkSession, pin)
    idle = context.callers.idle(plan, source.stream.name)
    directions = context.learning.of(batch.source).directions(pin.orders)
    typed = typed_columns(context, plan, batch)
    made = partial(
        _task_rows, settings=context.settings, plan=plan, source=source, batch=batch, directions=directions
    )
    together = _together(context, plan, source, batch, typed, df)
    while True:
        nulled = idle | {pin_text(call) for call in culprits}
        rows = rows_of(context, source, df, pin)
        if together is not None:
            written = _written(context, together, partial(made, rows, nulled=nulled), typed)
            if written is not None:
                return Matched(together, written, culprits, pin, typed, together.remove)
            context.kept_until[batch.source] = batch.batch_id + PAUSE
            together = None
        kept = made(rows, nulled=nulled, format=RowFormat(typed)).persist()
        try:
            summary = summary_of(kept)
            return Matched(with_constants(kept, batch), summary, culprits, pin, typed, kept.unpersist)
        except Exception as error:
            kept.unpersist()
            before, pin = pin, without_broken(context, source, df.sparkSession, pin, error)
            if pin != before:
                continue
            healthy = [call for call in calls if pin_text(call) not in nulled]
            found = find_culprits(rows, healthy, allowed=context.settings.functions) if healthy else {}
            if not found:
                raise
            culprits |= found
            pin = replace(pin, nulled=tuple(sorted({*pin.nulled, *map(pin_text, found)})))
            context.log.update(pin)


def results_of(
    settings: PipelineSettings,
    plan: VersionPlan,
    source: PipelineSource,
    df: DataFrame,
    batch: Batch,
    nulled: Collection[str] = (),
) -> DataFrame:
    """The results of a batch as they would be computed, as text: what its queries need goes to Python, in one pass."""
    format = RowFormat(TypedColumns({}, plan.sinks))
    rows = _task_rows(
        df, settings=settings, plan=plan, source=source, batch=batch, nulled=nulled, format=format
    )
    return with_constants(rows, batch)


def _task_rows(
    df: DataFrame,
    *,
    settings: PipelineSettings,
    plan: VersionPlan,
    source: PipelineSource,
    batch: Batch,
    nulled: Collection[str],
    format: RowFormat,
    directions: Directions = UNDIRECTED,
    summaries: Path | None = None,
) -> DataFrame:
    """What the tasks of a batch give."""
    calls = plan.externals(source.stream.name)
    rows = with_externals(df, calls, nulled=nulled, allowed=settings.functions)
    sent = columns_sent(plan, source)
    columns = [*sent, *(external_name(place) for place in range(len(calls)))]
    identity = source.identity
    if identity.kind == "content":
        identity = replace(identity, columns=tuple(sent))
    work = ResultWork(
        shipment=plan.shipment,
        stream=source.stream.name,
        time_zone=settings.time_zone,
        source=batch.source,
        batch_id=batch.batch_id,
        identity=identity,
        event_time=source.stream.event_time,
        router=plan.router,
        keeps_corrupt=source.keeps_corrupt,
        columns=tuple(columns),
        version=batch.version,
        format=format,
        externals=calls,
        directions=directions,
        summaries=None if summaries is None else str(summaries),
    )
    # As texts: each column that is named by an object takes a dozen calls of Java, which a small batch feels.
    renamed = rows.selectExpr(*[f"{quoted(name)} AS _{n}" for n, name in enumerate(columns)])
    return renamed.mapInArrow(carried_rows(partial(result_rows, work)), format.schema)


def typed_columns(context: BatchContext, plan: VersionPlan, batch: Batch) -> TypedColumns:
    """The columns that sinks have for what queries of a version select, where they have any."""
    found: dict[str, TypedList] = {}
    for name, lists in plan.select_lists.items():
        with context.sink_locks[name]:
            typed = context.sinks[name].typed_for(lists, batch)
        if typed is not None:
            found[name] = typed
    return TypedColumns(found, plan.sinks)


def columns_sent(plan: VersionPlan, source: PipelineSource) -> list[str]:
    """The columns of a source that go to Python: what queries read, event time, identity, unreadable text."""
    needed = plan.columns(source.stream.name) | {*source.identity.columns, CORRUPT}
    if source.stream.event_time is not None:
        needed.add(source.stream.event_time)
    return [name for name in source.columns if name in needed]


def summary_of(results: DataFrame) -> Summary:
    """The counts of all tasks; to have them all results are made, and kept."""
    rows = results.where(f"{PART} = {SUMMARY}").select("payload").collect()
    return _checked(payload for (payload,) in rows)


def _checked(summaries: Iterable[str]) -> Summary:
    summary = total(summaries)
    summary.accounts.check()  # before anything is delivered
    return summary


def _together(
    context: BatchContext,
    plan: VersionPlan,
    source: PipelineSource,
    batch: Batch,
    typed: TypedColumns,
    df: DataFrame,
) -> WrittenTogether | None:
    """How the sinks' rows can be written by the job that makes them; None where they cannot, or could not be lately."""
    if not plan.sinks or source.identity.kind == "content":
        return None
    if batch.batch_id < context.kept_until.get(batch.source, 0):
        return None
    if not is_local(df.sparkSession):  # files of workers may lie on disks that are not the driver's
        return None
    sinks = [context.sinks[name] for name in plan.sinks]
    return written_together(sinks, [typed.by_sink.get(name) for name in plan.sinks], batch)


def _written(
    context: BatchContext, together: WrittenTogether, made: Callable[..., DataFrame], typed: TypedColumns
) -> Summary | None:
    """The counts of results that the job which made them has written; None where the batch needs the other way, or this one failed.

    Whatever went wrong, the other way meets it too, and knows what to do about it. But a job that was stopped is the end of
    the batch: nobody would stop the one that makes its results anew.
    """
    selected = together.selected_names()
    format = RowFormat(
        typed if selected is not None else TypedColumns({}, typed.sinks),
        names=(*together.parts, *KEPT),
        behind=("payload",),
        flat=selected,
    )
    shaped = together.sinks[0].shaped
    try:
        together.prepare()
        rows = made(format=format, summaries=together.summaries)
        together.write(rows if selected is not None else shaped(rows, together.typed, together.parts))
        summary = _checked(together.counted())
        counts = {name: together.rows(place) for place, name in enumerate(typed.sinks)}
        if not summary.reasons and not first_rows(summary.blocks) and +Counter(counts) == summary.sinks:
            return summary
    except Exception as error:
        if was_stopped(error):
            together.remove()
            raise
        words = in_words(error, secrets=secrets_in(context.settings))
        message = (
            f"the results of {together.batch} are made again, since writing them at once failed: {words}"
        )
        event(log, message, level=logging.WARNING, source=together.batch.source)
    together.remove()
    return None

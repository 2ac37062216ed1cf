"""The results of a batch: one pass over its rows, kept for the sinks, with its counts.

What only Spark can compute is computed in front of it. Where that fails for some row it would fail the batch for all
queries: the calls that do are looked for, written down with the batch, and count as NULL in it, now and when it is
replayed. So are files that cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from eddyline.model.expression import Call
from eddyline.runtime.spark.base.schemas import quoted
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.feedback.task import UNDIRECTED, Directions
from eddyline.runtime.spark.functions import external_name, find_culprits, pin_text, with_externals
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.result_rows import NO_TYPED_COLUMNS, SUMMARY, TypedColumns
from eddyline.runtime.spark.pipeline.batch.results import ResultWork, result_rows
from eddyline.runtime.spark.pipeline.batch.set_aside import rows_of, without_broken, without_misfits
from eddyline.runtime.spark.pipeline.batch.summary import Summary, total
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.sources import CORRUPT, PipelineSource
from eddyline.runtime.spark.sinks.typed import TypedList
from eddyline.runtime.spark.transport.carrying import carried_rows
from eddyline.runtime.spark.versions import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAILED_BEFORE = "failed when the batch first ran"


class Matched(NamedTuple):
    """The results of a batch, kept, their counts, the calls that count as NULL with the reason of each, the pin.

    typed: the columns that sinks have, as the results were made for them.
    """

    results: DataFrame
    summary: Summary
    culprits: dict[Call, str]
    pin: Pin
    typed: TypedColumns


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
    while True:
        nulled = idle | {pin_text(call) for call in culprits}
        rows = rows_of(context, source, df, pin)
        results = results_of(context.settings, plan, source, rows, batch, nulled, directions, typed).persist()
        try:
            return Matched(results, summary_of(results), culprits, pin, typed)
        except Exception as error:
            results.unpersist()
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
    directions: Directions = UNDIRECTED,
    typed: TypedColumns = NO_TYPED_COLUMNS,
) -> DataFrame:
    """The results of a batch as they would be computed: what its queries need goes to Python, in one pass."""
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
        version=batch.version,
        identity=identity,
        event_time=source.stream.event_time,
        router=plan.router,
        keeps_corrupt=source.keeps_corrupt,
        columns=tuple(columns),
        externals=calls,
        directions=directions,
        typed=typed,
    )
    renamed = rows.select(*[quoted(name) for name in columns]).toDF(*[f"_{n}" for n in range(len(columns))])
    return renamed.mapInArrow(carried_rows(partial(result_rows, work)), typed.schema)


def typed_columns(context: BatchContext, plan: VersionPlan, batch: Batch) -> TypedColumns:
    """The columns that sinks have for what queries of a version select, where they have any."""
    found: dict[str, TypedList] = {}
    for name, lists in plan.select_lists.items():
        with context.sink_locks[name]:
            typed = context.sinks[name].typed_for(lists, batch)
        if typed is not None:
            found[name] = typed
    return TypedColumns(found)


def columns_sent(plan: VersionPlan, source: PipelineSource) -> list[str]:
    """The columns of a source that go to Python: what queries read, event time, identity, unreadable text."""
    needed = plan.columns(source.stream.name) | {*source.identity.columns, CORRUPT}
    if source.stream.event_time is not None:
        needed.add(source.stream.event_time)
    return [name for name in source.columns if name in needed]


def summary_of(results: DataFrame) -> Summary:
    """The counts of all tasks; to have them all results are made, and kept."""
    rows = results.where(f"kind = '{SUMMARY}'").select("accounts", "payload").collect()
    summary = total((bytes(accounts), others) for accounts, others in rows)
    summary.accounts.check()  # before anything is delivered
    return summary

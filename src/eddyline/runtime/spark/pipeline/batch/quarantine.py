"""Queries whose functions fail on data: they are disabled in the registry, so that the next version is without them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping

from eddyline.errors import EddylineError
from eddyline.model.expression import Call
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.watching.logs import event

log = logging.getLogger("eddyline.pipeline")


def quarantine(
    context: BatchContext, plan: VersionPlan, source: PipelineSource, culprits: Mapping[Call, str]
) -> list[str]:
    """Disable the queries that call what failed, where the settings say so; what there is to tell.

    Of calls that no query of the version has there is nothing to tell.
    """
    if not culprits:
        return []
    callers = context.callers.of(plan, source.stream.name)
    used = {call for caller in callers for call in caller.calls}
    told = [f"{pin_text(call)} counts as NULL: {culprits[call]}" for call in culprits if call in used]
    for caller in callers if context.settings.quarantine else ():
        call = next((call for call in caller.calls if call in culprits), None)
        if call is None:
            continue
        id, reason = caller.query.id, f"{pin_text(call)} fails: {culprits[call]}"
        try:
            revision = int(plan.table.revision[caller.number])
            change = context.registry.quarantine(id, reason, revision=revision)
            if not change.changed:  # somebody has changed or removed it meanwhile
                continue
            told.append(f'query "{id}" is disabled: {reason}')
        # a registry that is locked: the call counts as NULL, again in the next batch
        except EddylineError as error:
            told.append(f'query "{id}" could not be disabled: {error.message}')
        event(log, told[-1], level=logging.WARNING, query=id, source=source.settings.name)
    return told


def failures(
    context: BatchContext,
    plan: VersionPlan,
    source: PipelineSource,
    culprits: Mapping[Call, str],
    summary: Summary,
) -> Counter[int]:
    """How often calls that failed counted as NULL, by query: in conditions for every row, in results for every match."""
    found: Counter[int] = Counter()
    for caller in context.callers.of(plan, source.stream.name) if culprits else ():
        rows = (summary.rows - summary.unreadable) * sum(call in culprits for call in caller.in_condition)
        matches = summary.accounts.account(caller.number).matches * sum(
            call in culprits for call in caller.in_outputs
        )
        found[caller.number] += rows + matches
    return found

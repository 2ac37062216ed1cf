"""The plan of a dry run, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from eddyline.cli.output import Output, counted

if TYPE_CHECKING:
    from eddyline.runtime.spark.pipeline.plan import Plan, SourcePlan

SHOWN: Final = 20  # queries that are named


def show(plan: Plan, output: Output) -> None:
    """Everything that would happen."""
    queries = counted(plan.queries, "query", "queries")
    output.line(f'pipeline "{plan.name}": {queries} of version {plan.version} of {plan.registry}', "bold")
    state = "goes on from" if plan.goes_on else "starts with a new"
    output.line(f"  {state} checkpoint {plan.checkpoint}")
    output.line(f"  trigger {plan.trigger}, time zone {plan.time_zone}, dead letters to {plan.dead_letters}")
    for name, value in plan.session.items():
        output.line(f"  {name} = {value}")
    for source in plan.sources:
        _show_source(source, output)
    output.heading("sinks")
    rows = [
        (sink.name + (" (default)" if sink.default else ""), sink.format, sink.guarantee, sink.path or "")
        for sink in plan.sinks
    ]
    output.table(("name", "format", "guarantee", "where"), rows)
    output.heading("compiled")
    output.line(plan.compiled)
    _show_findings("left out", plan.left_out, output)
    _show_findings("without a sink: results go to the dead letters", plan.without_sink, output)


def _show_source(source: SourcePlan, output: Output) -> None:
    output.heading(f'source "{source.name}"')
    where = f" {source.path}" if source.path else ""
    output.line(f"  {source.format}{where}, as stream {source.stream}, from batch {source.next_batch} on")
    for name, value in source.options.items():
        output.line(f"  {name} = {value}")
    shadows = f", {source.shadows:,} of them in shadow" if source.shadows else ""
    output.line(
        f"  {counted(source.queries, 'query', 'queries')}{shadows}; a tuple is known by {source.identity}"
    )
    sent = [f"{name} {source.columns[name]}" for name in source.sent]
    output.line(f"  {len(sent)} of {len(source.columns)} columns are needed: {', '.join(sent)}")
    output.line("  Spark's plan of the rows, and of a batch:")
    for line in source.spark_plan.splitlines():
        if line.strip():
            output.line(f"    {line}")


def _show_findings(title: str, found: Mapping[str, str], output: Output) -> None:
    if not found:
        return
    output.heading(f"{counted(len(found), 'query', 'queries')} {title}")
    for id, reason in list(found.items())[:SHOWN]:
        output.line(f"  {id}: {reason}")
    if len(found) > SHOWN:
        output.line(f"  and {len(found) - SHOWN:,} more")

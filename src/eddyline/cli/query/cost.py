"""`query cost`: the dearest queries of a set, what one of them is made up of, and what new ones would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import (
    Aheads,
    AsJson,
    EventTimes,
    Idles,
    InputFormat,
    JoinWindow,
    Latenesses,
    MaybeRegistry,
    QueryFiles,
    Schemas,
    StreamSources,
    TimeZone,
)
from eddyline.cli.output.findings import exit_code
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Printer, counted_rows, print_json
from eddyline.queryset.cost.cost import Cost, Costs, figure
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.cost import CostRequest, NewPrices, price

FEW_ROWS: Final = 10_000


class By(StrEnum):
    """What is dear."""

    TIME = "time"
    BYTES = "bytes"


def cost(
    id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="One query, with all of its parts.", autocompletion=query_ids),
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    add: Annotated[
        str | None,
        typer.Option(
            "--add", metavar="FILE_OR_SQL", help="What these queries would cost on top, one after the other."
        ),
    ] = None,
    stream: StreamSources = None,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: JoinWindow = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the dearest.")] = 20,
    by: Annotated[By, typer.Option("--by", help="Dearest in time, or in bytes.")] = By.TIME,
    input_format: InputFormat = None,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Show what queries cost: nanoseconds for each tuple, and bytes.

    What several queries use (a subject, a condition, a table) is divided among them, so that all shares sum to the cost
    of the set. With --add the cost is what the set would cost more: all that a new query needs and nobody has yet.
    Times are worked out of measured unit costs; with --stream the set is run on those rows, the first half million of
    each source, and what it took is divided in the same way.

    \b
    Examples:
      eddyline query cost
      eddyline query cost cheap
      eddyline query cost --by bytes --top 5 --json
      eddyline query cost --stream quotes=history/
      eddyline query cost --join-window "1 hour"
      eddyline query cost --queries rules.sql --schema quotes.parquet --add "SELECT * FROM quotes WHERE price < 10"
    """
    request = CostRequest(
        id=id,
        add=add,
        queries=queries or (),
        registry=registry,
        streams=stream or (),
        schemas=schema,
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        join_window=join_window,
        top=top,
        by=by.value,
        input_format=input_format,
        time_zone=time_zone,
    )
    with Terminal() as watcher:
        found = price(request, watcher)
    if isinstance(found, NewPrices):
        if as_json:
            print_json(found.as_json())
        else:
            _show_new(Printer(), found.costs, found.present)
    elif as_json:
        print_json(found.as_json(parts=id is not None))
    elif id is not None:
        _show_cost(Printer(), id, found.costs[id], found.alone)
    else:
        _show_dearest(Printer(), found.costs, found.listed, by.value, found.rows)
    raise typer.Exit(exit_code(found.findings))


def _show_dearest(
    output: Printer, costs: Costs, listed: Sequence[str], by: str, rows: Mapping[str, int]
) -> None:
    """The dearest queries, and the whole set."""
    table, measured = [], any(rows.values())
    for id in listed:
        cost = costs[id]
        most = cost.dearest("bytes" if by == "bytes" else "time")
        table.append((id, *_figures(cost, measured=measured), "" if most is None else _most(most.text)))
    head = ("query", "ns a tuple", *(("measured",) if measured else ()), "bytes", "most of it for")
    if table:
        output.table(head, table, right=range(1, len(head) - 1))
    total = costs.total
    noun = "query" if len(costs) == 1 else "queries"
    more = f", {len(listed):,} shown" if len(listed) < len(costs) else ""
    output.line(f"{len(costs):,} {noun}: {total}{more}", "bold")
    for name, count in rows.items():
        few = "" if count >= FEW_ROWS else ": so few tell mostly what a batch of any size costs"
        output.line(f"measured on {counted_rows(count)} of {name}{few}")


def _figures(cost: Cost, *, measured: bool) -> tuple[str, ...]:
    took = (figure(cost.measured or 0.0),) if measured else ()
    return (figure(cost.nanoseconds), *took, f"{cost.bytes:,}")


def _most(text: str) -> str:
    return text if len(text) <= 50 else text[:47] + "..."


def _show_cost(output: Printer, id: str, cost: Cost, alone: float | None) -> None:
    """One query with its parts."""
    output.line(f'query "{id}": {cost}', "bold")
    for part in cost.parts:
        output.line(f"  {part}")
    if not cost.parts:
        output.line("  it is never true, so nothing is done for it")
    if alone is not None:
        output.line(f"  if it were the only query: {figure(alone)} ns measured")


def _show_new(output: Printer, costs: Mapping[str, Cost], present: int) -> None:
    """What new queries would cost on top of those that are there."""
    for id, cost in costs.items():
        output.line(f'adding "{id}": {cost}', "bold")
        for part in cost.parts:
            output.line(f"  {part}")
    time, size = sum(cost.attoseconds for cost in costs.values()), sum(cost.bytes for cost in costs.values())
    noun = "query" if present == 1 else "queries"
    output.line(f"on top of {present:,} {noun}: {Cost(time, size)}", "bold")

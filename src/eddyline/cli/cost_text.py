"""Costs as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eddyline.cli.output import Output, counted_rows
from eddyline.queryset.cost.cost import Cost, Costs, figure

FEW_ROWS: Final = 10_000


def cost_json(id: str | None, cost: Cost, *, parts: bool = False) -> dict[str, Any]:
    """A cost for machines."""
    found: dict[str, Any] = {} if id is None else {"id": id}
    found |= {"nanoseconds": cost.nanoseconds, "bytes": cost.bytes, "measured_nanoseconds": cost.measured}
    if parts:
        found["parts"] = [
            {
                "text": part.text,
                "kind": part.kind,
                "nanoseconds": part.nanoseconds,
                "bytes": part.bytes,
                "users": part.users,
            }
            for part in cost.parts
        ]
    return found


def show_dearest(
    output: Output, costs: Costs, listed: Sequence[str], by: str, rows: Mapping[str, int]
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


def show_cost(output: Output, id: str, cost: Cost, alone: float | None) -> None:
    """One query with its parts."""
    output.line(f'query "{id}": {cost}', "bold")
    for part in cost.parts:
        output.line(f"  {part}")
    if not cost.parts:
        output.line("  it is never true, so nothing is done for it")
    if alone is not None:
        output.line(f"  if it were the only query: {figure(alone)} ns measured")


def show_new(output: Output, costs: Mapping[str, Cost], present: int) -> None:
    """What new queries would cost on top of those that are there."""
    for id, cost in costs.items():
        output.line(f'adding "{id}": {cost}', "bold")
        for part in cost.parts:
            output.line(f"  {part}")
    time, size = sum(cost.attoseconds for cost in costs.values()), sum(cost.bytes for cost in costs.values())
    noun = "query" if present == 1 else "queries"
    output.line(f"on top of {present:,} {noun}: {Cost(time, size)}", "bold")

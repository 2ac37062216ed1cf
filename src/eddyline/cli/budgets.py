"""Budgets at a registry's door: a query that would cost more than it may is refused, or let in as a shadow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import typer

from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.model.verdict import State
from eddyline.queryset import QuerySet
from eddyline.queryset.cost import Cost, figure
from eddyline.registry import Budget, Check, Entry, Put, Registry, Verdict
from eddyline.registry.values import Keep

Fate = Literal["refuse", "shadow"]
OverBudget = Annotated[
    Fate | None,
    typer.Option(
        "--over-budget", help="What becomes of a query that costs too much; else its budget says it."
    ),
]


def within_budgets(registry: Registry, edits: Sequence[Put], compiler: Compiler, over: Fate | None) -> Check:
    """A check that also looks at what queries would cost, where any budget concerns one of them.

    The cost is what the queries that are evaluated now would cost more with this one; those let in before it count. A
    query that is put as it is registered already is no new cost.
    """
    budgets = {(str(each.scope), each.name): each for each in registry.budgets()}
    present = {entry.id: entry for entry in registry.entries()} if budgets else {}
    limits = {edit.id: _limits(edit, present.get(edit.id), budgets) for edit in edits} if budgets else {}
    if not any(limits.values()):
        return compiler.check
    changed = {edit.id for edit in edits if edit.id not in present or present[edit.id].sql != edit.sql}
    evaluated = [
        e for e in present.values() if e.state != State.DISABLED and not e.spark_only and e.id not in changed
    ]
    silent = {edit.id for edit in edits if _state(edit, present.get(edit.id)) == State.DISABLED}
    queries = [entry.query for entry in evaluated]
    streams, zone = compiler.streams, compiler.time_zone
    pricing = QuerySet.build(queries, streams=streams, on_error="collect", time_zone=zone).pricing()

    def checked(query: Query) -> Verdict:
        verdict = compiler.check(query)
        if verdict.spark_only or query.id not in changed:
            return verdict
        cost = pricing.marginal(query)
        exceeded = [budget for budget in limits[query.id] if _exceeds(cost, budget)]
        refusing = [budget for budget in exceeded if (over or budget.over) == "refuse"]
        if refusing:
            message, hint = _words(cost, refusing[0])
            raise QueryError(message, query=query.id, hint=hint)
        if query.id not in silent:
            pricing.marginal(query, keep=True)
        if not exceeded:
            return verdict
        message, hint = _words(cost, exceeded[0])
        state, fate = (State.SHADOW, "put in shadow") if query.id not in silent else (None, "left disabled")
        return replace(verdict, state=state, note=f"{fate}: {message} (hint: {hint})")

    return checked


def _limits(edit: Put, entry: Entry | None, budgets: Mapping[tuple[str, str], Budget]) -> list[Budget]:
    """The budgets that concern a query that is put."""
    owner = (None if entry is None else entry.owner) if isinstance(edit.owner, Keep) else edit.owner
    wanted = [("query", edit.id), *([("owner", owner)] if owner is not None else [])]
    return [budgets[key] for key in wanted if key in budgets]


def _state(edit: Put, entry: Entry | None) -> State:
    if isinstance(edit.state, Keep):
        return State.ENABLED if entry is None else entry.state
    return edit.state


def _exceeds(cost: Cost, budget: Budget) -> bool:
    return (budget.nanoseconds is not None and cost.nanoseconds > budget.nanoseconds) or (
        budget.bytes is not None and cost.bytes > budget.bytes
    )


def _words(cost: Cost, budget: Budget) -> tuple[str, str]:
    """The fact and the hint."""
    slow = budget.nanoseconds is not None and cost.nanoseconds > budget.nanoseconds
    unit = "ns a tuple" if slow else "bytes"
    took, limit = (
        (figure(cost.nanoseconds), figure(budget.nanoseconds or 0.0))
        if slow
        else (f"{cost.bytes:,}", f"{budget.bytes:,}")
    )
    whose = f"every query of {budget.name}" if budget.scope == "owner" else "it"
    part = cost.dearest("time" if slow else "bytes")
    most = "" if part is None else f", most of it for {part.text}"
    message = f"it would cost {took} {unit}{most}, and {whose} may cost {limit}"
    name = f"{budget.name} --owner" if budget.scope == "owner" else budget.name
    return message, f"query cost --add shows all parts; query budget set {name} allows more"

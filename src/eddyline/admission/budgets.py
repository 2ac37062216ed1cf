"""Budgets as a policy: a query that would cost more than it may is refused, or let in as a shadow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from eddyline.admission.candidate import Candidate
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.query_state import State, Verdict
from eddyline.queryset import QuerySet
from eddyline.queryset.cost.cost import Cost, figure
from eddyline.registry import Budget, Entry

OverBudget = Literal["refuse", "shadow"]


class Budgets:
    """Prices the candidates of one change.

    The cost is what the queries that are evaluated now would cost more with this one; those let in before it count. A
    query that is put as it stands already is no new cost.
    """

    def __init__(
        self,
        budgets: Iterable[Budget],
        candidates: Sequence[Candidate],
        present: Iterable[Entry],
        compiler: Compiler,
        over: OverBudget | None,
    ) -> None:
        known = {(each.scope, each.name): each for each in budgets}
        self._limits = {each.entry.id: _limits(each.entry, known) for each in candidates}
        self._over = over
        changed = {each.entry.id for each in candidates if each.is_new}
        evaluated = [
            e.query for e in present if e.state != State.DISABLED and not e.spark_only and e.id not in changed
        ]
        self._pricing = QuerySet.build(
            evaluated,
            streams=compiler.streams,
            on_error="collect",
            time_zone=compiler.time_zone,
            join_window=compiler.join_window,
        ).pricing()

    def __call__(self, candidate: Candidate) -> Verdict | None:
        """Let a candidate in, in shadow if a budget says so; a `QueryError` if one refuses it."""
        entry = candidate.entry
        if entry.spark_only or not candidate.is_new:
            return None
        silent = entry.state == State.DISABLED
        cost = self._pricing.marginal(entry.query)
        exceeded = [budget for budget in self._limits[entry.id] if _exceeds(cost, budget)]
        refusing = [budget for budget in exceeded if (self._over or budget.over) == "refuse"]
        if refusing:
            message, hint = _words(cost, refusing[0])
            raise QueryError(message, query=entry.id, hint=hint)
        if not silent:
            self._pricing.marginal(entry.query, keep=True)
        if not exceeded:
            return None
        message, hint = _words(cost, exceeded[0])
        fate = "left disabled" if silent else "put in shadow"
        return Verdict(state=None if silent else State.SHADOW, note=f"{fate}: {message} (hint: {hint})")


def concerned(budgets: Iterable[Budget], candidates: Iterable[Candidate]) -> bool:
    """Whether any budget is for one of some candidates."""
    known = {(each.scope, each.name): each for each in budgets}
    return bool(known) and any(_limits(each.entry, known) for each in candidates)


def _limits(entry: Entry, budgets: dict[tuple[Literal["query", "owner"], str], Budget]) -> list[Budget]:
    """The budgets that concern a query."""
    own = budgets.get(("query", entry.id))
    owners = None if entry.owner is None else budgets.get(("owner", entry.owner))
    return [budget for budget in (own, owners) if budget is not None]


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

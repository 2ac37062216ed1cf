"""How a join came to its normal form: what each rule has changed about the sides of a branch, and why none is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from eddyline.functions.comparison import TRUE
from eddyline.model.join import Branch
from eddyline.model.predicate import NEVER
from eddyline.model.query import BoundQuery
from eddyline.normalize.explain import Render, describe, trace
from eddyline.normalize.joins.plan import JoinPlan


@dataclass(frozen=True, slots=True)
class TracedSide:
    """The conditions of one source in one branch: as they were written, and name, before and after of every rewrite."""

    bound: BoundQuery
    rewrites: list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class TracedBranch:
    """A branch, and how its sides came about."""

    branch: Branch
    sides: tuple[TracedSide, TracedSide]


def trace_join(plan: JoinPlan, render: Render = describe) -> list[TracedBranch]:
    """The branches of a join without parameters, in the order of its normal form."""
    found: dict[Branch, TracedBranch] = {}
    for planned in plan.branches:
        branch = planned.instantiate((), plan.join.time_zone)
        if branch is not None and branch not in found:
            first, second = (
                TracedSide(side, [] if side.predicate == TRUE else trace(side, render))
                for side in planned.bound
            )
            found[branch] = TracedBranch(branch, (first, second))
    return list(found.values())


class Contradiction(NamedTuple):
    """What keeps a branch from ever being true: the conditions of a source, or what needs both (None)."""

    alias: str | None
    side: BoundQuery | None


def contradictions(plan: JoinPlan) -> list[Contradiction]:
    """For a join without parameters that is never true, what is wrong with each branch; none if no time fits its bounds."""
    found = []
    for planned in plan.branches:
        sides = zip(plan.join.sources, planned.bound, planned.sides, strict=True)
        never = [
            Contradiction(source.alias, bound)
            for source, bound, side in sides
            if side.instantiate(()) == NEVER
        ]
        found.append(never[0] if never else Contradiction(None, None))
    return found

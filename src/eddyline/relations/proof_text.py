"""Proofs for people: the parts of the one query, and where each of them lies in the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from eddyline.implication.goals import Goal
from eddyline.implication.proof import Part, Proof
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of
from eddyline.normalize.explain import describe, show_regions

MOST_PARTS: Final = 12
LIES_IN: Final = "   lies in   "


def proof_lines(proof: Proof, render: Callable[[Expression], str] = describe) -> list[str]:
    """One line for each part of the first query: what it is limited to, and what takes it."""
    lines = [line for part in proof.parts() if (line := _line(part, render)) is not None]
    if not lines:
        lines = ["its conditions contradict each other"]
    left = len(lines) - MOST_PARTS
    return [*lines[:MOST_PARTS], f"and {left:,} more parts"] if left > 0 else lines


def _line(part: Part, render: Callable[[Expression], str]) -> str | None:
    """None for what lies outside of the first query: nobody asks about it."""
    goal = part.goal
    if goal.name == "left":
        return None
    limits = _conjunction(part.limits, render)
    if goal.name == "right" and not goal.holds:
        return f"{limits}{LIES_IN}{_conjunction(dict(_reasons(goal, part.limits)), render)}"
    if goal.name == "right":
        return f"{limits}   lies outside of the second"
    named = goal.name.replace("_", " ")
    return f"{limits}   cannot be ({'as given' if named == 'given' else named})"


def _conjunction(limits: Mapping[Expression, Regions], render: Callable[[Expression], str]) -> str:
    shown = [
        f"{render(subject)} {'in' if regions.cuts else 'is'} {show_regions(regions, subject.type)}"
        for subject, regions in limits.items()
        if regions != domain_of(subject.type).everything
    ]
    return " and ".join(shown) or "every row"


def _reasons(goal: Goal, limits: Mapping[Expression, Regions]) -> Iterator[tuple[Expression, Regions]]:
    """The conditions by which a predicate holds in all of a box."""
    pending: list[Predicate] = [goal.predicate]
    while pending:
        current = pending.pop()
        if isinstance(current, Condition):
            yield current.subject, current.regions
        elif isinstance(current, And):
            pending += reversed(current.parts)
        else:
            pending += [part for part in current.parts if _holds(part, limits)][:1]


def _holds(predicate: Predicate, limits: Mapping[Expression, Regions]) -> bool:
    if isinstance(predicate, Condition):
        domain = domain_of(predicate.subject.type)
        limit = limits.get(predicate.subject, domain.everything)
        return domain.intersection([limit, ~predicate.regions]).is_empty
    return (all if isinstance(predicate, And) else any)(_holds(part, limits) for part in predicate.parts)

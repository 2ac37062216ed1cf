"""A proof that goals cannot hold together, as a value: how boxes are split, and which goal closes each of them.

Who reads it needs nothing of the search: expressions, regions, and three names. It is a tree in preorder; a `SplitBy`
is followed by the proof for the values outside of its regions, then by that for the values inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eddyline.implication.goals import Goal, Goals
from eddyline.implication.search import Split, Step
from eddyline.model.expression import Expression
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of


@dataclass(frozen=True, slots=True)
class SplitBy:
    """The subject's values outside of the regions come first, then those inside."""

    subject: Expression
    regions: Regions


@dataclass(frozen=True, slots=True)
class ClosedBy:
    """No row of the box lets this goal hold."""

    goal: Goal


@dataclass(frozen=True, slots=True)
class Part:
    """A box of a proof: what its subjects are limited to, and the goal that no row of it lets hold."""

    limits: dict[Expression, Regions]
    goal: Goal


@dataclass(frozen=True, slots=True)
class Proof:
    """Why no row lets all goals hold."""

    goals: tuple[Goal, ...]
    steps: tuple[SplitBy | ClosedBy, ...]

    def parts(self) -> Iterator[Part]:
        """The boxes that are left when all is split, with the goal that closes each."""
        pending: list[dict[Expression, Regions]] = [{}]
        for step in self.steps:
            limits = pending.pop()
            if isinstance(step, ClosedBy):
                yield Part(limits, step.goal)
                continue
            domain = domain_of(step.subject.type)
            current = limits.get(step.subject, domain.everything)
            for regions in (step.regions, ~step.regions):
                pending.append({**limits, step.subject: domain.intersection([current, regions])})


def proof_of(goals: Goals, steps: tuple[Step, ...]) -> Proof:
    """The steps of a search, told in subjects and regions."""
    told: list[SplitBy | ClosedBy] = []
    for step in steps:
        if isinstance(step, Split):
            cutting = goals.cuttings[step.subject]
            told.append(SplitBy(cutting.subject, cutting.regions(step.mask)))
        else:
            told.append(ClosedBy(goals.goals[step.goal]))
    return Proof(goals.goals, tuple(told))

"""A proof that goals cannot hold together, as a value: how boxes are split, and which goal closes each of them.

Who reads it needs nothing of the search: expressions, regions, and three names. It is a tree in preorder; a `SplitBy`
is followed by the proof for the values outside of its regions, then by that for the values inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eddyline.implication.goals import Goal, Goals
from eddyline.implication.search import Split, Step
from eddyline.model.expression import Expression
from eddyline.model.predicate import conditions_of
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
    """The steps of a search that matter, told in subjects and regions."""
    told: list[SplitBy | ClosedBy] = []
    for step in steps:
        if isinstance(step, Split):
            cutting = goals.cuttings[step.subject]
            told.append(SplitBy(cutting.subject, cutting.regions(step.mask)))
        else:
            told.append(ClosedBy(goals.goals[step.goal]))
    return Proof(goals.goals, _without_needless_splits(told))


_Steps = SplitBy | ClosedBy
_ASKED: Final = ("left", "right")  # goals that are no facts


@dataclass(frozen=True, slots=True)
class _Branch:
    """A part of a proof: a step and what follows it, the subjects that its goals and splits are about."""

    step: _Steps
    outside: _Branch | None
    inside: _Branch | None
    about: frozenset[Expression]
    asks: bool  # whether a goal that is no fact closes some of it


def _without_needless_splits(steps: list[_Steps]) -> tuple[_Steps, ...]:
    """The proof without the splits that only facts are closed by and nobody asks for later.

    The search takes all facts into account as soon as it can; most of them have nothing to do with what is proven.
    """
    done: list[_Branch] = []
    for step in reversed(steps):  # preorder: what follows a split stands behind it
        if isinstance(step, ClosedBy):
            about = frozenset(condition.subject for condition in conditions_of(step.goal.predicate))
            done.append(_Branch(step, None, None, about, step.goal.name in _ASKED))
            continue
        outside, inside = done.pop(), done.pop()
        if step.subject not in inside.about and not outside.asks:
            done.append(inside)
        elif step.subject not in outside.about and not inside.asks:
            done.append(outside)
        else:
            about = outside.about | inside.about | {step.subject}
            done.append(_Branch(step, outside, inside, about, outside.asks or inside.asks))
    return tuple(_preorder(done[0])) if done else ()


def _preorder(branch: _Branch) -> Iterator[_Steps]:
    pending: list[_Branch | None] = [branch]
    while pending:
        current = pending.pop()
        if current is not None:
            yield current.step
            pending += [current.inside, current.outside]

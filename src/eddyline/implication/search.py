"""The search for a box in which all goals hold: exact, without a disjunctive normal form.

A *box* has a mask for each subject. Against a box a goal is true, false or open. What is open and must hold narrows the
box: a condition by itself, an OR with one open part by that part. If nothing narrows it any more, the box is split by a
condition of the OR with the fewest open parts.

This is EM of the paper DISJ, depth first, for any AND/OR trees: its clauses are the negated boxes of the stream's
predicate, its outside parts the splits.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from eddyline.implication.goals import ALL, LEAF, Goals

Box = list[int]

FALSE: Final = 0
TRUE: Final = 1
OPEN: Final = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a search may cost before it gives up: splits of boxes, and seconds."""

    splits: int = 20_000
    seconds: float = 0.05


@dataclass(frozen=True, slots=True)
class Split:
    """A step: a subject's values are split, and what lies outside of `mask` is closed first, then what lies inside."""

    subject: int
    mask: int


@dataclass(frozen=True, slots=True)
class Closed:
    """A step: the goal at this place among the goals can hold nowhere in the box."""

    goal: int


Step = Split | Closed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search came to: a box in which all goals hold, or the steps that leave none, or neither within the budget.

    The steps are a tree in preorder.
    """

    box: Box | None
    steps: tuple[Step, ...] | None
    splits: int


def search(goals: Goals, budget: Budget) -> Outcome:
    """A box in which all goals hold, or the steps that leave none.

    >>> from eddyline.implication.goals import Goal
    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.predicate import Condition
    >>> from eddyline.model.regions import Regions
    >>> from eddyline.model.types import INT
    >>> less = [Condition(Column("a", INT), Regions.below(limit, closed=False)) for limit in (5, 9)]
    >>> search(Goals([Goal("left", less[0]), Goal("right", less[1], holds=False)]), Budget()).steps
    (Split(subject=0, mask=1), Closed(goal=0), Closed(goal=1))
    """
    return _Search(goals, budget).run()


class _Search:
    def __init__(self, goals: Goals, budget: Budget) -> None:
        self.goals = goals
        self.budget = budget
        self.steps: list[Step] = []
        self.values = [OPEN] * len(goals.kinds)

    def run(self) -> Outcome:
        deadline = time.perf_counter() + self.budget.seconds
        splits = 0
        pending: list[Box] = [[cutting.full for cutting in self.goals.cuttings]]
        while pending:
            box = pending.pop()
            if not self._narrow(box):
                continue
            leaf = self._open_leaf()
            if leaf is None:
                return Outcome(box, None, splits)
            splits += 1
            if splits > self.budget.splits or time.perf_counter() > deadline:
                return Outcome(None, None, splits)
            subject = self.goals.subjects[leaf]
            held, other = list(box), list(box)
            held[subject] &= self.goals.masks[leaf]
            other[subject] &= ~self.goals.masks[leaf]
            self.steps.append(Split(subject, other[subject]))
            pending += [other, held]
        return Outcome(None, tuple(self.steps), splits)

    def _narrow(self, box: Box) -> bool:
        """Narrow the box, in place, to where the goals can hold; whether anything is left."""
        goals, values = self.goals, self.values
        narrowed = True
        while narrowed:
            narrowed = False
            self._evaluate(box)
            for place, top in enumerate(goals.tops):
                if values[top] == FALSE:
                    self.steps.append(Closed(place))
                    return False
            for place, top in enumerate(goals.tops):
                for leaf in self._forced(top) if values[top] == OPEN else ():
                    subject = goals.subjects[leaf]
                    kept = box[subject] & goals.masks[leaf]
                    if not kept:
                        self.steps.append(Closed(place))
                        return False
                    if kept != box[subject]:
                        self.steps += [Split(subject, kept), Closed(place)]
                        box[subject] = kept
                        narrowed = True
        return True

    def _evaluate(self, box: Box) -> None:
        """Settle which nodes are true, false or open in a box; parts come before what they are part of."""
        goals, values = self.goals, self.values
        for node, kind in enumerate(goals.kinds):
            if kind == LEAF:
                inside = box[goals.subjects[node]]
                mask = goals.masks[node]
                values[node] = OPEN if inside & mask and inside & ~mask else TRUE if inside & mask else FALSE
                continue
            decisive, value = (FALSE, TRUE) if kind == ALL else (TRUE, FALSE)
            for part in goals.parts[node]:
                if values[part] == decisive:
                    value = decisive
                    break
                if values[part] == OPEN:
                    value = OPEN
            values[node] = value

    def _forced(self, top: int) -> list[int]:
        """The open leaves without which a goal cannot hold."""
        found: list[int] = []
        pending = [top]
        while pending:
            node = pending.pop()
            if self.values[node] != OPEN:
                continue
            if self.goals.kinds[node] == LEAF:
                found.append(node)
            elif self.goals.kinds[node] == ALL or len(self._open_parts(node)) == 1:
                pending += self._open_parts(node)
        return found

    def _open_leaf(self) -> int | None:
        """A leaf of the open OR that has the fewest open parts; None if no goal is open."""
        smallest: list[int] = []
        pending = list(self.goals.tops)
        while pending:
            node = pending.pop()
            if self.values[node] != OPEN:
                continue
            parts = self._open_parts(node)
            if self.goals.kinds[node] == ALL or len(parts) == 1:
                pending += parts
            elif not smallest or len(parts) < len(smallest):
                smallest = parts
        if not smallest:
            return None
        while True:
            leaves = [part for part in smallest if self.goals.kinds[part] == LEAF]
            if leaves:
                return leaves[0]
            smallest = min([self._open_parts(part) for part in smallest], key=len)

    def _open_parts(self, node: int) -> list[int]:
        return [part for part in self.goals.parts[node] if self.values[part] == OPEN]

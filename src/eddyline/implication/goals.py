"""What has to hold at the same time, as one tree over bit masks: `a AND (b is not TRUE) AND facts`.

Conditions are two-valued, so the negation of a predicate has complemented masks, and AND and OR change places: no
normal form blows up. The tree lies in lists, parts before what they are part of, so that trees of any depth are walked in
a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.implication.cutting import cutting_of
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate, conditions_of
from eddyline.model.regions import Regions

LEAF: Final = 0
ALL: Final = 1
ANY: Final = 2


@dataclass(frozen=True, slots=True)
class Goal:
    """A predicate that has to be true, or not true, of the row that is looked for; `name` says whose it is."""

    name: str
    predicate: Predicate
    holds: bool = True


class Goals:
    """Goals over the joint cutting of all their subjects.

    Node i is a leaf (subject, mask) or an AND or OR of earlier nodes; `tops` are the nodes of the goals, in their order.
    """

    __slots__ = ("cuttings", "goals", "kinds", "masks", "parts", "subjects", "tops")

    def __init__(self, goals: Sequence[Goal]) -> None:
        self.goals = tuple(goals)
        sets: dict[Expression, dict[Regions, None]] = {}
        for goal in goals:
            for condition in conditions_of(goal.predicate):
                sets.setdefault(condition.subject, {})[condition.regions] = None
        self.cuttings = [cutting_of(subject, tuple(regions)) for subject, regions in sets.items()]
        numbers = {subject: i for i, subject in enumerate(sets)}
        self.kinds: list[int] = []
        self.subjects: list[int] = []  # of leaves
        self.masks: list[int] = []  # of leaves
        self.parts: list[Sequence[int]] = []  # of ANDs and ORs
        self.tops = [self._add(goal.predicate, goal.holds, numbers) for goal in goals]

    def _add(self, predicate: Predicate, holds: bool, numbers: dict[Expression, int]) -> int:
        done: list[int] = []
        pending: list[tuple[Predicate, bool]] = [(predicate, False)]
        while pending:
            current, ready = pending.pop()
            if isinstance(current, Condition):
                number = numbers[current.subject]
                cutting = self.cuttings[number]
                mask = cutting.mask(current.regions)
                done.append(self._node(LEAF, number, mask if holds else cutting.full & ~mask, ()))
            elif ready:
                kind = ALL if isinstance(current, And) == holds else ANY
                start = len(done) - len(current.parts)
                done[start:] = [self._node(kind, 0, 0, tuple(done[start:]))]
            else:
                pending.append((current, True))
                pending.extend([(part, False) for part in reversed(current.parts)])
        return done[0]

    def _node(self, kind: int, subject: int, mask: int, parts: Iterable[int]) -> int:
        self.kinds.append(kind)
        self.subjects.append(subject)
        self.masks.append(mask)
        self.parts.append(tuple(parts))
        return len(self.kinds) - 1

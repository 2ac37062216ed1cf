"""Conditions on patterns, which are found together for each text instead of one by one.

A pattern's *hit* mask has the tuples whose text it matches. "is true" is that mask itself; anything else ("is false", "is
not true", ...) is derived from it and from the mask of NULL texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.sliced.patterns import build_patterns, eligible
from eddyline.model.expression import Call, Expression
from eddyline.model.predicate import Condition
from eddyline.model.regions import Regions

Slots = npt.NDArray[np.int64]
ConditionsOf = dict[Expression, dict[Condition, None]]
TRUE, FALSE, NULL = 1, 2, 4


@dataclass(frozen=True, slots=True)
class PatternGroup:
    """All patterns on one text; slots[i] takes the hits of pattern i."""

    calls: tuple[Call, ...]
    slots: Slots

    @property
    def text(self) -> Expression:
        """What the patterns are looked for in."""
        return self.calls[0].arguments[0]


@dataclass(frozen=True, slots=True)
class Derived:
    """Masks made of hits and NULLs: flags[i] says which of TRUE, FALSE and NULL belong to the condition."""

    targets: Slots
    hits: Slots
    nulls: Slots
    flags: npt.NDArray[np.uint8]


def group_patterns(
    by_subject: ConditionsOf, slots: dict[Condition, int]
) -> tuple[tuple[PatternGroup, ...], Derived, int]:
    """Take the conditions on patterns out of `by_subject`, giving them slots; returns also the number of slots used.

    Where a condition asks for more than hits, the condition "the text is NULL" is put into `by_subject`.
    """
    by_text: dict[Expression, list[Call]] = {}
    for subject in list(by_subject):
        if isinstance(subject, Call) and eligible(subject):
            by_text.setdefault(subject.arguments[0], []).append(subject)
    groups: list[PatternGroup] = []
    rows: list[tuple[Condition, int, Expression]] = []
    used = len(slots)
    for text, calls in by_text.items():
        failing = set(build_patterns(calls).failing.tolist())
        served = [call for number, call in enumerate(calls) if number not in failing]
        places = []
        for call in served:
            hit = used
            used += 1
            places.append(hit)
            for condition in by_subject.pop(call):
                if _flags(condition) == TRUE:
                    slots[condition] = hit
                else:
                    rows.append((condition, hit, text))
        if served:
            groups.append(PatternGroup(tuple(served), np.array(places, np.int64)))
    derived = []
    for condition, hit, text in rows:
        absent = Condition(text, Regions(null=True))
        by_subject.setdefault(text, {})[absent] = None
        slots[condition] = used
        derived.append((used, hit, absent, _flags(condition)))
        used += 1
    for _, _, absent, _ in derived:
        if absent not in slots:
            slots[absent] = used
            used += 1
    columns = [(target, hit, slots[absent], flags) for target, hit, absent, flags in derived]
    table = np.array(columns, np.int64).reshape(-1, 4)
    targets, hits, nulls, flags = (np.ascontiguousarray(table[:, i]) for i in range(4))
    return tuple(groups), Derived(targets, hits, nulls, flags.astype(np.uint8)), used


def _flags(condition: Condition) -> int:
    regions = condition.regions
    return TRUE * (True in regions) | FALSE * (False in regions) | NULL * (None in regions)

"""Why a tuple satisfies a query or not: the smallest set of conditions that decides, with the values met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Or, Predicate


@dataclass(frozen=True, slots=True)
class Reason:
    """One deciding condition: what was asked for, and what the tuple has."""

    condition: Condition
    value: Any
    holds: bool


@dataclass(frozen=True, slots=True)
class Why:
    """The verdict on one tuple and the conditions that decide it.

    For a match these are the conditions of one satisfied branch; otherwise those that all fail, any of which would have
    to hold.
    """

    matched: bool
    reasons: tuple[Reason, ...]
    render: Callable[[Expression], str]

    def __str__(self) -> str:
        if not self.reasons:
            return "matches: every tuple does" if self.matched else "does not match: no tuple does"
        lines = ["matches, because" if self.matched else "does not match, because"]
        for reason in self.reasons:
            asked = "lies in" if reason.holds else "does not lie in"
            value = "NULL" if reason.value is None else repr(reason.value)
            lines.append(
                f"  {self.render(reason.condition.subject)} is {value}, which {asked} {reason.condition.regions}"
            )
        return "\n".join(lines)


def decide(
    predicate: Predicate, values: Mapping[Expression, Any], render: Callable[[Expression], str]
) -> Why:
    """The verdict on a tuple whose subjects have the given values."""
    matched, reasons = _decide(predicate, values)
    return Why(matched, reasons, render)


def _decide(predicate: Predicate, values: Mapping[Expression, Any]) -> tuple[bool, tuple[Reason, ...]]:
    if isinstance(predicate, Condition):
        value = values[predicate.subject]
        holds = value in predicate.regions
        return holds, (Reason(predicate, value, holds),)
    verdicts = [_decide(part, values) for part in predicate.parts]
    # An AND fails by any failing part, and an OR holds by any that holds: the shortest explanation is enough.
    decisive = isinstance(predicate, Or)
    single = [reasons for verdict, reasons in verdicts if verdict == decisive]
    if single:
        return decisive, min(single, key=len)
    together = dict.fromkeys(reason for _, reasons in verdicts for reason in reasons)
    return isinstance(predicate, And), tuple(together)

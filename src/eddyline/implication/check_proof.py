"""A checker of proofs that shares no code with the search: it tries values where the search reckons with masks.

For each subject it takes values that stand for all others: the least of the type, every constant that anything is cut at,
the value next to each, NULL and NaN. Whatever a set cut at these constants says of a value, it says of one of these. A box
is then a plain set of values for each subject, and a split divides it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np

from eddyline.implication.goals import Goal
from eddyline.implication.proof import Proof, SplitBy
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate, conditions_of
from eddyline.model.regions import Regions

_EXACT: Final = Context(prec=100)

Values = frozenset[Any]
Box = dict[Expression, Values]


class ProofError(AssertionError):
    """A proof does not show what it claims: a bug in Eddyline."""


def check_proof(proof: Proof) -> None:
    """Replay a proof; a `ProofError` if a step does not hold.

    >>> from eddyline.implication.goals import Goal, Goals
    >>> from eddyline.implication.proof import proof_of
    >>> from eddyline.implication.search import Budget, search
    >>> from eddyline.model.expression import Column
    >>> less = [Condition(Column("a", t.INT), Regions.below(limit, closed=False)) for limit in (5, 9)]
    >>> goals = Goals([Goal("left", less[0]), Goal("right", less[1], holds=False)])
    >>> check_proof(proof_of(goals, search(goals, Budget()).steps))
    """
    pending = [_everything(proof)]
    for number, step in enumerate(proof.steps):
        if not pending:
            raise ProofError(f"step {number} belongs to no box")
        box = pending.pop()
        if isinstance(step, SplitBy):
            values = box[step.subject]
            inside = frozenset(value for value in values if _key_in(value, step.regions))
            pending += [{**box, step.subject: inside}, {**box, step.subject: values - inside}]
        elif step.goal not in proof.goals:
            raise ProofError(f"step {number} names a goal that is none")
        elif all(box.values()) and _can_hold(step.goal, box):
            raise ProofError(f"step {number}: the goal may hold in a box that it should close")
    if pending:
        raise ProofError(f"{len(pending)} boxes are left open")


def _can_hold(goal: Goal, box: Box) -> bool:
    """Whether, as far as single conditions tell, a row of the box may let the goal hold."""
    always, ever = _holds(goal.predicate, box)
    return ever if goal.holds else not always


def _holds(predicate: Predicate, box: Box) -> tuple[bool, bool]:
    """Whether a predicate holds for all rows of a box, and whether it may hold for some."""
    done: list[tuple[bool, bool]] = []
    pending: list[tuple[Predicate, bool]] = [(predicate, False)]
    while pending:
        current, ready = pending.pop()
        if isinstance(current, Condition):
            inside = [_key_in(value, current.regions) for value in box[current.subject]]
            done.append((all(inside), any(inside)))
        elif not ready:
            pending.append((current, True))
            pending.extend((part, False) for part in current.parts)
        else:
            start = len(done) - len(current.parts)
            combine = all if isinstance(current, And) else any
            parts = done[start:]
            done[start:] = [(combine(one for one, _ in parts), combine(one for _, one in parts))]
    return done[0]


_NULL: Final = ("null",)
_NAN: Final = ("nan",)  # NaN is not equal to itself, and a set would hold it twice


def _key_in(value: Any, regions: Regions) -> bool:
    return (None if value is _NULL else math.nan if value is _NAN else value) in regions


def _everything(proof: Proof) -> Box:
    constants: dict[Expression, set[Any]] = {}
    conditions = [condition for goal in proof.goals for condition in conditions_of(goal.predicate)]
    cut = [(one.subject, one.regions) for one in conditions]
    cut += [(step.subject, step.regions) for step in proof.steps if isinstance(step, SplitBy)]
    for subject, regions in cut:
        constants.setdefault(subject, set()).update(regions.constants)
    return {
        subject: frozenset(_standing_for_all(subject.type, found)) for subject, found in constants.items()
    }


def _standing_for_all(kind: t.DataType, constants: Iterable[Any]) -> set[Any]:
    values: set[Any] = {_NULL, _NAN} if kind in t.FRACTIONAL else {_NULL}
    values.add(_least(kind))
    for constant in constants:
        after = _next(kind, constant)
        values |= {constant} if after is None else {constant, after}
    return values


def _least(kind: t.DataType) -> Any:
    if kind == t.BOOLEAN:
        return False
    if kind in t.RANGE:
        return t.RANGE[kind][0]
    if isinstance(kind, t.DecimalType):
        return _EXACT.scaleb(Decimal(1 - 10**kind.precision), -kind.scale)
    if kind in t.FRACTIONAL:
        return -math.inf
    # arrays and their like are never cut, so any value stands for them
    return b"" if kind == t.BINARY else ""


def _next(kind: t.DataType, value: Any) -> Any:
    """The value after a value; None for the last one."""
    if kind == t.BOOLEAN:
        return None if value else True
    if kind in t.RANGE:
        return value + 1 if value < t.RANGE[kind][1] else None
    if isinstance(kind, t.DecimalType):
        after = _EXACT.add(value, _EXACT.scaleb(Decimal(1), -kind.scale))
        return after if abs(after) < Decimal(10) ** (kind.precision - kind.scale) else None
    if kind == t.FLOAT:
        return float(np.nextafter(np.float32(value), np.float32(math.inf)))
    if kind == t.DOUBLE:
        return math.nextafter(value, math.inf)
    return value + ("\0" if kind == t.STRING else b"\0")

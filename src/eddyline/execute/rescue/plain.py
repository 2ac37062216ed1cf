"""Predicates evaluated as they stand, one query at a time: what is left where an executor fails.

No index, no regions, no kernel takes part: each condition is a few comparisons of whole columns. A condition that several
queries have is evaluated once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import Mask, array_of, numbers, validity
from eddyline.functions.evaluate.compare import compare
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.regions import Cut


class PlainPredicates:
    """Evaluates predicates over one batch."""

    def __init__(self, evaluation: Evaluation, rows: int) -> None:
        self._evaluation, self._rows = evaluation, rows
        self._known: dict[Condition, Mask | Exception] = {}

    def holds(self, predicate: Predicate) -> Mask:
        """For every row whether a predicate is true; raises what its subjects raise."""
        if isinstance(predicate, Condition):
            return self._condition(predicate)
        all_of = isinstance(predicate, And)
        found: Mask = np.full(self._rows, all_of)
        for part in predicate.parts:
            inner = self.holds(part)
            found = found & inner if all_of else found | inner
        return found

    def _condition(self, condition: Condition) -> Mask:
        known = self._known.get(condition)
        if known is None:
            try:
                known = inside(self._evaluation.values(condition.subject), condition)
            except Exception as error:
                known = error
            self._known[condition] = known
        if isinstance(known, Exception):
            raise known
        return known


def inside(values: pa.Array, condition: Condition) -> Mask:
    """Which values lie in the regions of a condition.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import Regions
    >>> low = Condition(Column("a", t.INT), Regions.below(3, closed=False) | Regions.points([7], null=True))
    >>> inside(pa.array([2, 3, 7, None], pa.int32()), low).tolist()
    [True, False, True, True]
    """
    subject, regions = condition.subject, condition.regions
    valid = validity(values)
    present: Mask = np.ones(len(values), np.bool_) if valid is None else valid
    found: Mask = np.zeros(len(values), np.bool_)
    for lower, upper in regions.intervals():
        found = found | (
            _beyond(values, subject, lower, "ge", "gt") & _beyond(values, subject, upper, "lt", "le")
        )
    if t.is_fractional(subject.type):
        is_nan = np.isnan(numbers(values))
        found = np.where(is_nan, regions.nan, found)
    return np.where(present, found, regions.null)


def _beyond(values: pa.Array, subject: Expression, cut: Cut | None, below: str, above: str) -> Mask:
    """Which values lie on the right side of a cut: `below` is the comparison for one just below its constant."""
    if cut is None:
        return np.ones(len(values), np.bool_)
    constant, side = cut
    found = compare(above if side else below, values, array_of([constant], subject.type), subject.type)
    truth: Mask = np.asarray(found.fill_null(False))
    return truth

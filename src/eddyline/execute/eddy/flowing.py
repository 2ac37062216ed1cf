"""A tuple in flight: where it came from, its values, and the bits that are its lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.model import types as t
from eddyline.model.expression import Expression

Bits = int  # a bitmap as one number: bit i is 1 << i


class Arrivals:
    """The batch that tuples came with; the values of a subject are computed when the first tuple is asked for them."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._known: dict[Expression, list[Any]] = {}

    def value(self, subject: Expression, row: int) -> Any:
        """One value, in the form that the constants of conditions have."""
        known = self._known.get(subject)
        if known is None:
            known = self._known[subject] = comparable(self._evaluation.values(subject), subject.type)
        return known[row]


def comparable(values: pa.Array, kind: t.DataType) -> list[Any]:
    """Values as conditions compare them: days and microseconds as numbers, most others as Python has them.

    Arrays, maps and structs are compared with nothing, only asked for NULL: they are True where they are there.
    """
    if pa.types.is_nested(values.type):
        return [True if there else None for there in values.is_valid().to_pylist()]
    return ordered_values(values, kind)


@dataclass(slots=True, eq=False)
class Flowing:
    """One tuple. Bits are read by the tables of its source: operator i is bit i of `ready` and `done`.

    ready: operators that may be applied. done: those that were. completed (`queriesCompleted`): queries that it was
    output to or rejected by; those that did not exist when it came are completed too. disjuncts: groups of alternatives
    of which one has held. `number` counts all tuples, which is what joins tell older from newer ones by.
    """

    source: str
    number: int
    row: int
    arrivals: Arrivals
    ready: Bits
    done: Bits
    completed: Bits
    disjuncts: Bits = 0

    def value(self, subject: Expression) -> Any:
        """The value of an expression over the tuple."""
        return self.arrivals.value(subject, self.row)


def bits_of(bits: Bits) -> list[int]:
    """The places of ones, ascending.

    >>> bits_of(0b1011)
    [0, 1, 3]
    """
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found

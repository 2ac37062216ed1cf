"""CACQ's grouped filter: all predicates on one subject, probed together.

    a > 1 (0)   a > 7 (1)   a <= 7 (2)   a = 7 (3)   a <> 4 (4)          places in parentheses

    greater-than tree      1: {0}   7: {1}           a value satisfies what stands to its left
    less-than tree         7: {2}                    ... to its right
    equality hash          7: {2, 3}                 >= and <= stand in a tree and here
    inequality hash        4: {4}                    ... all but what is found

A probe with 7 marks 0, 2, 3 and 4. Trees are sorted lists, which `bisect` walks as a balanced tree is walked. For
NULL and NaN, which CACQ does not know, there are plain sets beside them. The baselines of `bench/` may use this class.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import Any

from eddyline.execute.eddy.clauses import is_simple
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.regions import Regions

Mask = int  # a set of places, one bit each


@dataclass(slots=True)
class _Hash:
    """For each constant the predicates that compare with it; `every` has them all."""

    masks: dict[Any, Mask] = field(default_factory=dict)
    every: Mask = 0

    def insert(self, constant: Any, bit: Mask) -> None:
        self.masks[constant] = self.masks.get(constant, 0) | bit
        self.every |= bit

    def remove(self, constant: Any, bit: Mask) -> None:
        self.masks[constant] &= ~bit
        self.every &= ~bit
        if not self.masks[constant]:
            del self.masks[constant]

    def equal(self, value: Any) -> Mask:
        return self.masks.get(value, 0)


@dataclass(slots=True)
class _Tree(_Hash):
    """The same with the constants in order."""

    constants: list[Any] = field(default_factory=list)

    def insert(self, constant: Any, bit: Mask) -> None:
        if constant not in self.masks:
            insort(self.constants, constant)
        _Hash.insert(self, constant, bit)

    def remove(self, constant: Any, bit: Mask) -> None:
        _Hash.remove(self, constant, bit)
        if constant not in self.masks:
            del self.constants[bisect_left(self.constants, constant)]

    def below(self, value: Any) -> Mask:
        return self._joined(0, bisect_left(self.constants, value))

    def above(self, value: Any) -> Mask:
        return self._joined(bisect_right(self.constants, value), len(self.constants))

    def _joined(self, first: int, last: int) -> Mask:
        found = 0
        for constant in self.constants[first:last]:
            found |= self.masks[constant]
        return found


class GroupedFilter:
    """Simple predicates on one subject, each at a place; see `clauses.is_simple`."""

    def __init__(self, subject: Expression) -> None:
        self.subject = subject
        self._fractional = t.is_fractional(subject.type)
        self._greater, self._less = _Tree(), _Tree()
        self._equal, self._unequal = _Hash(), _Hash()
        self._is_null = self._present = self._is_nan = self._not_nan = 0

    def insert(self, place: int, regions: Regions) -> None:
        """Put a predicate at a free place."""
        bit = 1 << place
        if not regions.cuts:
            self._flag(regions, bit)
        for tree, constant in self._trees(regions):
            tree.insert(constant, bit)

    def remove(self, place: int, regions: Regions) -> None:
        """Take a predicate out; `regions` is what it was put in with."""
        bit = 1 << place
        self._is_null &= ~bit
        self._present &= ~bit
        self._is_nan &= ~bit
        self._not_nan &= ~bit
        for tree, constant in self._trees(regions):
            tree.remove(constant, bit)

    def probe(self, value: Any) -> Mask:
        """The places of all predicates that a value satisfies.

        >>> from eddyline.model.expression import Column
        >>> grouped = GroupedFilter(Column("a", t.INT))
        >>> for place, (low, high) in enumerate([(1, None), (7, None), (None, 7)]):
        ...     above = low is not None
        ...     ray = Regions.above(low, closed=False) if above else Regions.below(high, closed=True)
        ...     grouped.insert(place, ray)
        >>> bin(grouped.probe(7)), bin(grouped.probe(8)), bin(grouped.probe(None))
        ('0b101', '0b11', '0b0')
        """
        if value is None:
            return self._is_null
        if value != value:  # NaN is greater than any number and equal to none
            return self._present | self._is_nan | self._greater.every | self._unequal.every
        found = self._present | self._not_nan | self._greater.below(value) | self._less.above(value)
        return found | self._equal.equal(value) | (self._unequal.every & ~self._unequal.equal(value))

    def _flag(self, regions: Regions, bit: Mask) -> None:
        """Tests that compare with no constant."""
        if regions.null:
            self._is_null |= bit
        elif not regions.inside:
            self._is_nan |= bit
        elif self._fractional and not regions.nan:
            self._not_nan |= bit
        else:
            self._present |= bit

    def _trees(self, regions: Regions) -> list[tuple[_Hash, Any]]:
        """Where a predicate stands, and under which constant."""
        assert is_simple(regions, self._fractional), f"{regions} is not one comparison"
        if not regions.cuts:
            return []
        constant, side = regions.cuts[0]
        if len(regions.cuts) == 2:
            return [(self._unequal if regions.inside else self._equal, constant)]
        tree = self._less if regions.inside else self._greater
        closed = side == 1 if regions.inside else side == 0
        return [(tree, constant), (self._equal, constant)] if closed else [(tree, constant)]

"""What the slots of a compiled segment are called in a set.

slot      0   1   2   3          a segment knows its queries by slots alone, so that nothing of it changes
number    7   8   9  12          when the set around it numbers them otherwise
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.model.arrays import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Slot i of `size` has the number `first + i`, or `listed[i]` where numbers have gaps.

    Invariant: numbers ascend with slots, so what is sorted by one is sorted by the other.

    >>> gaps = Numbering.of([7, 8, 12])
    >>> gaps.numbers(np.array([2, 0])).tolist(), gaps.slot(8), gaps.slot(9)
    ([12, 7], 1, -1)
    >>> gaps.after(Numbering.of([1, 2])).all().tolist()
    [8, 12]
    """

    size: int
    first: int = 0
    listed: npt.NDArray[np.int32] | None = None

    @staticmethod
    def of(numbers: Sequence[int] | Integers) -> Numbering:
        """That of slots with these numbers, which ascend."""
        size = len(numbers)
        first = int(numbers[0]) if size else 0
        if not size or int(numbers[-1]) - first == size - 1:
            return Numbering(size, first)
        return Numbering(size, first, np.asarray(numbers, np.int32))

    @property
    def is_plain(self) -> bool:
        """Whether slots are numbers."""
        return self.listed is None and not self.first

    def numbers(self, slots: Integers) -> Integers:
        """The numbers of slots."""
        if self.listed is not None:
            found: Integers = self.listed[slots]
            return found
        return slots + self.first if self.first else slots

    def number(self, slot: int) -> int:
        """The number of one slot."""
        return self.first + slot if self.listed is None else int(self.listed[slot])

    def slot(self, number: int) -> int:
        """The slot of a number, -1 if it has none here."""
        if self.listed is None:
            slot = number - self.first
        else:
            slot = int(np.searchsorted(self.listed, number))
            slot = slot if slot < self.size and self.listed[slot] == number else -1
        return slot if 0 <= slot < self.size else -1

    def count(self, numbers: Integers) -> int:
        """How many of these numbers, all different, slots have.

        >>> Numbering.of([7, 8, 12]).count(np.array([12, 9, 7])), Numbering(3).count(np.array([2, 3]))
        (2, 1)
        """
        if self.listed is None:
            return int(np.count_nonzero((numbers >= self.first) & (numbers < self.first + self.size)))
        where = np.searchsorted(self.listed, numbers)
        return int(np.count_nonzero(self.listed[np.minimum(where, self.size - 1)] == numbers))

    def all(self) -> Integers:
        """The numbers of all slots."""
        return np.arange(self.first, self.first + self.size) if self.listed is None else self.listed

    def after(self, inner: Numbering | None) -> Numbering:
        """What slots are called whose numbers in `inner` are slots here."""
        return self if inner is None else Numbering.of(self.numbers(inner.all()))
